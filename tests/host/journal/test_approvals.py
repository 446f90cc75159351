"""Decisions: bound to what was seen, single use, one winner, and the loser is told."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests.host.journal.support import LASTS, Clock, asked, created, started

from isolith.journal import (
    AlreadyDecided,
    Answer,
    AskedBy,
    Call,
    Decided,
    DigestMismatch,
    Journal,
    NewCall,
    NewGrant,
    UnknownEntry,
    WrongStatus,
)

pytestmark = pytest.mark.anyio

DECIDER = Path(__file__).with_name("decider.py")


def answer(call: Call, verdict: str = "approve", who: str = "bob", **parts: str) -> Answer:
    return Answer(call.execution_id, call.number, call.digest, verdict, who, **parts)  # type: ignore[arg-type]


async def test_approved_calls_are_made_once(journal: Journal, other: Journal, clock: Clock) -> None:
    lease = await created(journal)
    call = await asked(journal, lease, effect="deletes 1 contact")
    assert (call.status, call.reason, call.effect) == ("pending_approval", "policy", "deletes 1 contact")
    assert await other.approvals.pending() == [call]
    with pytest.raises(WrongStatus, match="is pending_approval"):
        await journal.calls.begin(lease, 1)
    clock.advance(seconds=5)
    decided = await other.approvals.decide(answer(call, reason="fine"))
    assert (decided.decision.who, decided.decision.at, decided.decision.reason) == ("bob", clock.now, "fine")
    assert (decided.call.status, decided.execution.status, decided.execution.pending) == ("approved", "running", 0)
    assert decided.execution.owner == "host/1"
    assert await other.approvals.pending() == []
    begun = await journal.calls.begin(lease, 1)
    assert (begun.status, begun.edited_arguments) == ("started", None)
    (decision,) = await journal.approvals.decisions(lease.execution_id)
    assert decision.spent_at == clock.now
    with pytest.raises(WrongStatus, match="is started"):
        await journal.calls.begin(lease, 1)


async def test_an_edit_is_what_is_sent(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    await journal.approvals.decide(answer(call, arguments='{"id":2}'))
    begun = await journal.calls.begin(lease, 1)
    assert (begun.arguments, begun.edited_arguments, begun.digest) == ('{"id":1}', '{"id":2}', call.digest)
    with pytest.raises(ValueError, match="only an approval"):
        await journal.approvals.decide(answer(call, "reject", arguments="{}"))


async def test_a_rejection_ends_the_call(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    clock.advance(seconds=1)
    decided = await journal.approvals.decide(answer(call, "reject", reason="not this one"))
    assert (decided.call.status, decided.call.ended_at) == ("rejected", clock.now)
    assert (decided.decision.verdict, decided.decision.reason) == ("reject", "not this one")


async def test_an_answer_about_something_else_decides_nothing(journal: Journal) -> None:
    lease = await created(journal)
    first, second = await asked(journal, lease, 1), await asked(journal, lease, 2)
    with pytest.raises(DigestMismatch, match="look again"):
        await journal.approvals.decide(Answer(lease.execution_id, 2, first.digest, "approve", "bob"))
    assert await journal.approvals.pending(lease.execution_id) == [first, second]
    for wrong in (Answer("no", 1, first.digest, "approve", "bob"), Answer(lease.execution_id, 9, "", "approve", "bob")):
        with pytest.raises(UnknownEntry):
            await journal.approvals.decide(wrong)


async def test_the_second_is_told_who_was_first(journal: Journal, other: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    first = await journal.approvals.decide(answer(call, who="ann"))
    await journal.calls.begin(lease, 1)
    with pytest.raises(
        AlreadyDecided, match="already approved by ann at 2026-01-01 00:00:00 UTC; it is started"
    ) as caught:
        await other.approvals.decide(answer(call, "reject", "eve"))
    assert caught.value.decision is not None
    assert caught.value.decision.who == first.decision.who
    assert caught.value.call.status == "started"
    assert len(await journal.approvals.decisions(lease.execution_id)) == 1
    await started(journal, lease, 2)
    with pytest.raises(AlreadyDecided, match="not waiting for a decision: it is started") as caught:
        await journal.approvals.decide(Answer(lease.execution_id, 2, "", "approve", "bob"))
    assert caught.value.decision is None


async def test_a_decision_is_not_for_the_next_round(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    await journal.approvals.decide(answer(call, who="ann"))
    await journal.calls.begin(lease, 1)
    await journal.calls.lose(lease)
    again = await journal.calls.ask_again(lease, 1, reason="it may have happened")
    assert again.asked == 2
    with pytest.raises(WrongStatus):
        await journal.calls.begin(lease, 1)
    await journal.approvals.decide(answer(again, who="bob"))
    await journal.calls.begin(lease, 1)
    decisions = await journal.approvals.decisions(lease.execution_id)
    assert [(decision.round, decision.who, decision.spent_at is not None) for decision in decisions] == [
        (1, "ann", True),
        (2, "bob", True),
    ]


async def test_five_decided_by_two_in_any_order_and_one_sees_the_last(journal: Journal, other: Journal) -> None:
    lease = await created(journal)
    calls = [await asked(journal, lease, number) for number in range(1, 6)]
    await journal.executions.move(lease, "paused")
    attempts = [
        side.approvals.decide(answer(call, who="ann" if side is journal else "bob"))
        for call in calls
        for side in (journal, other)
    ]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    won = [result for result in results if isinstance(result, Decided)]
    lost = [result for result in results if isinstance(result, AlreadyDecided)]
    assert (len(won), len(lost)) == (5, 5)
    assert sorted(decided.execution.pending for decided in won) == [0, 1, 2, 3, 4]
    winners = {decided.call.number: decided.decision.who for decided in won}
    for error in lost:
        assert error.decision is not None
        assert error.decision.who == winners[error.call.number]


class Racer:
    """A reviewer in a process of its own."""

    def __init__(self, url: str, who: str, verdict: str) -> None:
        command = [sys.executable, str(DECIDER), url, who, verdict]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin, self.process.stdout

    def end(self) -> list[str]:
        """What it says from now on; when it has ended."""
        with self.output:
            lines = self.output.readlines()
        assert self.process.wait() == 0
        return lines


async def test_two_processes_race_for_every_decision(journal: Journal, url: str) -> None:
    lease = await created(journal)
    calls = [await asked(journal, lease, number) for number in range(1, 31)]
    orders = "\n".join(json.dumps([call.execution_id, call.number, call.digest]) for call in calls)
    racers = {who: Racer(url, who, verdict) for who, verdict in (("ann", "approve"), ("bob", "reject"))}
    for racer in racers.values():
        assert await asyncio.to_thread(racer.output.readline) == "ready\n"
    for racer in racers.values():
        racer.input.write(orders)
        racer.input.close()
    said: dict[str, dict[int, list[str]]] = {}
    for who, racer in racers.items():
        lines = await asyncio.to_thread(racer.end)
        said[who] = {number: rest for number, *rest in map(json.loads, lines)}
    statuses = {"ann": "approved", "bob": "rejected"}
    for call in await journal.calls.of(lease.execution_id):
        ann, bob = said["ann"][call.number], said["bob"][call.number]
        assert {ann[0], bob[0]} == {"won", "lost"}
        winner = "ann" if ann[0] == "won" else "bob"
        assert ann[1:] == bob[1:] == [winner, statuses[winner]]
        assert call.status == statuses[winner]
    assert len(await journal.approvals.decisions(lease.execution_id)) == 30
    assert not (await journal.records.verify()).findings


async def test_nobody_in_time_is_an_answer_too(journal: Journal, other: Journal, clock: Clock) -> None:
    lease = await created(journal, principal="u1")
    late = await asked(journal, lease, 1, expires_at=clock.now + timedelta(hours=1))
    await asked(journal, lease, 2, expires_at=clock.now + timedelta(hours=3))
    await asked(journal, lease, 3)
    await journal.executions.move(lease, "paused")
    assert await journal.approvals.expire() == []
    clock.advance(hours=1)
    both = await asyncio.gather(journal.approvals.expire(), other.approvals.expire())
    (decided,) = both[0] + both[1]
    assert (decided.call.number, decided.call.status, decided.decision.verdict) == (1, "expired", "expire")
    with pytest.raises(AlreadyDecided, match="already expired by isolith"):
        await journal.approvals.decide(answer(late))
    assert [call.number for call in await journal.approvals.pending(principal="u1")] == [2, 3]
    assert await journal.approvals.pending(principal="u2") == []


async def test_a_grant_answers_so_many_times(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    waits = await asked(journal, lease, 1)
    grant = await journal.grants.give(NewGrant("crm", "delete", "ann", 2, timedelta(hours=1), reason="cleaning up"))
    assert [(await asked(journal, lease, number)).status for number in (2, 3, 4)] == [
        "approved",
        "approved",
        "pending_approval",
    ]
    assert (await journal.calls.get(lease.execution_id, 1)) == waits
    decisions = await journal.approvals.decisions(lease.execution_id)
    assert [(d.number, d.who, d.grant_id, d.reason) for d in decisions] == [
        (2, "ann", grant.grant_id, "cleaning up"),
        (3, "ann", grant.grant_id, "cleaning up"),
    ]
    assert (await journal.calls.begin(lease, 2)).status == "started"
    assert await journal.grants.find() == []
    assert [found.uses_left for found in await journal.grants.find(spent=True)] == [0]
    assert not (await journal.records.verify()).findings


async def test_a_grant_covers_its_kind_and_no_other(journal: Journal, clock: Clock) -> None:
    lease = await created(journal, principal="u1")
    mine = lease.execution_id

    async def covered(connector: str, method: str, **parts: str) -> bool:
        grant = await journal.grants.give(NewGrant(connector, method, "ann", 1, timedelta(hours=1), **parts))
        number = len(await journal.calls.of(mine)) + 1
        status = (await asked(journal, lease, number)).status
        if status == "pending_approval":
            await journal.grants.revoke(grant.grant_id, "ann")
        return status == "approved"

    assert await covered("crm", "delete")
    assert await covered("crm", "*")
    assert await covered("crm", "delete", principal="u1", execution_id=mine)
    assert not await covered("crm", "list")
    assert not await covered("mail", "*")
    assert not await covered("crm", "delete", principal="u2")
    assert not await covered("crm", "delete", execution_id="other")
    grant = await journal.grants.give(NewGrant("crm", "delete", "ann", 9, timedelta(hours=1)))
    clock.advance(hours=1)
    assert (await asked(journal, lease, 50)).status == "pending_approval"
    with pytest.raises(WrongStatus, match="revoked by ann"):
        await journal.grants.revoke((await journal.grants.revoke(grant.grant_id, "ann")).grant_id, "bob")
    with pytest.raises(UnknownEntry):
        await journal.grants.revoke("no", "bob")
    for uses, lasts in ((0, LASTS), (1, timedelta())):
        with pytest.raises(ValueError, match="at least one use"):
            await journal.grants.give(NewGrant("crm", "*", "ann", uses, lasts))


async def test_the_last_use_of_a_grant_is_had_once(journal: Journal, other: Journal) -> None:
    await journal.grants.give(NewGrant("crm", "delete", "ann", 3, timedelta(hours=1)))
    leases = [await created(side) for side in (journal, other)]
    new = [NewCall(number, "crm", "delete", "{}", occurrence=number) for number in range(5)]
    attempts = [
        side.calls.ask(lease, call, reason="")
        for call in new
        for side, lease in zip((journal, other), leases, strict=True)
    ]
    statuses = [call.status for call in await asyncio.gather(*attempts)]
    assert statuses.count("approved") == 3
    assert statuses.count("pending_approval") == 7


async def test_a_grant_comes_with_its_answer_or_not_at_all(journal: Journal) -> None:
    lease = await created(journal)
    first, second = await asked(journal, lease, 1), await asked(journal, lease, 2)
    grant = NewGrant("crm", "delete", "ann", 1, timedelta(hours=1))
    with pytest.raises(DigestMismatch):
        await journal.approvals.decide(Answer(lease.execution_id, 1, second.digest, "approve", "ann"), grant)
    nothing = NewGrant("crm", "delete", "ann", 0, timedelta(hours=1))
    with pytest.raises(ValueError, match="at least one use"):
        await journal.approvals.decide(answer(first), nothing)
    with pytest.raises(ValueError, match="only an approval"):
        await journal.approvals.decide(answer(first, "reject"), grant)
    assert await journal.grants.find() == []
    assert [call.status for call in await journal.approvals.pending()] == ["pending_approval"] * 2
    await journal.approvals.decide(answer(first, who="ann"), grant)
    assert [(found.who, found.uses_left) for found in await journal.grants.find()] == [("ann", 1)]
    assert [call.number for call in await journal.approvals.pending()] == [2]  # asked about before
    assert [(await asked(journal, lease, number)).status for number in (3, 4)] == ["approved", "pending_approval"]


async def test_an_answer_to_one_round_is_none_to_the_next(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    await journal.approvals.decide(dataclasses.replace(answer(call, who="ann"), asked=1))
    await journal.calls.begin(lease, 1)
    await journal.calls.lose(lease)
    again = await journal.calls.ask_again(lease, 1, reason="it may have happened")
    with pytest.raises(AlreadyDecided, match="already approved by ann") as caught:
        await journal.approvals.decide(dataclasses.replace(answer(again, who="eve"), asked=1))
    assert caught.value.decision is not None
    assert caught.value.decision.round == 1
    await journal.approvals.decide(dataclasses.replace(answer(again, who="bob"), asked=2))


async def test_what_a_no_comes_to_is_kept_with_the_question(journal: Journal) -> None:
    lease = await created(journal)
    new = NewCall(1, "crm", "delete", "{}", on_rejection="end")
    assert (await journal.calls.ask(lease, new, reason="policy")).on_rejection == "end"
    assert (await asked(journal, lease, 2)).on_rejection == "raise"


async def test_what_was_written_in_place_of_the_arguments_stays_when_it_is_asked_about_again(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    await journal.approvals.decide(dataclasses.replace(answer(call, who="ann"), arguments='{"id":7}'))
    await journal.calls.begin(lease, 1)
    await journal.calls.lose(lease)
    again = await journal.calls.ask_again(lease, 1, reason="it may have happened")
    assert again.edited_arguments == '{"id":7}'  # so it is shown, and so it is allowed
    decided = await journal.approvals.decide(answer(again, who="bob"))
    assert decided.call.edited_arguments == '{"id":7}'
    assert (await journal.calls.begin(lease, 1)).edited_arguments == '{"id":7}'


async def test_another_policy_asks_again_and_the_decision_before_is_not_spent(journal: Journal) -> None:
    lease = await created(journal)
    new = NewCall(1, "crm", "delete", "{}", policy="one")
    call = await journal.calls.ask(lease, new, reason="policy")
    await journal.approvals.decide(answer(call, who="ann"))
    again = await journal.calls.ask_again(lease, 1, reason="changed", by=AskedBy("two", "end"))
    assert (again.status, again.asked, again.policy, again.on_rejection) == ("pending_approval", 2, "two", "end")
    with pytest.raises(WrongStatus):
        await journal.calls.begin(lease, 1)
    with pytest.raises(WrongStatus):  # nobody has allowed it yet
        await journal.calls.ask_again(lease, 1, reason="changed", by=AskedBy("three", "end"))
    await journal.approvals.decide(answer(again, who="bob"))
    await journal.calls.begin(lease, 1)
    decisions = await journal.approvals.decisions(lease.execution_id)
    assert [(one.who, one.policy, one.spent_at is None) for one in decisions] == [
        ("ann", "one", True),
        ("bob", "two", False),
    ]
