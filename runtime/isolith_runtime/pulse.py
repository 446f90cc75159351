"""Ticks by a timer of the operating system, which wait for no lock of Python's.

A thread of Python's ticks only when it gets the interpreter's lock. Whoever holds that for a second, as a garbage
collection of a large host does, would give a guest that computes a second more than its budget. POSIX timers call a C
function on a thread that the C library makes; where there are none (macOS, Windows) the thread ticks alone.
"""

from __future__ import annotations

import ctypes
import sys

_CLOCK_MONOTONIC = 1
_SIGEV_THREAD = 2
_POINTER_BYTES = 8


class _Event(ctypes.Structure):
    """`struct sigevent` of Linux on 64 bits: 64 bytes, by glibc and musl alike."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("unused", ctypes.c_char * 32),
    )


class _Times(ctypes.Structure):
    """`struct itimerspec`."""

    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "first_s", "first_ns"))


class Pulse:
    """Calls a C function with one pointer every `seconds`, from now until `close`.

    Both have to stay valid for ever: a call may be on its way while the timer is deleted.
    """

    def __init__(self, function: int, argument: int, seconds: float) -> None:
        self._timer = ctypes.c_void_p()
        self.runs = _libc is not None and self._start(_libc, function, argument, round(seconds * 1e9))
        """Whether it ticks: not where the system has no such timers, or has no more of them."""

    def _start(self, libc: ctypes.CDLL, function: int, argument: int, nanoseconds: int) -> bool:
        event = _Event(value=argument, notify=_SIGEV_THREAD, function=function)
        if libc.timer_create(_CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self._timer)):
            return False
        whole, rest = divmod(nanoseconds, 10**9)
        times = _Times(whole, rest, whole, rest)
        if libc.timer_settime(self._timer, 0, ctypes.byref(times), None):
            libc.timer_delete(self._timer)
            return False
        return True

    def close(self) -> None:
        """Tick no more. Idempotent."""
        if self.runs and _libc is not None:
            self.runs = False
            _libc.timer_delete(self._timer)


def _load() -> ctypes.CDLL | None:
    """The C library, where it has such timers. Before glibc 2.34 they were in another one, which is not looked for."""
    if sys.platform != "linux" or ctypes.sizeof(ctypes.c_void_p) != _POINTER_BYTES:
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "timer_create") else None


_libc = _load()
