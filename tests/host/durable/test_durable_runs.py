"""Whoever takes up a run knows it as it stands: what has moved on meanwhile is left alone, and nobody's lease is left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import structlog.testing
from tests.host.journal.support import created

from isolith import CodeMode, connector, method
from isolith.durable import durable_runs
from isolith.durable.history import load_history
from isolith.durable.ledger import LEASE
from isolith.journal.errors import Leased, WrongStatus
from isolith.journal.leases import Leases

if TYPE_CHECKING:
    from isolith.durable.history import History
    from isolith.journal import Journal

pytestmark = pytest.mark.anyio


async def standing(journal: Journal, execution_id: str) -> tuple[str, str | None]:
    """Its status, and who works on it."""
    execution = await journal.executions.get(execution_id)
    return execution.status, execution.owner


async def test_who_cancels_what_has_ended_is_told_and_holds_up_nobody(journal: Journal) -> None:
    lease = await created(journal)
    await journal.executions.move(lease, "completed")
    async with CodeMode(journal=journal, tend=False) as code_mode:
        runs = await code_mode.runs()
        with pytest.raises(WrongStatus, match="is completed: it has ended"):
            await runs.cancel(lease.execution_id)
    assert await standing(journal, lease.execution_id) == ("completed", None)


@pytest.mark.parametrize("status", ["failed", "cancelled"])
async def test_what_has_ended_since_it_was_listed_is_not_taken_over(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    lease = await created(journal)
    await journal.executions.move(lease, status)  # type: ignore[arg-type]

    async def listed(_: Leases) -> list[str]:
        return [lease.execution_id]

    monkeypatch.setattr(Leases, "abandoned", listed)
    async with CodeMode(journal=journal, tend=False) as code_mode:
        assert await (await code_mode.runs()).recover() == []
    assert await standing(journal, lease.execution_id) == (status, None)


async def test_what_ends_while_it_is_read_is_not_taken_over(
    journal: Journal, other: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = await created(journal)
    await journal.leases.release(lease)

    async def cancelled_meanwhile(journal: Journal, execution_id: str) -> History:
        history = await load_history(journal, execution_id)
        held = await other.leases.acquire(execution_id, "other/1", LEASE)
        await other.executions.move(held, "cancelled")
        return history

    monkeypatch.setattr(durable_runs, "load_history", cancelled_meanwhile)
    async with CodeMode(journal=journal, tend=False) as code_mode:
        with pytest.raises(WrongStatus, match="is cancelled now"):
            await (await code_mode.runs()).take_over(lease.execution_id)
    assert await standing(journal, lease.execution_id) == ("cancelled", None)


async def test_the_journal_keeps_who_had_a_run_end(journal: Journal, other: Journal) -> None:
    """One that runs here, one that waits, one that another host works on."""

    @connector("desk")
    class Desk:
        @method(policy="ask")
        async def ask(self) -> None:
            """A person answers."""

        async def hang(self) -> None:
            """Give no answer."""
            asked.set()
            await asyncio.Event().wait()

    asked = asyncio.Event()
    async with CodeMode([Desk], journal=journal, tend=False) as here:
        runs = await here.runs()
        execution = here.start("await desk.hang()")
        await asked.wait()
        assert (await runs.cancel(execution.execution_id, who="ada")).status == "cancelled"
        paused = await here.execute("await desk.ask()")
        assert (await runs.cancel(paused.execution_id, who="grace")).status == "cancelled"
        elsewhere = (await created(other)).execution_id
        with pytest.raises(Leased):
            await runs.cancel(elsewhere, who="eve")
    found = [await journal.cancellations.of(name) for name in (execution.execution_id, paused.execution_id, elsewhere)]
    assert [(one.who, one.ended_at is None) for one in found if one is not None] == [
        ("ada", False),
        ("grace", False),
        ("eve", True),
    ]
    assert not (await journal.records.verify()).findings


async def test_a_run_that_was_left_with_a_guest_that_nobody_can_wake_is_replayed(journal: Journal) -> None:
    """Its host stopped between putting it away and saying so, and this one is of another version."""
    lease = await created(journal, seed=bytes(32))
    await journal.hibernations.put(lease, b"of another version", image_digest="i", pass_number=1)
    await journal.leases.release(lease)
    async with CodeMode(journal=journal, tend=False) as code_mode:
        [outcome] = await (await code_mode.runs()).recover()
    assert (outcome.status, outcome.value) == ("completed", 2)


async def test_a_run_that_cannot_be_read_keeps_nobody_from_the_others(journal: Journal) -> None:
    """Whoever looks after the journal would stop at it, each time."""
    lease = await created(journal, budgets="of a later version", seed=bytes(32))
    for each in (lease, await created(journal, seed=bytes(32))):
        await journal.leases.release(each)
    async with CodeMode(journal=journal, tend=False) as code_mode:
        with structlog.testing.capture_logs() as logs:
            runs = await code_mode.runs()
            [outcome] = await runs.recover()
            assert await standing(journal, lease.execution_id) == ("running", None)
            assert await runs.recover() == []
    assert (outcome.status, outcome.value) == ("completed", 2)
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["internal error"]
