"""Calls and coroutines used as values, or left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from isolith_runtime import protocol
    from isolith_runtime.testing import Ran, Scripts

CRM = {"crm": ["get", "other"]}


def run(scripts: Scripts, source: str) -> Ran:
    return scripts.run(source, connectors=CRM, answer=number_of)


def number_of(call: protocol.Call) -> object:
    """The call's own number; `fail=` fails it."""
    if call.arguments.get("fail"):
        raise ValueError("no such contact")
    return call.number


MISUSED = [
    "x = crm.get()\nprint(x)",
    "x = crm.get()\nx['name']",
    "x = crm.get()\nfor y in x: pass",
    "x = crm.get()\nlen(x)",
    "x = crm.get()\nif x: pass",
    "x = crm.get()\nf'{x}'",
    "x = crm.get()\nx + 1",
    "x = crm.get()\nx == 1",
    "x = crm.get()\nx.name",
    "x = crm.get()\n1 in x",
    "x = crm.get()\nx > 1",
    "x = crm.get()\nstr(x)",
]


@pytest.mark.parametrize("source", MISUSED)
def test_a_call_used_as_a_value_says_its_line(scripts: Scripts, source: str) -> None:
    failure = run(scripts, f"await asyncio.sleep(0)\n{source}").failure
    assert failure.message == "TypeError: crm.get(...) was called on line 2 but not awaited: write `await crm.get(...)`"
    assert failure.line == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "[crm.get()]",
            "the value at $[0] is the call crm.get(...) of line 2, not its result: write `await crm.get(...)`",
        ),
        (
            "async def f(): pass\n[f()]",
            "the value at $[0] is of type coroutine, not its result: write `await` before it",
        ),
        (
            "{'a': asyncio.sleep}",
            "the value at $.a is of type function, which has no data form: call it, or leave it out",
        ),
        ("{'a': crm.get}", "the value at $.a is the method crm.get, which has no data form: call it, crm.get(...)"),
        ("crm", "the value at $ is the connector crm, which has no data form: call one of its methods"),
        ("tools", "the value at $ is `tools`, which has no data form: call a method of one of its connectors"),
    ],
)
def test_a_value_that_holds_no_data_says_why(scripts: Scripts, source: str, message: str) -> None:
    failure = run(scripts, f"await asyncio.sleep(0)\n{source}").failure
    assert failure.message.startswith(message)


LEFT_OVER: list[tuple[str, tuple[str, str, int | None]]] = [
    ("crm.get()\n1", ("cancelled", "crm.get(...) was never awaited, and was cancelled", 3)),
    ("async def f(): 1\nf()\n2", ("check", "`f(...)` was never awaited, so it never ran: write `await f(...)`", 4)),
    ("async def f(): 1\nx = f()\n2", ("check", "`f(...)` was never awaited, so it never ran: write `await f(...)`", 3)),
    ("asyncio.sleep(1)\n2", ("check", "`sleep(...)` was never awaited, so it never ran: write `await sleep(...)`", 3)),
    (
        "async def f():\n    await asyncio.sleep(9)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\n1",
        ("cancelled", "task f(...) was still running when the script ended, and was cancelled", 4),
    ),
    (
        "async def f(): 1 / 0\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\n1",
        ("exception", "task f(...) failed and nobody awaited it: ZeroDivisionError: division by zero", 3),
    ),
]


@pytest.mark.parametrize(("source", "warning"), LEFT_OVER)
def test_what_is_left_over_is_reported(scripts: Scripts, source: str, warning: tuple[str, str, int | None]) -> None:
    ran = scripts.run(f"import asyncio\nawait asyncio.sleep(0)\n{source}", connectors=CRM)
    assert ran.warnings == [warning]


def test_a_thousand_left_over_tasks_are_a_hundred_warnings(scripts: Scripts) -> None:
    source = "t = [asyncio.create_task(asyncio.sleep(9), name=f't{n}') for n in range(1500)]\nawait asyncio.sleep(0)\n1"
    ran = scripts.run(source)
    assert ran.value == 1
    assert len(ran.warnings) == 101
    assert ran.warnings[-1] == ("cancelled", "1,400 more warnings were left out", None)


def test_tasks_that_are_alike_are_one_warning(scripts: Scripts) -> None:
    source = "t = [asyncio.create_task(asyncio.sleep(9)) for _ in range(1000)]\nawait asyncio.sleep(0)\n1"
    assert scripts.run(source).warnings == [
        ("cancelled", "1,000 times task sleep(...) were still running when the script ended, and were cancelled", None)
    ]


def test_calls_past_the_budget_are_refused_here_once_the_host_has_refused_one(scripts: Scripts) -> None:
    source = "t = []\nawait asyncio.sleep(0)\nfor n in range(10**6): t.append(crm.get())"
    ran = scripts.run(source, connectors=CRM)
    assert ran.failure.kind == "calls_exceeded"
    assert len(ran.calls) == 201
