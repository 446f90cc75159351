"""Executions move along one table, compare-and-set; leases say who moves them."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import get_args

import pytest
from tests.host.journal.support import LASTS, Clock, asked, created, started

from isolith.journal import (
    Answer,
    DuplicateEntry,
    Filter,
    Journal,
    Leased,
    LeaseLost,
    NewCall,
    Order,
    TooLarge,
    UnknownEntry,
    WrongStatus,
)
from isolith.journal.statuses import EXECUTION_MOVES, FINAL, ExecutionStatus

pytestmark = pytest.mark.anyio

STATUSES: tuple[ExecutionStatus, ...] = get_args(ExecutionStatus)
PATHS: dict[ExecutionStatus, list[ExecutionStatus]] = {
    "running": [],
    "paused": ["paused"],
    **{status: [status] for status in ("completed", "failed", "cancelled", "rejected", "expired")},
    "rolled_back": ["completed", "rolled_back"],
}


async def test_what_was_ordered_comes_back(journal: Journal) -> None:
    order = Order(
        execution_id="e1",
        script="'naïve'\n",
        input='{"a":"é\\ud800"}',
        principal="u1",
        session="s1",
        budgets='{"cpu_ms":5}',
        catalogue_digest="c",
        image_digest="i",
        snippets='{"weekly":2}',
        origin='{"connect":["crm.py"]}',
        seed=b"\x00\xff" * 16,
        started_ns=1_795_000_000_123_456_789,
    )
    lease = await journal.executions.create(order, "host/1", LASTS)
    assert await journal.executions.order("e1") == order
    found = await journal.executions.get("e1")
    assert (found.status, found.principal, found.session, found.owner) == ("running", "u1", "s1", "host/1")
    assert (lease.owner, lease.fence) == ("host/1", 1)
    assert found.duration is None
    assert await journal.executions.outcome("e1") is None


async def test_an_id_is_taken_once(journal: Journal) -> None:
    await journal.executions.create(Order("e1", "1"), "host/1", LASTS)
    with pytest.raises(DuplicateEntry):
        await journal.executions.create(Order("e1", "2"), "host/2", LASTS)
    assert (await journal.executions.order("e1")).script == "1"
    with pytest.raises(ValueError, match="needs an id"):
        await journal.executions.create(Order("", "1"), "host/1", LASTS)


@pytest.mark.parametrize("before", STATUSES)
async def test_every_move_is_of_the_table_or_refused(journal: Journal, before: ExecutionStatus) -> None:
    for after in STATUSES:
        await move_or_be_refused(journal, before, after)


async def move_or_be_refused(journal: Journal, before: ExecutionStatus, after: ExecutionStatus) -> None:
    lease = await created(journal)
    await asked(journal, lease)
    for status in PATHS[before]:
        await journal.executions.move(lease, status)
        lease = await journal.leases.acquire(lease.execution_id, "host/1", LASTS)
    if after in EXECUTION_MOVES[before]:
        moved = await journal.executions.move(lease, after, reason="because", outcome='{"a":1}')
        assert (moved.status, moved.reason) == (after, "because")
        assert (moved.ended_at is not None) == (after in FINAL)
        assert await journal.executions.outcome(lease.execution_id) == '{"a":1}'
    else:
        with pytest.raises(WrongStatus) as caught:
            await journal.executions.move(lease, after)
        assert caught.value.status == before
        assert (await journal.executions.get(lease.execution_id)).status == before


async def test_whoever_ends_or_pauses_lets_go(journal: Journal) -> None:
    lease = await created(journal)
    await asked(journal, lease)
    paused = await journal.executions.move(lease, "paused")
    assert (paused.owner, paused.pending) == (None, 1)
    with pytest.raises(LeaseLost):
        await journal.executions.move(lease, "running")


async def test_no_call_stays_open_at_the_end(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease, 1)
    await asked(journal, lease, 2)
    await journal.approvals.decide(Answer(lease.execution_id, 1, call.digest, "approve", "bob"))
    await started(journal, lease, 3)
    await journal.executions.move(lease, "cancelled")
    statuses = [call.status for call in await journal.calls.of(lease.execution_id)]
    assert statuses == ["cancelled", "cancelled", "unknown"]


async def test_a_decision_that_came_before_the_pause_is_not_slept_through(journal: Journal, other: Journal) -> None:
    lease = await created(journal)
    first, second = await asked(journal, lease, 1), await asked(journal, lease, 2)
    await other.approvals.decide(Answer(lease.execution_id, 1, first.digest, "approve", "bob"))
    with pytest.raises(WrongStatus, match="approved meanwhile"):
        await journal.executions.move(lease, "paused")
    await journal.calls.begin(lease, 1)
    await journal.calls.end(lease, 1, "completed", outcome="1")
    await other.approvals.decide(Answer(lease.execution_id, 2, second.digest, "reject", "bob"))
    with pytest.raises(WrongStatus, match="waits for nobody"):
        await journal.executions.move(lease, "paused")


async def test_found_by_what_is_asked(journal: Journal, clock: Clock) -> None:
    leases = []
    for principal, session in (("u1", "s1"), ("u1", "s2"), ("u2", "s1")):
        leases.append(await created(journal, principal=principal, session=session))
        clock.advance(seconds=1)
    leases.append(await created(journal))
    await journal.executions.move(leases[1], "completed")
    ids = [lease.execution_id for lease in leases]

    async def found(which: Filter | None = None) -> list[int]:
        return [ids.index(execution.execution_id) for execution in await journal.executions.find(which)]

    assert await found() == [3, 2, 1, 0]
    assert await found(Filter(principal="u1")) == [1, 0]
    assert await found(Filter(any_principal=False)) == [3]
    assert await found(Filter(session="s1")) == [2, 0]
    assert await found(Filter(statuses={"completed", "failed"})) == [1]
    assert await found(Filter(limit=2)) == [3, 2]
    last = (await journal.executions.find(Filter(limit=2)))[-1]
    assert await found(Filter(before=last.created_at)) == [1, 0]


async def test_what_is_not_there(journal: Journal) -> None:
    for coroutine in (
        journal.executions.get("no"),
        journal.executions.order("no"),
        journal.executions.outcome("no"),
        journal.leases.acquire("no", "me", LASTS),
        journal.calls.get("no", 1),
        journal.records.head("no"),
        journal.records.verify("no"),
    ):
        with pytest.raises(UnknownEntry):
            await coroutine


async def test_one_worker_at_a_time(journal: Journal, other: Journal, clock: Clock) -> None:
    lease = await created(journal)
    with pytest.raises(Leased, match="host/1") as caught:
        await other.leases.acquire(lease.execution_id, "host/2", LASTS)
    assert caught.value.until == lease.expires_at
    assert await other.leases.abandoned() == []
    clock.advance(seconds=31)
    assert await other.leases.abandoned() == [lease.execution_id]
    await started(journal, lease, 1)  # expired, but nobody took over: it still holds
    taken = await other.leases.acquire(lease.execution_id, "host/2", LASTS)
    assert taken.fence == lease.fence + 1
    for late in (
        journal.calls.start(lease, [NewCall(2, "crm", "add", "{}")]),
        journal.calls.end(lease, 1, "completed", outcome="1"),
        journal.executions.move(lease, "completed"),
        journal.story.begin_pass(lease, "start"),
        journal.artifacts.keep(lease, b"", mime="text/plain"),
        journal.hibernations.put(lease, b"", image_digest="", pass_number=1),
        journal.calls.lose(lease),
    ):
        with pytest.raises(LeaseLost, match="stop"):
            await late
    assert await other.calls.lose(taken) == [await other.calls.get(lease.execution_id, 1)]


async def test_heartbeats_keep_what_is_ours_and_tell_what_is_not(
    journal: Journal, other: Journal, clock: Clock
) -> None:
    kept, lost, released = [await created(journal) for _ in range(3)]
    assert await journal.leases.release(released)
    assert not await journal.leases.release(released)
    clock.advance(seconds=20)
    (again,) = await journal.leases.renew([kept], LASTS)
    assert again.expires_at == clock.now + LASTS
    clock.advance(seconds=20)
    await other.leases.acquire(lost.execution_id, "host/2", LASTS)
    gone = type(lost)("gone", "host/1", 1, lost.expires_at)
    renewed = await journal.leases.renew([kept, lost, released, gone], timedelta(seconds=60))
    assert [lease.execution_id for lease in renewed] == [kept.execution_id]
    assert not await journal.leases.release(lost)


async def test_an_owner_is_no_exception(journal: Journal) -> None:
    lease = await created(journal)
    with pytest.raises(Leased):
        await journal.leases.acquire(lease.execution_id, lease.owner, LASTS)


async def test_of_many_who_take_over_one_gets_it(journal: Journal, other: Journal, clock: Clock) -> None:
    lease = await created(journal)
    clock.advance(seconds=31)
    attempts = [
        (journal if number % 2 else other).leases.acquire(lease.execution_id, f"host/{number}", LASTS)
        for number in range(10)
    ]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(result, Leased) for result in results) == 9


async def test_a_rollback_is_leased_and_found_again(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    await started(journal, lease, 1)
    await journal.calls.end(lease, 1, "completed", outcome="1")
    with pytest.raises(WrongStatus):
        await journal.executions.roll_back(lease, "under_way")
    await journal.executions.move(lease, "completed", outcome='"kept"')
    lease = await journal.leases.acquire(lease.execution_id, "host/1", LASTS)
    await journal.executions.roll_back(lease, "under_way")
    assert (await journal.calls.revert(lease, 1)).status == "reverting"
    clock.advance(seconds=31)
    assert await journal.leases.abandoned() == [lease.execution_id]
    lease = await journal.leases.acquire(lease.execution_id, "host/2", LASTS)
    assert [call.status for call in await journal.calls.lose(lease)] == ["revert_unknown"]
    await journal.calls.revert(lease, 1)
    await journal.calls.end_revert(lease, 1, "reverted")
    done = await journal.executions.roll_back(lease, "done")
    assert (done.status, done.rollback, done.owner) == ("rolled_back", "done", None)
    assert await journal.executions.outcome(lease.execution_id) == '"kept"'
    assert await journal.leases.abandoned() == []


async def test_a_partial_rollback_may_go_on(journal: Journal) -> None:
    lease = await created(journal)
    await journal.executions.move(lease, "failed")
    lease = await journal.leases.acquire(lease.execution_id, "host/1", LASTS)
    await journal.executions.roll_back(lease, "under_way")
    partial = await journal.executions.roll_back(lease, "partial")
    assert (partial.status, partial.rollback, partial.owner) == ("failed", "partial", None)
    lease = await journal.leases.acquire(lease.execution_id, "host/1", LASTS)
    assert (await journal.executions.roll_back(lease, "done")).status == "rolled_back"


async def test_what_is_too_large_is_refused_whole(journal: Journal) -> None:
    with pytest.raises(TooLarge, match="script"):
        await created(journal, script="é" * 1_100_000)
    assert await journal.executions.find() == []


async def test_parts_of_others_are_listed_only_where_they_wait(journal: Journal) -> None:
    for name, origin in (("run", "null"), ("a.b", '{"connect": []}')):
        await journal.executions.create(Order(name, "1", origin=origin), "host/1", LASTS)
    part = Order("run.1", "1", origin='{"within": "run", "snippet": ["s", 1]}')
    within = await journal.executions.create(part, "host/1", LASTS)
    assert {one.execution_id for one in await journal.executions.find()} == {"run", "run.1", "a.b"}
    whole = Filter(parts=False)
    assert {one.execution_id for one in await journal.executions.find(whole)} == {"run", "a.b"}
    await asked(journal, within)
    await journal.executions.move(within, "paused")
    assert {one.execution_id for one in await journal.executions.find(whole)} == {"run", "run.1", "a.b"}
