"""The whole list of what a guest may call. Every other import of the image traps.

Three kinds. `ANSWERED` do something, all of it here: the channel, the clock, entropy, the heap, the signal check.
`EMPTY` and `REFUSED` answer a constant, so that Python code that reaches for the machine gets an OSError instead of
a dead interpreter. Numbers are WASI's errnos; a `__syscall_*` answers them negated (Emscripten's ABI).

A host function never raises into wasm: it stores the error in its isolate, which is stopped, and answers a number.
"""

from __future__ import annotations

import struct
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from isolith_runtime.limits import Stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_runtime.isolate import Isolate

CHANNEL = 4
_OUTPUTS = (1, 2)
_ACCES, _BADF, _INVAL, _NOENT, _NOSYS, _NOTTY = 2, 8, 28, 44, 52, 59
_FAULT = 21
_EAI_FAIL = -4
_PAGE = 65536
_MAX_VECTORS = 16
_SIGINT = 2
_CLOCK_REALTIME = 0

Answer = int | float | None

_entered = threading.local()


def enter(isolate: Isolate) -> None:
    """Say whose imports this thread answers from now on."""
    _entered.isolate = isolate


def leave() -> None:
    """This thread runs no guest any more."""
    _entered.isolate = None


def _vectors(isolate: Isolate, address: int, count: int) -> list[tuple[int, int]] | None:
    if not 0 <= count <= _MAX_VECTORS:
        return None
    data = isolate.memory.read(address, 8 * count)
    return None if data is None else list(struct.iter_unpack("<II", data))


def _fd_read(isolate: Isolate, descriptor: int, vectors: int, count: int, result: int) -> Answer:
    places = _vectors(isolate, vectors, count)
    if descriptor != CHANNEL:
        return _BADF
    if not places:
        return _INVAL
    chunk = isolate.arriving(places[0][1])
    if chunk is None:
        return _ACCES
    written = isolate.memory.write(places[0][0], chunk) and _put_u32(isolate, result, len(chunk))
    return 0 if written else _FAULT


def _fd_write(isolate: Isolate, descriptor: int, vectors: int, count: int, result: int) -> Answer:
    if descriptor != CHANNEL and descriptor not in _OUTPUTS:
        return _BADF
    places = _vectors(isolate, vectors, count)
    if places is None:
        return _INVAL
    total = sum(size for _, size in places)
    if descriptor == CHANNEL:
        if total > isolate.limits.batch_bytes:
            isolate.break_off("a write to the channel was larger than any value may be")
            return _INVAL
        parts = [isolate.memory.read(address, size) for address, size in places]
        if None in parts:
            return _FAULT
        isolate.departing(b"".join(part for part in parts if part is not None))
    return 0 if _put_u32(isolate, result, total) else _FAULT


def _put_u32(isolate: Isolate, address: int, value: int) -> bool:
    return isolate.memory.write(address, struct.pack("<I", value))


def _clock_time_get(isolate: Isolate, clock: int, _precision: int, address: int) -> Answer:
    now = isolate.inputs.wall_ns() if clock == _CLOCK_REALTIME else isolate.inputs.steady_ns()
    return 0 if isolate.memory.write(address, struct.pack("<q", now)) else _FAULT


def _clock_res_get(isolate: Isolate, _clock: int, address: int) -> Answer:
    return 0 if isolate.memory.write(address, struct.pack("<q", 1_000_000)) else _FAULT


def _emscripten_date_now(isolate: Isolate) -> Answer:
    return isolate.inputs.wall_ns() / 1e6


def _emscripten_get_now(isolate: Isolate) -> Answer:
    return isolate.inputs.steady_ns() / 1e6


def _random_get(isolate: Isolate, address: int, size: int) -> Answer:
    if not 0 <= size <= _PAGE:
        return _INVAL
    return 0 if isolate.memory.write(address, isolate.inputs.entropy(size)) else _FAULT


def _emscripten_resize_heap(isolate: Isolate, size: int) -> Answer:
    missing = (size & 0xFFFFFFFF) - isolate.memory.size
    if missing <= 0:
        return 1
    grown = isolate.memory.grow(-(-missing // _PAGE))
    if not grown:
        isolate.refuse_memory()
    return int(grown)


def _emscripten_get_heap_max(isolate: Isolate) -> Answer:
    return isolate.limits.memory_bytes


def _signal_check(isolate: Isolate) -> Answer:
    return _SIGINT if isolate.take_interrupt() else 0


def _broken_down_time(isolate: Isolate, seconds: int, address: int) -> Answer:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return None
    clock = (moment.second, moment.minute, moment.hour, moment.day, moment.month - 1, moment.year - 1900)
    day = moment.timetuple().tm_yday - 1
    isolate.memory.write(address, struct.pack("<10i", *clock, (moment.weekday() + 1) % 7, day, 0, 0))
    return None


def _seconds_of_time(isolate: Isolate, address: int) -> Answer:
    data = isolate.memory.read(address, 24)
    if data is None:
        return -1
    second, minute, hour, day, month, year = struct.unpack("<6i", data)
    try:
        first = datetime(year + 1900 + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        moment = first + timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second)
    except (ValueError, OverflowError):
        return -1
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())


def _getcwd(isolate: Isolate, address: int, _size: int) -> Answer:
    return 2 if isolate.memory.write(address, b"/\0") else -_FAULT


def _no_environment(isolate: Isolate, count: int, size: int) -> Answer:
    return 0 if _put_u32(isolate, count, 0) and _put_u32(isolate, size, 0) else _FAULT


ANSWERED: dict[str, Callable[..., Answer]] = {
    "fd_read": _fd_read,
    "fd_write": _fd_write,
    "clock_time_get": _clock_time_get,
    "clock_res_get": _clock_res_get,
    "emscripten_date_now": _emscripten_date_now,
    "emscripten_get_now": _emscripten_get_now,
    "random_get": _random_get,
    "emscripten_resize_heap": _emscripten_resize_heap,
    "emscripten_get_heap_max": _emscripten_get_heap_max,
    "_Py_CheckEmscriptenSignals_Helper": _signal_check,
    "_localtime_js": _broken_down_time,
    "_gmtime_js": _broken_down_time,
    "_mktime_js": _seconds_of_time,
    "_timegm_js": _seconds_of_time,
    "__syscall_getcwd": _getcwd,
    "environ_sizes_get": _no_environment,
}

EMPTY: dict[str, Answer] = {
    "environ_get": 0,
    "_tzset_js": None,
    "_emscripten_get_progname": None,
    "_Py_emscripten_runtime": 0,
    "_emscripten_runtime_keepalive_clear": None,
    "emscripten_runtime_keepalive_push": None,
    "emscripten_runtime_keepalive_pop": None,
    "__syscall_getuid32_js": 0,
    "__syscall_umask_js": 0,
    "_maybe_poll_async": 0,
    "__call_sighandler": None,
}

REFUSED: dict[str, Answer] = {
    **dict.fromkeys(("fd_close", "fd_sync", "fd_fdstat_get", "fd_seek", "fd_pread", "fd_pwrite"), _BADF),
    **dict.fromkeys(("__syscall_fstat64", "__syscall_fcntl64", "__syscall_fchdir", "__syscall_fchmod"), -_BADF),
    **dict.fromkeys(("__syscall_fchown32", "__syscall_fdatasync", "__syscall_ftruncate64"), -_BADF),
    **dict.fromkeys(("__syscall_getdents64", "__syscall_dup", "__syscall_dup3", "__syscall_fadvise64"), -_BADF),
    **dict.fromkeys(("__syscall_fallocate", "__syscall_fstatfs64", "_try_fcntl64"), -_BADF),
    **dict.fromkeys(("__syscall_stat64", "__syscall_lstat64", "__syscall_newfstatat"), -_NOENT),
    **dict.fromkeys(("__syscall_readlinkat", "__syscall_statfs64", "__syscall_chdir"), -_NOENT),
    **dict.fromkeys(("__syscall_openat", "__syscall_faccessat", "__syscall_chmod", "__syscall_fchmodat2"), -_ACCES),
    **dict.fromkeys(("__syscall_fchownat", "__syscall_mkdirat", "__syscall_mknodat", "__syscall_unlinkat"), -_ACCES),
    **dict.fromkeys(("__syscall_rmdir", "__syscall_renameat", "__syscall_symlinkat", "__syscall_truncate64"), -_ACCES),
    **dict.fromkeys(("__syscall_utimensat", "__syscall_pipe", "__syscall_socket", "__syscall_bind"), -_ACCES),
    **dict.fromkeys(("__syscall_connect", "__syscall_listen", "__syscall_accept4", "__syscall_sendto"), -_ACCES),
    **dict.fromkeys(("__syscall_recvfrom", "__syscall_recvmsg", "__syscall_sendmsg"), -_ACCES),
    **dict.fromkeys(("__syscall_getpeername", "__syscall_getsockname", "__syscall_getsockopt"), -_BADF),
    **dict.fromkeys(("__syscall_poll", "_setitimer_js", "_mmap_js", "_munmap_js", "_msync_js"), -_NOSYS),
    "__syscall_ioctl": -_NOTTY,
    "_emscripten_system": -1,
    **dict.fromkeys(("getaddrinfo", "getnameinfo"), _EAI_FAIL),
    **dict.fromkeys(("getprotobyname", "_dlopen_js"), 0),
}


def implementation(name: str) -> Callable[..., Answer] | None:
    """The function that answers an import, or None where it traps."""
    if name in ANSWERED:
        return _guarded(ANSWERED[name])
    constants = EMPTY if name in EMPTY else REFUSED
    if name in constants:
        answer = constants[name]
        return lambda *_arguments: answer
    return None


def _guarded(function: Callable[..., Answer]) -> Callable[..., Answer]:
    def answer(*arguments: float) -> Answer:
        isolate: Isolate = _entered.isolate
        try:
            return function(isolate, *arguments)
        except BaseException as error:  # noqa: BLE001 - the border to wasm: whatever it is, it must not cross
            isolate.host_error = error
            isolate.stop(Stop.BROKEN)
            return _NOSYS

    return answer
