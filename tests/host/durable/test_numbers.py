"""How calls are named: by the guest, by the journal, by people, and by what is called, when they are not made in order."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.crm import Done, crm_of

from isolith import Budgets, CallError, CodeMode
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio


class Desk(RecordingConnector):
    """Fails as long as it is told to, and remembers under which ids it was called."""

    def __init__(self) -> None:
        super().__init__("desk", dict.fromkeys(("get", "fail", "ask")))
        self.methods["ask"] = dataclasses.replace(self.methods["ask"], policy="ask")
        self.methods["fail"] = dataclasses.replace(self.methods["fail"], idempotent=True)
        self.made: list[tuple[str, str]] = []
        self.fails = True

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        self.made.append((method.name, context.call_id.rpartition(".")[2]))
        await asyncio.sleep(0)
        if method.name == "fail" and self.fails:
            raise CallError("tool_error", "not today")
        return arguments.get("n", method.name)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def host(desk: Desk, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode([desk], journal=tmp_path / "journal.db", tend=False) as made:
        yield made


async def test_calls_that_waited_their_turn_are_woken_under_their_own_numbers(host: CodeMode) -> None:
    """More than a connector takes at once, and a question behind them: they are started later than it is asked."""
    script = """
async def one(n):
    return [await desk.get(n=n), await desk.get(n=n + 10)]
await asyncio.gather(*[one(n) for n in range(6)], desk.ask(n=6), one(7))
"""
    paused = await host.execute(script, budgets=Budgets(concurrent_calls_per_connector=2))
    runs = await host.runs()
    assert [call.number for call in await runs.journal.calls.of(paused.execution_id)] == [*range(1, 16)]
    final = await host.approve(paused.execution_id, paused.pending[0].call_id)
    assert (final.error, final.value) == (None, [*([n, n + 10] for n in range(6)), 6, [7, 17]])
    assert [each.how for each in await runs.journal.story.passes(paused.execution_id)] == ["start", "wake"]


async def test_after_a_retry_people_are_told_the_numbers_of_the_journal(host: CodeMode, desk: Desk) -> None:
    failed = await host.execute("await desk.get()\nawait desk.fail()\nawait desk.ask()\nawait desk.get()")
    desk.fails = False
    runs = await host.runs()
    paused = await runs.retry(failed.execution_id)
    assert [one.call_id for one in paused.pending] == [one.call_id for one in await runs.pending()]
    calls = {f"{call.execution_id}.{call.number}": call for call in await runs.journal.calls.of(failed.execution_id)}
    assert [calls[one.call_id].method for one in paused.calls] == [one.method for one in paused.calls]
    final = await host.approve(paused.execution_id, paused.pending[0].call_id, digest=paused.pending[0].digest)
    assert final.status == "completed"
    # What takes the place of a call that failed has its key; all others have their own.
    assert desk.made == [("get", "1"), ("fail", "2"), ("fail", "2"), ("ask", "4"), ("get", "5")]


async def test_a_key_goes_from_each_retry_to_the_next_and_to_one_call_each(host: CodeMode, desk: Desk) -> None:
    script = "await asyncio.gather(desk.fail(), desk.fail(), return_exceptions=True)\nawait desk.fail()"
    outcome = await host.execute(script)
    runs = await host.runs()
    for _ in range(2):
        outcome = await runs.retry(outcome.execution_id)
        assert outcome.status == "failed"
    desk.fails = False
    outcome = await runs.retry(outcome.execution_id)
    assert outcome.status == "completed"
    rounds = [sorted(number for _, number in desk.made[at : at + 3]) for at in range(0, len(desk.made), 3)]
    assert all(each == rounds[0] for each in rounds)
    assert len(set(rounds[0])) == 3


async def test_what_a_snippet_did_in_a_retry_is_rolled_back(tmp_path: Path) -> None:
    """Its run is named by the call of the script, whatever number the journal gave that."""
    done, desk = Done(), Desk()
    async with CodeMode([crm_of(done), desk], journal=tmp_path / "journal.db", tend=False) as host:
        proven = await host.execute("await crm.note(text=input['text'])", input={"text": "proven"})
        made = await host.snippets.propose(proven.execution_id, "keep", "Keep a note", who="ada")
        await host.snippets.approve("keep", made.version, who="bob")
        failed = await host.execute("await desk.fail()\nawait snippets.keep(text='mine')")
        desk.fails = False
        runs = await host.runs()
        outcome = await runs.retry(failed.execution_id)
        assert (outcome.status, done.notes) == ("completed", ["proven", "mine"])
        back = await host.rollback(outcome.execution_id)
        assert (back.status, done.notes) == ("rolled_back", ["proven"])
        assert [one.status for one in back.calls] == ["completed", "reverted"]
