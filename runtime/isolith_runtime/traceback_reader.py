"""The script's line that a guest was running, read from its memory when the guest itself can say nothing any more.

CPython keeps a table of offsets for debuggers at the start of `_PyRuntime` (`pycore_debug_offsets.h`, 3.14) and each
code object a location table (`InternalDocs/code_objects.md`). The memory is hostile: every address is checked by
`read`, every loop is bounded, and the answer is only ever a number to show.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

Read = Callable[[int, int], bytes | None]

_COOKIE = b"xdebugpy"
_SCRIPT = b"<script>"
_MAX_BITS = 36
# Positions in the table of 64-bit offsets behind the eight bytes of the cookie.
_FIELDS = {
    "interpreters_head": 4,
    "threads_head": 8,
    "current_frame": 25,
    "previous": 31,
    "executable": 32,
    "instr_ptr": 33,
    "filename": 39,
    "linetable": 42,
    "firstlineno": 43,
    "code": 47,
}
_BYTES_SIZE, _BYTES_DATA = 8, 16
_TEXT_DATA = 20  # of a compact ASCII str on a 32-bit build


class Effort(NamedTuple):
    """How far to look for a line. Memory that lies can make it take as long as this allows."""

    frames: int
    """Some two microseconds each."""
    table: int
    """Bytes of a location table, some half a microsecond each."""


FULL = Effort(frames=2000, table=1 << 20)
BRIEF = Effort(frames=50, table=1 << 15)
"""For what a guest can have done again and again: enough for scripts of a thousand lines."""


class Unreadable(Exception):
    """The memory is not what CPython's would be. Never leaves `current_line`."""


def current_line(read: Read, runtime: int, effort: Effort = FULL) -> int | None:
    """The line of the innermost frame of the script; `runtime` is the address of `_PyRuntime`."""
    try:
        return _innermost(_Memory(read), runtime, effort)
    except (Unreadable, IndexError, struct.error):
        return None


class _Memory:
    def __init__(self, read: Read) -> None:
        self._read = read

    def bytes(self, address: int, size: int) -> bytes:
        data = self._read(address, size) if address > 0 else None
        if data is None:
            raise Unreadable
        return data

    def pointer(self, address: int) -> int:
        return int(struct.unpack("<I", self.bytes(address, 4))[0])


def _innermost(memory: _Memory, runtime: int, effort: Effort) -> int | None:
    table = memory.bytes(runtime, 8 + 8 * 64)
    if not table.startswith(_COOKIE):
        return None
    numbers = struct.unpack("<64Q", table[8:])
    offsets = {name: numbers[position] for name, position in _FIELDS.items()}
    interpreter = memory.pointer(runtime + offsets["interpreters_head"])
    thread = memory.pointer(interpreter + offsets["threads_head"])
    frame = memory.pointer(thread + offsets["current_frame"])
    for _ in range(effort.frames):
        if not frame:
            return None
        code = memory.pointer(frame + offsets["executable"]) & ~3
        if code and _is_script(memory, code + offsets["filename"]):
            instruction = memory.pointer(frame + offsets["instr_ptr"])
            return _line(memory, code, instruction, offsets, effort.table)
        frame = memory.pointer(frame + offsets["previous"])
    return None


def _is_script(memory: _Memory, field: int) -> bool:
    try:
        name = memory.pointer(field)
        return memory.bytes(name + _TEXT_DATA, len(_SCRIPT) + 1) == _SCRIPT + b"\0"
    except Unreadable:
        return False


def _line(memory: _Memory, code: int, instruction: int, offsets: dict[str, int], most: int) -> int | None:
    position = (instruction - code - offsets["code"]) // 2
    first = int(struct.unpack("<i", memory.bytes(code + offsets["firstlineno"], 4))[0])
    table = memory.pointer(code + offsets["linetable"])
    size = memory.pointer(table + _BYTES_SIZE)
    if not 0 <= position < most or size > most:
        return None
    return line_of(memory.bytes(table + _BYTES_DATA, size), first, position)


def line_of(table: bytes, first: int, position: int) -> int | None:
    """The line of an instruction, by its index in code units. Raises IndexError or `Unreadable`."""
    line, covered, at = first, 0, 0
    while at < len(table):
        head = table[at]
        at += 1
        kind, length = head >> 3 & 15, (head & 7) + 1
        known = kind != 15
        if kind in {13, 14}:
            delta, at = _signed(table, at)
            line += delta
            for _ in range(3 if kind == 14 else 0):
                _, at = _unsigned(table, at)
        elif 10 <= kind <= 12:
            line += kind - 10
            at += 2
        elif kind < 10:
            at += 1
        covered += length
        if position < covered:
            return line if known else None
    return None


def _unsigned(table: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MAX_BITS, 6):
        byte = table[at]
        at += 1
        value |= (byte & 63) << shift
        if not byte & 64:
            return value, at
    raise Unreadable


def _signed(table: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(table, at)
    return (-(value >> 1) if value & 1 else value >> 1), at
