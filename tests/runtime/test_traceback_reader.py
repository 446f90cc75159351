"""Lines read from the memory of a guest: right for real code objects, harmless for memory that lies."""

from __future__ import annotations

import ast
import dataclasses
import struct
import textwrap
import time
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime import traceback_reader
from isolith_runtime.traceback_reader import BRIEF, FULL, current_line, line_of

SOURCES = [
    *sorted((Path(ast.__file__).parent / "json").glob("*.py")),
    Path(textwrap.__file__),
    Path(dataclasses.__file__),
]


def all_code(code: types.CodeType) -> list[types.CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [code, *(found for constant in inner for found in all_code(constant))]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_lines_of_real_code(path: Path) -> None:
    """This Python's location tables have the format of the guest's, since 3.11."""
    for code in all_code(compile(path.read_text(), str(path), "exec")):
        for start, end, line in code.co_lines():
            for position in {start // 2, end // 2 - 1}:
                found = line_of(code.co_linetable, code.co_firstlineno, position)
                assert found == line, (code.co_name, position)


def test_a_position_outside_has_no_line() -> None:
    code = compile("x = 1", "x", "exec")
    assert line_of(code.co_linetable, 1, 10_000) is None
    assert line_of(b"", 1, 0) is None


def test_lines_far_apart_and_backwards() -> None:
    code = compile("(" + "\n" * 100_000 + "a\n)(\n" + "\n" * 50 + "b)", "x", "exec")
    lines = {line for _, _, line in code.co_lines()}
    assert {line_of(code.co_linetable, code.co_firstlineno, n) for n in range(len(code.co_code) // 2)} == lines


# hostile memory

RUNTIME = 4096


def memory_of(data: bytes) -> traceback_reader.Read:
    def read(address: int, size: int) -> bytes | None:
        return data[address : address + size] if 0 <= address <= len(data) - size else None

    return read


@given(st.binary(max_size=300))
def test_any_table_has_a_line_or_an_error_of_its_own(table: bytes) -> None:
    try:
        line = line_of(table, 1, 50)
    except (IndexError, traceback_reader.Unreadable):
        return
    assert line is None or -(2**40) < line < 2**40


def test_a_number_without_an_end_is_no_number() -> None:
    """It took time that grows with the square of the table."""
    begun = time.thread_time()
    with pytest.raises(traceback_reader.Unreadable):
        line_of(bytes([0b1_1101_000]) + b"\x7f" * 1_000_000, 1, 5)
    assert time.thread_time() - begun < 0.5


@given(st.lists(st.integers(0, 2**32 - 1), min_size=64, max_size=64))
def test_any_offsets(numbers: list[int]) -> None:
    offsets = [number % 9000 for number in numbers]
    data = bytes(RUNTIME) + b"xdebugpy" + struct.pack("<64Q", *offsets) + struct.pack("<64I", *offsets)
    line = current_line(memory_of(data), RUNTIME)
    assert line is None or isinstance(line, int)


def test_frames_that_go_in_a_circle() -> None:
    table = [0] * 64
    table[4], table[8], table[25], table[31], table[32] = 600, 0, 0, 0, 4
    data = bytearray(bytes(RUNTIME) + b"xdebugpy" + struct.pack("<64Q", *table) + bytes(2000))
    data[RUNTIME + 600 : RUNTIME + 604] = struct.pack("<I", RUNTIME + 700)
    data[RUNTIME + 700 : RUNTIME + 704] = struct.pack("<I", RUNTIME + 700)
    assert current_line(memory_of(bytes(data)), RUNTIME) is None


@pytest.mark.parametrize(("effort", "most"), [(FULL, 7_000), (BRIEF, 200)])
def test_how_far_it_looks_is_bounded(effort: traceback_reader.Effort, most: int) -> None:
    """The frames lead to each other for ever."""
    table = [0] * 64
    table[4], table[25], table[31], table[32] = 600, 0, 0, 4
    data = bytearray(bytes(RUNTIME) + b"xdebugpy" + struct.pack("<64Q", *table) + bytes(2000))
    for start, end in ((600, 700), (700, 700)):
        data[RUNTIME + start : RUNTIME + start + 4] = struct.pack("<I", RUNTIME + end)
    read, reads = memory_of(bytes(data)), 0

    def counted(address: int, size: int) -> bytes | None:
        nonlocal reads
        reads += 1
        return read(address, size)

    assert current_line(counted, RUNTIME, effort) is None
    assert effort.frames < reads < most


@pytest.mark.parametrize("runtime", [0, 1, 2**31, 2**32, -5])
def test_an_address_that_is_none(runtime: int) -> None:
    assert current_line(memory_of(bytes(8192)), runtime) is None
