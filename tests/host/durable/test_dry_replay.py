"""A run once more against its journal: the same value, and nothing is called, nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.e2e.crm import Done, crm_of

from isolith import CodeMode, Policy, Rule
from isolith.durable.dry_replay import dry_replay

if TYPE_CHECKING:
    from isolith import Outcome
    from isolith.journal import Journal

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SCRIPT = """
import asyncio, random, time
chance = [random.random(), time.time_ns()]
rows = await asyncio.gather(*[crm.rows(team="x" * n) for n in range(12)])
try:
    await crm.nothing(a=1)
except ToolError as error:
    kind = error.kind
found = (await search("rows"))["results"][0]["path"]
await crm.note(text="mine")
[chance, len(rows), kind, found, await snippets.twice(text="other")]
"""
ASKS = Policy(preset="trusted", rules=(Rule(action="ask", match=("crm.note",)),))


def seen(outcome: Outcome) -> object:
    calls = [(call.method, call.status, call.error and call.error.message) for call in outcome.calls]
    return outcome.status, outcome.value, outcome.error, calls


async def everything(journal: Journal) -> list[str]:
    return [line async for line in journal.export(contents=True)]


async def made(host: CodeMode) -> Outcome:
    """A run with a snippet's within it, and a question."""
    proven = await host.execute("await crm.note(text=input['text'])\n2", input={"text": "proven"})
    if proven.pending:
        proven = await host.approve(proven.execution_id, proven.pending[0].call_id)
    await host.snippets.propose(proven.execution_id, "twice", "Keep a note", who="ada")
    await host.snippets.approve("twice", 1, who="bob")
    outcome = await host.execute(SCRIPT)
    while outcome.status == "paused":
        outcome = await host.approve(outcome.execution_id, outcome.pending[0].call_id)
    assert outcome.error is None
    return outcome


async def test_it_comes_to_the_same_and_reaches_nothing(journal: Journal) -> None:
    done = Done()
    async with CodeMode([crm_of(done)], journal=journal, policy=ASKS, tend=False) as host:
        outcome = await made(host)
        before, notes = await everything(journal), list(done.notes)
        again = await dry_replay(await host.runs(), outcome.execution_id)
        assert seen(again) == seen(outcome)
        done.fail = True
        chance = cast("list[object]", outcome.value)[0]
        printed = await dry_replay(
            await host.runs(), outcome.execution_id, SCRIPT.replace("rows =", "print(chance)\nrows =")
        )
        assert (printed.value, [line.message for line in printed.logs]) == (outcome.value, [str(chance)])
        await host.rollback(outcome.execution_id)
        assert done.notes == ["proven"]
        undone = await dry_replay(await host.runs(), outcome.execution_id)
        assert seen(undone) == seen(outcome)
        assert done.notes == ["proven"]
        assert (notes, len(await everything(journal)) > len(before)) == (["proven", "mine", "other"], True)


async def test_it_writes_nothing(journal: Journal) -> None:
    async with CodeMode([crm_of(Done())], journal=journal, tend=False) as host:
        outcome = await host.execute("await crm.rows(team='a')")
        before = await everything(journal)
        assert (await dry_replay(await host.runs(), outcome.execution_id)).status == "completed"
        assert await everything(journal) == before
        assert not (await journal.records.verify()).findings


async def test_another_way_and_past_the_end(journal: Journal) -> None:
    done = Done()
    async with CodeMode([crm_of(done)], journal=journal, tend=False) as host:
        outcome = await host.execute("await crm.rows(team='a')\n1")
        runs = await host.runs()
        other = await dry_replay(runs, outcome.execution_id, "await crm.rows(team='b')\n1")
        assert other.error is not None
        assert other.error.message == (
            'run again, the script asked for crm.rows({"team":"b"}) (call 1, line 1), where the journal has '
            'crm.rows({"team":"a"}) (call 1)'
        )
        past = await dry_replay(runs, outcome.execution_id, "await crm.rows(team='a')\nawait crm.note(text='x')")
        assert past.error is not None
        assert (past.error.kind, done.notes) == ("denied", [])
        assert "not in the journal behind this point" in past.error.message


async def test_one_that_waits_and_one_that_failed(journal: Journal) -> None:
    async with CodeMode([crm_of(Done())], journal=journal, policy=ASKS, tend=False) as host:
        runs = await host.runs()
        paused = await host.execute("await crm.rows(team='a')\nawait crm.note(text='x')")
        again = await dry_replay(runs, paused.execution_id)
        assert (again.status, [one.arguments for one in again.pending]) == ("paused", [{"text": "x"}])
        failed = await host.execute("await crm.rows(team='a')\n1 / 0")
        again = await dry_replay(runs, failed.execution_id)
        assert (again.error and again.error.kind, again.error and again.error.line) == ("exception", 2)
        assert (await runs.outcome(paused.execution_id)).status == "paused"
