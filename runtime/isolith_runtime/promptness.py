"""A hint to Linux's scheduler: this thread runs for microseconds at a time, so run it soon when it is due.

A thread's turn comes when all have had theirs that would be done sooner, by the length of the slice that each asks
for, weighed by its niceness. A tick that asks for as much as a guest does is late on a machine with more to do than it
has processors, most of all where this process is below all others. Asking for less gives it no more time than before.
"""

from __future__ import annotations

import ctypes
import platform
import sys

_SLICE_NS = 100_000
"""The least that Linux takes. Before Linux 6.12 it takes no notice."""

_SYSTEM_CALLS = {"x86_64": (315, 314), "aarch64": (275, 274)}
"""The numbers of `sched_getattr` and `sched_setattr`, which glibc has names for since 2.41 only."""

_NORMAL = 0


class _Attributes(ctypes.Structure):
    """`struct sched_attr` of Linux, in its first version."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("slice_ns", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def ask_for() -> None:
    """For the calling thread and those it makes from now on. Does nothing where there is no such hint."""
    attributes = _read()
    if attributes is not None and attributes.policy == _NORMAL:  # any other was chosen by somebody, and is left alone
        attributes.slice_ns = _SLICE_NS
        _call(1, attributes, 0)


def slice_ns() -> int | None:
    """How long the calling thread asks to run at a time, in nanoseconds; None where the system does not say."""
    attributes = _read()
    return None if attributes is None else int(attributes.slice_ns)


def _read() -> _Attributes | None:
    attributes = _Attributes()
    return attributes if _call(0, attributes, ctypes.sizeof(attributes), 0) else None


def _call(which: int, attributes: _Attributes, *rest: int) -> bool:
    numbers = _SYSTEM_CALLS.get(platform.machine()) if sys.platform == "linux" else None
    if numbers is None:
        return False
    return bool(ctypes.CDLL(None).syscall(numbers[which], 0, ctypes.byref(attributes), *rest) == 0)
