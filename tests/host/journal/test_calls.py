"""Calls: started before they are made, ended before the script sees it, moved along one table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import get_args

import pytest
from tests.host.journal.support import LASTS, Clock, asked, created, started

from isolith.journal import (
    Answer,
    AskedBy,
    Call,
    Caps,
    DuplicateEntry,
    Journal,
    Lease,
    NewCall,
    Settings,
    TooLarge,
    UnknownEntry,
    WrongStatus,
)
from isolith.journal.digests import digest_of_call
from isolith.journal.statuses import CALL_MOVES, CallStatus

pytestmark = pytest.mark.anyio

STATUSES: tuple[CallStatus, ...] = get_args(CallStatus)


async def test_what_was_called_comes_back(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    new = NewCall(
        number=7,
        connector="crm",
        method="add",
        arguments='{"b":1,"a":"é"}',
        occurrence=2,
        pass_number=3,
        line=12,
        idempotency_key="key",
        repeatable=True,
        revertible=True,
    )
    (call,) = await journal.calls.start(lease, [new])
    for name in new.__slots__:
        assert getattr(call, name) == getattr(new, name)
    assert (call.status, call.attempts, call.asked, call.started_at, call.duration) == (
        "started",
        1,
        0,
        clock.now,
        None,
    )
    assert call.digest == digest_of_call("crm", "add", '{"a": "\\u00e9", "b": 1}')
    clock.advance(seconds=2)
    ended = await journal.calls.end(lease, 7, "completed", outcome='{"id":5}')
    assert (ended.status, ended.outcome, ended.error) == ("completed", '{"id":5}', None)
    assert ended.duration is not None
    assert ended.duration.total_seconds() == 2
    assert await journal.calls.get(lease.execution_id, 7) == ended
    assert await journal.calls.of(lease.execution_id) == [ended]


async def test_errors_are_outcomes(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease)
    await journal.calls.end(lease, 1, "failed", error='{"kind":"tool_error"}')
    call = await journal.calls.get(lease.execution_id, 1)
    assert (call.status, call.outcome, call.error) == ("failed", None, '{"kind":"tool_error"}')


async def test_an_outcome_is_written_once(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease)
    await journal.calls.end(lease, 1, "completed", outcome="1")
    with pytest.raises(WrongStatus, match=r"call 1 .* is completed"):
        await journal.calls.end(lease, 1, "completed", outcome="2")
    assert (await journal.calls.get(lease.execution_id, 1)).outcome == "1"


async def test_a_call_has_one_number_and_one_identity(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease, 1)
    with pytest.raises(DuplicateEntry):
        await started(journal, lease, 1, occurrence=1)
    same = NewCall(2, "crm", "add", '{ "id": 1 }')
    with pytest.raises(DuplicateEntry):
        await journal.calls.start(lease, [same])
    with pytest.raises(DuplicateEntry):  # one of a group that is refused: none is there
        await journal.calls.start(lease, [NewCall(3, "crm", "add", "{}"), same])
    assert [call.number for call in await journal.calls.of(lease.execution_id)] == [1]


async def test_a_large_outcome_is_kept_beside_its_call(journal: Journal, other: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease)
    large = json.dumps("é" * 200_000, ensure_ascii=False)
    assert (await journal.calls.end(lease, 1, "completed", outcome=large)).outcome == large
    assert (await other.calls.get(lease.execution_id, 1)).outcome == large
    assert [call.outcome for call in await other.calls.of(lease.execution_id)] == [None]
    assert [call.outcome for call in await other.calls.of(lease.execution_id, whole=True)] == [large]
    assert await journal.artifacts.of(lease.execution_id) == []


async def test_past_the_cap_nothing_is_written(url: str) -> None:
    async with await Journal.open(url, Settings(Caps(outcome=1000, given=500))) as journal:
        lease = await created(journal)
        with pytest.raises(TooLarge, match="arguments is larger than the 500 bytes"):
            await journal.calls.start(lease, [NewCall(1, "crm", "add", json.dumps("x" * 600))])
        await started(journal, lease)
        with pytest.raises(TooLarge, match="outcome"):
            await journal.calls.end(lease, 1, "completed", outcome=json.dumps("x" * 1001))
        assert (await journal.calls.get(lease.execution_id, 1)).status == "started"


async def test_what_a_database_cannot_hold_is_held(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease)
    ended = await journal.calls.end(lease, 1, "completed", outcome='"\\u0000 \ud800 \U0001f600"')
    assert ended.outcome == '"\\u0000 \\ud800 \U0001f600"'
    assert json.loads(ended.outcome) == "\0 \ud800 \U0001f600"
    await journal.executions.move(lease, "failed", reason="a\0b")
    assert (await journal.executions.get(lease.execution_id)).reason == "a\\u0000b"
    assert not (await journal.records.verify()).findings


PATHS: dict[CallStatus, list[str]] = {
    "pending_approval": ["ask"],
    "approved": ["ask", "approve"],
    "rejected": ["ask", "reject"],
    "expired": ["ask", "expire"],
    "started": ["start"],
    "unknown": ["start", "lose"],
    "completed": ["start", "completed"],
    "failed": ["start", "failed"],
    "cancelled": ["start", "cancelled"],
    "reverting": ["start", "completed", "revert"],
    "reverted": ["start", "completed", "revert", "reverted"],
    "revert_failed": ["start", "completed", "revert", "revert_failed"],
    "revert_unknown": ["start", "completed", "revert", "lose"],
}
"""The shortest way to each status."""


async def brought_to(journal: Journal, lease: Lease, status: CallStatus) -> Call:
    """Call 1, in this status."""
    calls, execution_id = journal.calls, lease.execution_id
    for step in PATHS[status]:
        if step == "ask":
            await asked(journal, lease, expires_at=datetime(2026, 1, 2, tzinfo=UTC))
        elif step in {"approve", "reject"}:
            digest = (await calls.get(execution_id, 1)).digest
            await journal.approvals.decide(Answer(execution_id, 1, digest, step, "bob"))  # type: ignore[arg-type]
        elif step == "start":
            await started(journal, lease)
        elif step == "lose":
            await calls.lose(lease)
        elif step == "revert":
            await calls.revert(lease, 1)
        elif step.startswith("revert"):
            await calls.end_revert(lease, 1, step)  # type: ignore[arg-type]
        elif step != "expire":
            await calls.end(lease, 1, step)  # type: ignore[arg-type]
    return await calls.get(execution_id, 1)


Way = Callable[[Lease], Awaitable[Call]]


@pytest.mark.parametrize("before", STATUSES)
async def test_every_move_is_of_the_table_or_refused(journal: Journal, clock: Clock, before: CallStatus) -> None:
    ways: dict[str, tuple[CallStatus, Way]] = {
        "begin": ("started", lambda lease: journal.calls.begin(lease, 1)),
        "repeat": ("started", lambda lease: journal.calls.repeat(lease, 1)),
        "complete": ("completed", lambda lease: journal.calls.end(lease, 1, "completed", outcome="2")),
        "fail": ("failed", lambda lease: journal.calls.end(lease, 1, "failed", error="{}")),
        "cancel": ("cancelled", lambda lease: journal.calls.end(lease, 1, "cancelled")),
        "ask": ("pending_approval", lambda lease: journal.calls.ask_again(lease, 1, reason="unknown")),
        "ask_anew": (
            "pending_approval",
            lambda lease: journal.calls.ask_again(lease, 1, reason="changed", by=AskedBy("two", "raise")),
        ),
        "put_off": ("pending_approval", lambda lease: journal.calls.put_off(lease, 1, reason="asks", question="{}")),
        "revert": ("reverting", lambda lease: journal.calls.revert(lease, 1)),
        "reverted": ("reverted", lambda lease: journal.calls.end_revert(lease, 1, "reverted")),
        "revert_failed": ("revert_failed", lambda lease: journal.calls.end_revert(lease, 1, "revert_failed")),
    }
    only = {
        "begin": {"approved"},
        "repeat": {"unknown"},
        "complete": {"started", "unknown"},
        "ask": {"unknown"},
        "ask_anew": {"approved"},
        "put_off": {"started"},
    }
    for name, (after, way) in ways.items():
        lease = await created(journal)
        call = await brought_to(journal, lease, before)
        if before == "expired":
            clock.now = datetime(2026, 1, 2, tzinfo=UTC)
            assert [decided.call.status for decided in await journal.approvals.expire()] == ["expired"]
            call = await journal.calls.get(lease.execution_id, 1)
        assert call.status == before
        if after in CALL_MOVES[before] and before in only.get(name, {before}):
            assert (await way(lease)).status == after
        else:
            with pytest.raises(WrongStatus, match=f"call 1 of {lease.execution_id} is {before}") as caught:
                await way(lease)
            assert caught.value.status == before
            assert await journal.calls.get(lease.execution_id, 1) == call


async def test_after_a_crash_what_was_under_way_is_unknown(journal: Journal) -> None:
    lease = await created(journal)
    for number in (1, 2, 3):
        await started(journal, lease, number, repeatable=number == 2)
    await journal.calls.end(lease, 1, "completed", outcome="1")
    assert [(call.number, call.status) for call in await journal.calls.lose(lease)] == [(2, "unknown"), (3, "unknown")]
    repeated = await journal.calls.repeat(lease, 2)
    assert (repeated.status, repeated.attempts) == ("started", 2)
    asked_again = await journal.calls.ask_again(lease, 3, reason="it may have happened")
    assert (asked_again.status, asked_again.asked) == ("pending_approval", 1)
    await journal.approvals.decide(Answer(lease.execution_id, 3, asked_again.digest, "approve", "bob"))
    assert (await journal.calls.begin(lease, 3)).attempts == 2


async def test_a_person_may_settle_what_is_unknown(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease)
    await journal.calls.lose(lease)
    assert (await journal.calls.end(lease, 1, "completed", outcome='"it did"')).status == "completed"


@pytest.mark.parametrize("given_up", ["cancelled", "failed"])
async def test_what_came_too_late_is_the_outcome_where_a_retry_takes_it(journal: Journal, given_up: str) -> None:
    lease = await created(journal)
    for number in (1, 2):
        await started(journal, lease, number)
        await journal.calls.end(lease, number, given_up)  # type: ignore[arg-type]
    large = f'"{"x" * 100_000}"'
    await journal.calls.arrive_late(lease.execution_id, 1, large)
    assert await journal.calls.came_late(lease.execution_id) == {1}
    with pytest.raises(WrongStatus, match="call 2"):  # nothing came of it
        await journal.calls.take_late(lease, [1, 2])
    await journal.calls.take_late(lease, [1])
    [first, second] = await journal.calls.of(lease.execution_id, whole=True)
    assert (first.status, first.outcome, second.status) == ("completed", large, given_up)
    with pytest.raises(WrongStatus):
        await journal.calls.take_late(lease, [1])
    assert not (await journal.records.verify()).findings


async def test_what_comes_too_late_is_kept_and_changes_nothing(journal: Journal) -> None:
    lease = await created(journal)
    await started(journal, lease, 1)
    await started(journal, lease, 2)
    await journal.calls.end(lease, 1, "cancelled")
    await journal.executions.move(lease, "cancelled")
    for number, status in ((1, "cancelled"), (2, "unknown")):
        call = await journal.calls.arrive_late(lease.execution_id, number, '"done"')
        assert (call.status, call.outcome, call.late) == (status, None, '"done"')
    done = await created(journal)
    await started(journal, done)
    await journal.calls.end(done, 1, "completed", outcome="1")
    with pytest.raises(WrongStatus):
        await journal.calls.arrive_late(done.execution_id, 1, "2")
    with pytest.raises(UnknownEntry):
        await journal.calls.arrive_late(done.execution_id, 9, "2")


async def test_nobody_calls_in_a_run_that_does_not_run(journal: Journal) -> None:
    lease = await created(journal)
    await asked(journal, lease)
    await journal.executions.move(lease, "paused")
    lease = await journal.leases.acquire(lease.execution_id, "host/1", LASTS)
    for attempt in (
        journal.calls.start(lease, [NewCall(2, "crm", "add", "{}")]),
        journal.calls.ask(lease, NewCall(2, "crm", "add", "{}"), reason=""),
        journal.calls.begin(lease, 1),
        journal.calls.repeat(lease, 1),
    ):
        with pytest.raises(WrongStatus, match="is paused: it makes no calls"):
            await attempt


async def test_many_at_once_are_committed_together_and_each_is_told_its_own(journal: Journal) -> None:
    lease = await created(journal)
    ok = [NewCall(number, "crm", "add", "{}", occurrence=number) for number in range(1, 101)]
    bad = NewCall(50, "crm", "other", "{}")
    attempts = [journal.calls.start(lease, [call]) for call in [*ok, bad]]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert [type(result) for result in results] == [list] * 100 + [DuplicateEntry]
    assert len(await journal.calls.of(lease.execution_id)) == 100
    assert not (await journal.records.verify()).findings


def test_a_digest_is_of_what_is_asked_for() -> None:
    same = digest_of_call("crm", "add", '{"a":[1,{"c":2,"b":3}]}')
    assert digest_of_call("crm", "add", '{ "a": [1, {"b": 3, "c": 2}] }') == same
    others = [
        digest_of_call("crm", "add", '{"a":[{"c":2,"b":3},1]}'),
        digest_of_call("crm", "adda", '{"a":[1,{"c":2,"b":3}]}'),
        digest_of_call("cr", "madd", '{"a":[1,{"c":2,"b":3}]}'),
        digest_of_call("crm", "add", '{"a":[1,{"c":2,"b":3.0}]}'),
    ]
    assert len({same, *others}) == 5


def test_a_digest_of_what_is_too_deep_to_be_read_is_of_its_text_on_every_python() -> None:
    deep = "[" * 1500 + "]" * 1500
    assert digest_of_call("crm", "add", deep) != digest_of_call("crm", "add", f" {deep}")
    deep = "[" * 100_000 + "]" * 100_000
    assert digest_of_call("crm", "add", deep) == digest_of_call("crm", "add", deep) != digest_of_call("crm", "x", deep)
