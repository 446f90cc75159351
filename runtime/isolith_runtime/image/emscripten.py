"""The system calls CPython needs to boot, answered from memory. Build time only: never loaded at run time.

The files are a dictionary, the descriptors another; nothing here touches the machine. Numbers of errors are
WASI's; a `__syscall_*` answers them negated, the functions of `wasi_snapshot_preview1` do not (Emscripten's ABI).
"""

from __future__ import annotations

import posixpath
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from isolith_runtime.errors import ImageBuildError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    import wasmtime

_CHANNEL = 4
_BADF, _ISDIR, _NOENT, _INVAL, _NOTTY = 8, 31, 44, 28, 59
_FILE_MODE, _DIRECTORY_MODE, _TERMINAL_MODE = 0o100644, 0o40755, 0o20666
_STAT = "<6I q 2i q I4x q I4x q I4x q"
_BOOT_TIME = 1_700_000_000
"""Seconds since the epoch shown while booting; a constant, so that two builds give the same image."""


@dataclass
class _OpenFile:
    path: str
    position: int = 0


class Kernel:
    """Answers the imports of a booting guest. `attach` the memory before the guest runs."""

    def __init__(self, files: Mapping[str, bytes], output: TextIO) -> None:
        self.files = files
        self.directories = {"/"} | {parent for path in files for parent in _parents(path)}
        self.output = output
        self.open: dict[int, _OpenFile] = {}
        self.environment = [b"HOME=/", b"LC_ALL=C.UTF-8", b"PYTHONHASHSEED=0", b"NO_COLOR=1"]
        self.sent: list[bytes] = []
        self._arriving = b""
        self._entropy = 0

    def receive(self, batch: bytes) -> None:
        """Let the guest's next reads of the channel get this batch."""
        self._arriving = len(batch).to_bytes(4, "little") + batch

    def attach(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        """Give the kernel the guest's memory."""
        self.store, self.memory = store, memory

    def implementation(self, name: str) -> Callable[..., int | float | None]:
        """The function for one import; an import nobody answers stops the build with its name."""
        handler = getattr(self, "sys_" + name.removeprefix("__syscall_").lstrip("_"), None)
        if handler is not None:
            return handler  # type: ignore[no-any-return]

        def missing(*arguments: object) -> None:
            raise ImageBuildError(f"the guest called {name}{arguments} while booting, which nothing answers")

        return missing

    def read(self, address: int, size: int) -> bytes:
        """Bytes of the guest's memory."""
        return bytes(self.memory.read(self.store, address, address + size))

    def write(self, address: int, data: bytes) -> None:
        """Write into the guest's memory."""
        self.memory.write(self.store, data, address)

    def write_u32(self, address: int, value: int) -> int:
        """Write a 32-bit number; answers success."""
        self.write(address, struct.pack("<I", value))
        return 0

    def string(self, address: int) -> str:
        """A zero-terminated string of the guest."""
        data = bytearray()
        while b"\0" not in (chunk := self.read(address + len(data), 64)):
            data += chunk
        return (data + chunk[: chunk.index(b"\0")]).decode()

    # files

    def _stat(self, path: str, address: int) -> int:
        path = _absolute(path)
        if path in self.files:
            return self._write_stat(address, _FILE_MODE, len(self.files[path]))
        if path in self.directories:
            return self._write_stat(address, _DIRECTORY_MODE, 0)
        return -_NOENT

    def _write_stat(self, address: int, mode: int, size: int) -> int:
        self.write(address, struct.pack(_STAT, 1, mode, 1, 0, 0, 0, size, 4096, 0, 0, 0, 0, 0, 0, 0, 1))
        return 0

    def sys_stat64(self, path: int, address: int) -> int:
        return self._stat(self.string(path), address)

    sys_lstat64 = sys_stat64

    def sys_newfstatat(self, _directory: int, path: int, address: int, _flags: int) -> int:
        return self._stat(self.string(path), address)

    def sys_fstat64(self, descriptor: int, address: int) -> int:
        if descriptor in self.open:
            return self._stat(self.open[descriptor].path, address)
        return self._write_stat(address, _TERMINAL_MODE, 0) if descriptor <= 2 else -_BADF

    def sys_openat(self, _directory: int, path: int, _flags: int, _mode: int) -> int:
        wanted = _absolute(self.string(path))
        if wanted not in self.files and wanted not in self.directories:
            return -_NOENT
        descriptor = next(n for n in range(5, 1024) if n not in self.open)
        self.open[descriptor] = _OpenFile(wanted)
        return descriptor

    def sys_fd_close(self, descriptor: int) -> int:
        self.open.pop(descriptor, None)
        return 0

    def sys_fd_read(self, descriptor: int, vectors: int, count: int, result: int) -> int:
        if descriptor == _CHANNEL:
            [(base, size)] = self._vectors(vectors, count)
            chunk, self._arriving = self._arriving[:size], self._arriving[size:]
            self.write(base, chunk)
            return self.write_u32(result, len(chunk))
        entry = self.open.get(descriptor)
        if entry is None:
            return self.write_u32(result, 0)
        if entry.path in self.directories:
            return _ISDIR
        total = 0
        for base, size in self._vectors(vectors, count):
            chunk = self.files[entry.path][entry.position : entry.position + size]
            self.write(base, chunk)
            entry.position += len(chunk)
            total += len(chunk)
        return self.write_u32(result, total)

    def sys_fd_write(self, descriptor: int, vectors: int, count: int, result: int) -> int:
        data = b"".join(self.read(base, size) for base, size in self._vectors(vectors, count))
        if descriptor == _CHANNEL:
            self.sent.append(data)
        else:
            self.output.write(data.decode(errors="replace"))
        return self.write_u32(result, len(data))

    def sys_fd_seek(self, descriptor: int, offset: int, whence: int, result: int) -> int:
        entry = self.open.get(descriptor)
        if entry is None:
            return _BADF
        entry.position = offset + (0, entry.position, len(self.files.get(entry.path, b"")))[whence]
        self.write(result, struct.pack("<q", entry.position))
        return 0

    def sys_fd_fdstat_get(self, descriptor: int, address: int) -> int:
        if descriptor > 2:
            return _BADF
        self.write(address, bytes([2]) + bytes(23))
        return 0

    def _vectors(self, address: int, count: int) -> list[tuple[int, int]]:
        return list(struct.iter_unpack("<II", self.read(address, 8 * count)))

    def sys_getcwd(self, address: int, _size: int) -> int:
        self.write(address, b"/\0")
        return 2

    def sys_ioctl(self, *_arguments: int) -> int:
        return -_NOTTY

    def sys_readlinkat(self, *_arguments: int) -> int:
        return -_INVAL

    def _success(self, *_arguments: int) -> int:
        return 0

    sys_fcntl64 = sys_poll = sys_getuid32_js = sys_getdents64 = _success
    sys_try_fcntl64 = sys_Py_CheckEmscriptenSignals_Helper = sys_Py_emscripten_runtime = _success

    # process, clock and entropy

    def sys_environ_sizes_get(self, count: int, size: int) -> int:
        self.write_u32(count, len(self.environment))
        return self.write_u32(size, sum(len(entry) + 1 for entry in self.environment))

    def sys_environ_get(self, array: int, buffer: int) -> int:
        for position, entry in enumerate(self.environment):
            self.write_u32(array + 4 * position, buffer)
            self.write(buffer, entry + b"\0")
            buffer += len(entry) + 1
        return 0

    def sys_clock_time_get(self, _clock: int, _precision: int, address: int) -> int:
        self.write(address, struct.pack("<q", _BOOT_TIME * 10**9))
        return 0

    def sys_clock_res_get(self, _clock: int, address: int) -> int:
        self.write(address, struct.pack("<q", 10**6))
        return 0

    def sys_emscripten_date_now(self) -> float:
        return _BOOT_TIME * 1e3

    sys_emscripten_get_now = sys_emscripten_date_now

    def sys_random_get(self, address: int, size: int) -> int:
        # Every execution seeds its own generators; what boot draws must only be the same in every build.
        self._entropy += 1
        self.write(address, bytes((self._entropy * 31 + k) % 256 for k in range(size)))
        return 0

    def sys_localtime_js(self, seconds: int, address: int) -> None:
        write_broken_down_time(self.write, seconds, address)

    sys_gmtime_js = sys_localtime_js

    def sys_emscripten_resize_heap(self, size: int) -> int:
        missing = size - self.memory.data_len(self.store)
        self.memory.grow(self.store, -(-missing // 65536))
        return 1

    def sys_emscripten_get_heap_max(self) -> int:
        return 2**31 - 65536

    def _nothing(self, *_arguments: int) -> None:
        return None

    sys_tzset_js = sys_emscripten_get_progname = sys_hiwire_deduplicate_new = sys_maybe_poll_async = _nothing


def write_broken_down_time(write: Callable[[int, bytes], None], seconds: int, address: int) -> None:
    """Write C's `struct tm` in UTC for seconds since the epoch."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    day = moment.timetuple().tm_yday - 1
    clock = (moment.second, moment.minute, moment.hour, moment.day, moment.month - 1, moment.year - 1900)
    write(address, struct.pack("<10i", *clock, (moment.weekday() + 1) % 7, day, 0, 0))


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join("/", path))


def _parents(path: str) -> list[str]:
    found: list[str] = []
    while (path := posixpath.dirname(path)) != "/":
        found.append(path)
    return found
