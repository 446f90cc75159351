"""How an execution ended: what a guest may claim, and what the host's own meters decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from isolith.budgets import Budgets
from isolith.run.ending import NOTHING_SPENT, Facts, of_cancel, of_departure, of_failure, of_silence, of_wall
from isolith.run.normalize import Prepared, prepare
from isolith_runtime.driver import Departure
from isolith_runtime.isolate import End
from isolith_runtime.limits import Stop
from isolith_runtime.protocol import Failure

SOURCE = "Look:\n```\n    x = 1\n    y = x.z\n```"
FACTS = Facts(Budgets(cpu_ms=100, calls=5), NOTHING_SPENT, calls_refused=False, internal_call=False)
INTERRUPTED = replace(FACTS, spent=replace(NOTHING_SPENT, interrupted=True, cpu_ns=120_000_000))
GONE = Departure(End.DEAD, None, 4, "", None)


def script() -> Prepared:
    prepared = prepare(SOURCE, 1000)
    assert isinstance(prepared, Prepared)
    return prepared


def failure(kind: str, line: int | None = 4, column: int | None = 5) -> Failure:
    return Failure(kind, "it failed", line, column, "a hint", "crm.get", retriable=True, traceback="")


def test_the_place_is_the_user_s() -> None:
    found = of_failure(failure("tool_error"), script(), FACTS)
    assert (found.line, found.column, found.source_line) == (4, 9, "    y = x.z")
    assert (found.message, found.hint, found.tool, found.retriable) == ("it failed", "a hint", "crm.get", True)


@pytest.mark.parametrize("line", [0, 99, None])
def test_a_line_that_is_not_there_is_none(line: int | None) -> None:
    found = of_failure(failure("exception", line), script(), FACTS)
    assert (found.line, found.column, found.source_line) == (None, None, None)


@pytest.mark.parametrize(
    "kind",
    ["internal", "cancelled", "calls_exceeded", "wall_exceeded", "invalid_input", "check", "interrupted", "mine"],
)
def test_a_guest_cannot_claim_what_the_host_alone_says(kind: str) -> None:
    assert of_failure(failure(kind), script(), FACTS).kind == "exception"


@pytest.mark.parametrize("kind", ["exception", "unknown_tool", "tool_timeout", "recursion", "deadlock", "denied"])
def test_a_guest_says_what_its_script_caused(kind: str) -> None:
    assert of_failure(failure(kind), script(), FACTS).kind == kind


def test_what_a_guest_says_is_believed_where_the_host_knows_it_too() -> None:
    refused = replace(FACTS, calls_refused=True, internal_call=True)
    assert of_failure(failure("calls_exceeded"), script(), refused).kind == "calls_exceeded"
    assert of_failure(failure("internal"), script(), refused).kind == "internal"
    found = of_failure(failure("interrupted"), script(), INTERRUPTED)
    assert (found.kind, found.message) == (
        "cpu_exceeded",
        "the script used 120 ms of CPU; its budget is 100 ms (`cpu_ms`)",
    )


def test_budgets_are_named_with_their_size() -> None:
    assert "256 MiB" in of_failure(failure("memory_exceeded"), script(), FACTS).message
    assert "`value_bytes` is 16,777,216" in of_failure(failure("output_exceeded"), script(), FACTS).message


def test_where_memory_ran_out_the_host_has_seen() -> None:
    refused = replace(FACTS, spent=replace(NOTHING_SPENT, memory_refused=True, refused_line=2))
    told = replace(failure("memory_exceeded"), traceback="line 4: y = x.z")
    assert (of_failure(told, script(), refused).line, of_departure(GONE, script(), refused).line) == (4, 2)
    untold = of_failure(replace(told, traceback=""), script(), refused)
    assert (untold.line, untold.column) == (2, None)


@pytest.mark.parametrize(
    ("departure", "facts", "kind", "said"),
    [
        (replace(GONE, stop=Stop.CPU), INTERRUPTED, "cpu_exceeded", "used 120 ms of CPU"),
        (replace(GONE, end=End.FUEL), replace(FACTS, budgets=Budgets(fuel=500)), "cpu_exceeded", "all of its 500 instructions"),
        (replace(GONE, end=End.STACK), FACTS, "recursion", "nested deeper than the stack"),
        (GONE, INTERRUPTED, "cpu_exceeded", "used 120 ms of CPU"),
        (replace(GONE, broken="an unknown frame"), FACTS, "exception", "host: an unknown frame"),
        (replace(GONE, broken="it went on"), replace(FACTS, calls_refused=True), "calls_exceeded", "5 calls, and it went on"),
        (GONE, replace(FACTS, spent=replace(NOTHING_SPENT, memory_refused=True)), "memory_exceeded", "256 MiB"),
        (GONE, FACTS, "exception", "the script ended the interpreter it ran in"),
    ],
)  # fmt: skip
def test_a_guest_that_is_gone_without_a_word(departure: Departure, facts: Facts, kind: str, said: str) -> None:
    found = of_departure(departure, script(), facts)
    assert (found.kind, found.line, found.source_line) == (kind, 4, "    y = x.z")
    assert said in found.message
    assert found.hint


def test_from_outside() -> None:
    waiting = ("crm.get", 4)
    wall = of_wall(script(), Budgets(wall_s=2), waiting, None)
    assert (wall.kind, wall.line) == ("wall_exceeded", 4)
    assert wall.message == "the run took longer than its budget of 2 s (`wall_s`), waiting for crm.get"
    assert (
        of_wall(script(), Budgets(wall_s=2), None, 3).message == "the run took longer than its budget of 2 s (`wall_s`)"
    )
    assert (of_cancel(script(), 3).kind, of_cancel(script(), 3).line) == ("cancelled", 3)
    assert of_silence(script()).kind == "deadlock"


def test_long_texts_are_cut() -> None:
    long = Failure("exception", "x" * 10**6, 1, 1, "y" * 10**6, "z" * 10**6, retriable=False, traceback="")
    found = of_failure(long, script(), FACTS)
    assert len(found.model_dump_json()) < 100_000


def test_another_language_is_named_with_the_user_s_own_line() -> None:
    prepared = prepare("    const x = await f();\n    let y = 2;", 1000)
    assert isinstance(prepared, Prepared)
    found = of_failure(failure("syntax", 1), prepared, FACTS)
    assert (found.kind, found.line, found.source_line) == ("not_a_script", 1, "    const x = await f();")
