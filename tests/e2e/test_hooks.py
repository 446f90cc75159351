"""Whoever holds something for a pass, or for an execution, is told of each end once, whichever it is."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.e2e.desk import NO_ENDS_IT, Desk

from isolith import Budgets, CodeMode
from isolith.durable.ledger import LEASE
from isolith.journal import Journal, NewCall, Order, Settings
from isolith.run import gradual

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from isolith.outcome import Outcome

pytestmark = pytest.mark.anyio


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def host(desk: Desk, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with desk.host(tmp_path) as made:
        yield made


async def closed(host: CodeMode) -> None:
    """All ends have been told when it is closed."""
    await host.aclose()


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("await desk.look()", "completed"),
        ("await desk.fail()", "failed"),
        ("await desk.hang()", "failed"),
        ("not a script at all", "failed"),
        ("import os\nos.abort()", "failed"),
    ],
)
async def test_a_run_that_ends_by_itself(host: CodeMode, desk: Desk, script: str, status: str) -> None:
    outcome = await host.execute(script, budgets=Budgets(wall_s=2.0 if "hang" in script else 60))
    await closed(host)
    assert (outcome.status, desk.told(outcome.execution_id), desk.upstream) == (status, (1, 1), {})


async def test_one_that_is_cancelled(host: CodeMode, desk: Desk) -> None:
    execution = host.start("await desk.hang()")
    async for event in execution.events():
        if event["event"] == "call_started":
            execution.cancel()
    await closed(host)
    assert (await execution.outcome()).status == "cancelled"
    assert (desk.told(execution.execution_id), desk.upstream) == ((1, 1), {})


async def test_one_that_is_closed_with_its_host(host: CodeMode, desk: Desk) -> None:
    execution = host.start("await desk.hang()")
    await closed(host)
    assert desk.told(execution.execution_id) == (1, 1)


async def approved(host: CodeMode, paused: Outcome) -> Outcome:
    return await host.approve(paused.execution_id, paused.pending[0].call_id)


async def rejected(host: CodeMode, paused: Outcome) -> Outcome:
    return await host.reject(paused.execution_id, paused.pending[0].call_id)


async def cancelled(host: CodeMode, paused: Outcome) -> Outcome:
    return await (await host.runs()).cancel(paused.execution_id)


@pytest.mark.parametrize(
    ("end", "status", "passes"), [(approved, "completed", 2), (rejected, "rejected", 2), (cancelled, "cancelled", 2)]
)
async def test_one_that_was_paused(
    host: CodeMode, desk: Desk, end: Callable[[CodeMode, Outcome], Awaitable[Outcome]], status: str, passes: int
) -> None:
    paused = await host.execute("await desk.look()\nawait desk.ask()")
    assert desk.told(paused.execution_id) == (1, 0)
    assert desk.upstream[paused.execution_id] == ["look"]  # what is there for the execution stays
    outcome = await end(host, paused)
    await closed(host)
    assert (outcome.status, desk.told(paused.execution_id), desk.upstream) == (status, (passes, 1), {})


async def test_one_that_expired(desk: Desk, tmp_path: Path) -> None:
    now = [datetime.now(UTC)]
    async with (
        await Journal.open(f"sqlite:///{tmp_path / 'journal.db'}", Settings(clock=lambda: now[0])) as journal,
        CodeMode([desk], policy=NO_ENDS_IT, journal=journal, tend=False) as host,
    ):
        paused = await host.execute("await desk.ask()")
        now[0] += timedelta(days=8)
        [outcome] = await (await host.runs()).expire()
    assert (outcome.status, desk.told(paused.execution_id)) == ("expired", (2, 1))


async def test_one_that_is_taken_over_from_a_host_that_stopped(host: CodeMode, desk: Desk) -> None:
    runs = await host.runs()
    order = Order("left", "await desk.look()\nawait desk.look()", budgets=Budgets().model_dump_json(), seed=b"s" * 32)
    lease = await runs.journal.executions.create(order, "host/0", LEASE)
    await runs.journal.calls.start(lease, [NewCall(1, "desk", "look", "{}", idempotency_key="k", repeatable=True)])
    await runs.journal.leases.release(lease)
    outcome = await runs.take_over("left")
    await closed(host)
    assert outcome.error is None
    assert (outcome.status, desk.told("left"), desk.upstream) == ("completed", (1, 1), {})


async def test_one_that_is_tried_again_or_rolled_back_ends_once_more(host: CodeMode, desk: Desk) -> None:
    failed = await host.execute("await desk.look()\nawait desk.fail()")
    desk.failing = False
    runs = await host.runs()
    assert (await runs.retry(failed.execution_id)).status == "completed"
    paused = await host.execute("await desk.ask()")
    done = await approved(host, paused)
    assert (await host.rollback(done.execution_id)).status == "rolled_back"
    await closed(host)
    assert (desk.told(failed.execution_id), desk.told(done.execution_id)) == ((2, 2), (3, 2))


async def test_one_that_hangs_holds_up_no_other(host: CodeMode, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradual, "HOOK_S", 0.01)

    async def never(_execution_id: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(desk, "pass_ended", never)
    outcome = await host.execute("await desk.look()")
    await closed(host)
    assert (outcome.status, desk.executions) == ("completed", [outcome.execution_id])
