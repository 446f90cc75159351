"""Every way a run can end, each with a word and the line where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith_runtime.isolate import End
from isolith_runtime.limits import Limits, Stop

if TYPE_CHECKING:
    from isolith_runtime.testing import Scripts


def test_a_soft_stop_names_the_line(scripts: Scripts) -> None:
    for source in ("x = 1\nwhile True: pass", "async def f():\n    while True: pass\nawait asyncio.gather(f())"):
        ran = scripts.run(source, limits=Limits(cpu_ms=200))
        assert (ran.failure.kind, ran.failure.line, ran.spent.interrupted) == ("interrupted", 2, True)


HARD = [
    ("x = 1\nsum(range(10**12))", 2),
    ("def f():\n    return sum(range(10**12))\n\nf()", 2),
    (
        "def f():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\nf()",
        4,
    ),
    ("x = [n for n in range(10**9)\n     if n < 0 or sum(range(10**9))]", 2),
]


@pytest.mark.parametrize(("source", "line"), HARD)
def test_a_hard_stop_names_the_line_too(scripts: Scripts, source: str, line: int) -> None:
    """Read from the memory of a guest that says nothing any more."""
    ran = scripts.run(source, limits=Limits(cpu_ms=100))
    assert (ran.departure.end, ran.departure.stop) == (End.STOPPED, Stop.CPU)
    assert ran.departure.line in {line, line + 1}


MEMORY = [
    "x = bytearray(10**9)",
    "x = []\nwhile True: x.append(bytearray(10**6))",
    "x = []\nwhile True: x.append(bytearray(1000))",
    "x = {}\nwhile True: x[len(x)] = [len(x)]",
    "x = 'ab'\nwhile True: x += x",
]


@pytest.mark.parametrize("source", MEMORY)
def test_memory_that_is_used_up_is_said(scripts: Scripts, source: str) -> None:
    """With nothing left it could not even be said, and looked like a deadlock."""
    ran = scripts.run(source, limits=Limits(memory_bytes=48 * 1024 * 1024))
    assert ran.failure.kind == "memory_exceeded"
    assert ran.spent.memory_refused


def test_a_memory_error_can_be_caught(scripts: Scripts) -> None:
    assert scripts.run("try:\n    x = bytearray(10**9)\nexcept MemoryError:\n    x = 5\nx").value == 5


EXITS: list[tuple[str, str]] = [
    ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ("exit()", "SystemExit"),
    ("exit('no')", "SystemExit: no"),
    ("import sys\nsys.exit(0)", "SystemExit: 0"),
    ("import os\nos._exit(0)", "SystemExit: 0"),
    ("raise SystemExit", "SystemExit"),
    ("quit(2)", "SystemExit: 2"),
    ("import os\nos._exit(3)", "SystemExit: 3"),
    ("import os\nos.abort()", "SystemExit: aborted"),
    ("raise SystemExit('')", "SystemExit"),
    ("raise SystemExit(False)", "SystemExit: False"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("import sys\nasync def f(): sys.exit(3)\nawait asyncio.gather(f())", "SystemExit: 3"),
    ("asyncio.get_running_loop().call_soon(exit, 4)\nawait asyncio.sleep(1)", "SystemExit: 4"),
]


@pytest.mark.parametrize(("source", "message"), EXITS)
def test_leaving_the_interpreter_is_an_exception(scripts: Scripts, source: str, message: str) -> None:
    assert scripts.run(source).failure.message == message


ODD = [
    "class A(Exception):\n    def __str__(self): raise ValueError\nraise A",
    "class A(Exception):\n    __class__ = property(lambda self: 1 / 0)\nraise A",
    "raise ValueError('\\ud800')",
    "raise ExceptionGroup('\\ud800', [ValueError('x')])",
    "e = ValueError('x')\nfor _ in range(3000): e = ExceptionGroup('g', [e])\nraise e",
    "e = ValueError('x')\ne.__cause__ = e\nraise e",
    "e = ValueError('x' * 10**6)\ne.add_note('y' * 10**6)\nraise e",
    "del __builtins__\nx",
    "import builtins\nfor n in list(vars(builtins)): delattr(builtins, n)",
    "import sys\nsys.modules.clear()\n1 / 0",
    "import asyncio\nasyncio.all_tasks = None\n1 / 0",
]


@pytest.mark.parametrize("source", ODD)
def test_whatever_is_raised_is_an_end_with_a_word(scripts: Scripts, source: str) -> None:
    ran = scripts.run(source)
    assert ran.failure.kind in {"exception", "recursion"}
    assert len(ran.failure.message) <= 4200


def test_an_interrupt_while_an_error_is_shown(scripts: Scripts) -> None:
    source = "class A(Exception):\n    def __str__(self):\n        while True: pass\nraise A"
    ran = scripts.run(source, limits=Limits(cpu_ms=200))
    assert (ran.failure.kind, ran.failure.line) == ("interrupted", 3)


def test_a_value_too_large_to_keep(scripts: Scripts) -> None:
    assert scripts.run("'x' * 998", value_bytes=1000).value == "x" * 998
    failure = scripts.run("'x' * 999", value_bytes=1000).failure
    assert (failure.kind, failure.message) == ("output_exceeded", "the value is 1,001 bytes")
    assert scripts.run("'ä' * 600", value_bytes=1000).failure.message == "the value is 1,202 bytes"
    plenty = Limits(cpu_ms=60_000)  # four million parts are counted first: a second, on a quick machine
    explodes = scripts.run("x = [1]\nfor _ in range(40): x = [x, x]\nx", limits=plenty).failure
    assert (explodes.kind, explodes.line) == ("output_exceeded", 3)


def test_the_last_frame_is_the_last(scripts: Scripts) -> None:
    source = "import atexit\nclass A:\n    def __del__(self): print('late')\na = A()\nimport gc\n5"
    ran = scripts.run(source)
    assert ran.frames[-1] is ran.last


def test_what_there_is_no_memory_to_send_does_not_hide_the_end(scripts: Scripts) -> None:
    """The frame stayed in the queue, and nothing could be sent behind it."""
    ran = scripts.run("await crm.get(x='x' * 50_000_000)", connectors={"crm": ["get"]})
    assert (ran.failure.kind, ran.failure.line) == ("memory_exceeded", 1)
    assert (
        scripts.run(
            "try:\n    crm.get(x='x' * 50_000_000)\nexcept MemoryError:\n    x = 5\nx", connectors={"crm": ["get"]}
        ).value
        == 5
    )
