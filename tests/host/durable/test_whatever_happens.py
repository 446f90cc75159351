"""Runs at random, to which everything happens: hosts stop, calls fail, people are asked; each ends as one in peace."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CallError, CodeMode
from isolith.durable.dry_replay import dry_replay
from isolith.journal import Journal, Settings, UnknownEntry
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from isolith import Outcome
    from isolith_bindings.connector import CallContext, Method

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Made = Counter[tuple[str, str, object]]
METHODS = ("get", "get", "slow", "ask", "ask", "flaky", "fail")
PREFIX = """
import asyncio, random
async def one(c, m, n):
    await asyncio.sleep(0.001 * (n % 3))
    try:
        return await getattr(c, m)(n=n)
    except ToolError as error:
        if m != "fail":
            raise
        return str(error)
out = []
"""


class Tool(RecordingConnector):
    """`flaky` fails the first time for some numbers, `fail` always does, and `ask` has to be asked about."""

    def __init__(self, name: str, made: Made, flaky: set[tuple[str, object]], *, asks: bool) -> None:
        super().__init__(name, dict.fromkeys(METHODS))
        self.methods["ask"] = dataclasses.replace(self.methods["ask"], policy="ask" if asks else "allow")
        self.made, self.flaky = made, flaky

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        number = arguments["n"]
        if method.name == "slow":
            await asyncio.sleep(0.002)
        if method.name == "fail":
            raise CallError("tool_error", f"no {number}")
        if method.name == "flaky" and (self.name, number) in self.flaky:
            self.flaky.remove((self.name, number))
            raise CallError("tool_error", "not yet")
        self.made[self.name, method.name, number] += 1
        return [self.name, method.name, number]


def script_of(dice: random.Random) -> tuple[str, int]:
    """One, and how many calls it makes."""
    lines, calls = list[str](), 0

    def call() -> str:
        nonlocal calls
        calls += 1
        return f"one({dice.choice('ab')}, {dice.choice(METHODS)!r}, {calls})"

    for _ in range(dice.randint(1, 4)):
        if (kind := dice.random()) < 0.3:
            lines.append(f"out.append(await {call()})")
        elif kind < 0.8:
            lines.append(f"out.append(await asyncio.gather({', '.join(call() for _ in range(dice.randint(2, 9)))}))")
        else:
            lines.append("out.append(random.random() < 2)\nprint(len(out))")
    return PREFIX + "\n".join(lines) + "\nout", calls


def later(hours: int) -> datetime:
    return datetime.now(UTC) + timedelta(hours=hours)


class Troubled:
    """One run, and all that happens to it; each turn is another host's."""

    def __init__(self, script: str, calls: int, journal: Path, dice: random.Random) -> None:
        self.script, self.journal, self.dice = script, journal, dice
        self.made: Made = Counter()
        numbers: list[object] = [*range(1, calls + 1)]
        self.flaky = {(name, n) for name in "ab" for n in numbers if dice.random() < 0.5}
        self.settled: Made = Counter()
        """How often each was made when its outcome was first seen in the journal."""
        self.budgets = Budgets(concurrent_calls_per_connector=dice.choice([1, 2, 8]))
        self.execution_id: str | None = None

    async def live(self) -> Outcome:
        for hours in range(60):
            tools = [Tool(name, self.made, self.flaky, asks=True) for name in "ab"]
            clock = Settings(clock=partial(later, hours))  # the lease of the host before is over
            async with (
                await Journal.open(f"sqlite:///{self.journal}", clock) as journal,
                CodeMode(tools, journal=journal, tend=False) as host,
            ):
                outcome = await self.turn(host)
                if outcome is not None and outcome.status == "completed":
                    await self.look(journal)
                    again = await dry_replay(await host.runs(), outcome.execution_id)
                    assert (again.error, again.value) == (None, outcome.value)
                    assert not (await journal.records.verify()).findings
                    return outcome
        raise AssertionError("it never ends")

    async def turn(self, host: CodeMode) -> Outcome | None:
        """What one host does: begin it, take it over, try it again, or ask people; gives how it stood before."""
        runs = await host.runs()
        if self.execution_id is None:
            begun = await runs.journal.executions.find()  # it may have become known after its host was left
            if not begun:
                return await self.begin(host)
            self.execution_id = begun[0].execution_id
        outcome = await runs.outcome(self.execution_id)
        await self.look(runs.journal)
        if outcome.status == "running":
            await runs.recover()
        elif outcome.status == "failed":
            assert outcome.error is not None
            assert outcome.error.kind == "tool_error", outcome.error
            await runs.retry(self.execution_id)
        elif outcome.status == "paused":
            waiting = await runs.pending(self.execution_id)
            assert {one.call_id for one in outcome.pending} == {one.call_id for one in waiting}
            for one in self.dice.sample(waiting, self.dice.randint(1, len(waiting)) if waiting else 0):
                go_on = self.dice.random() < 0.7
                await runs.decide(self.execution_id, one.call_id, "approve", digest=one.digest, go_on=go_on)
            if not waiting:
                await runs.resume(self.execution_id)
        return outcome

    async def look(self, journal: Journal) -> None:
        """What had an outcome when the journal was looked at before has not been made again since."""
        assert self.execution_id is not None
        for call in await journal.calls.of(self.execution_id, ["completed"]):
            what = (call.connector, call.method, json.loads(call.arguments).get("n"))
            assert self.settled.setdefault(what, self.made[what]) == self.made[what]

    async def begin(self, host: CodeMode) -> Outcome | None:
        if self.dice.random() < 0.4:
            outcome = await host.execute(self.script, budgets=self.budgets)
            self.execution_id = outcome.execution_id
            return outcome
        execution = host.start(self.script, budgets=self.budgets)
        await asyncio.sleep(self.dice.random() * 0.06)  # it is left wherever it is by then, which may be at its end
        await host.leave(0)
        await execution.outcome()
        with contextlib.suppress(UnknownEntry):  # left before the journal knew of it
            await (await host.runs()).outcome(execution.execution_id)
            self.execution_id = execution.execution_id
        return None


@pytest.mark.parametrize("seed", range(12))
async def test_it_ends_as_one_in_peace(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311
    script, calls = script_of(dice)
    made: Made = Counter()
    async with CodeMode([Tool(name, made, set(), asks=False) for name in "ab"]) as host:
        peace = await host.execute(script)
    troubled = Troubled(script, calls, tmp_path / "journal.db", dice)
    outcome = await troubled.live()
    assert (outcome.error, outcome.value) == (None, peace.value), script
    assert troubled.made.keys() == made.keys()  # none is lost
    assert troubled.settled == troubled.made
