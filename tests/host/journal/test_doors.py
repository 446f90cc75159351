"""What front doors keep: events, keys of requests, tokens, and who asked to end what. Over both databases."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.host.journal.support import LASTS, asked, created

from isolith.journal import Answer, Filter, LeaseLost, Retention, UnknownEntry, WrongStatus
from isolith.journal.cancellations import Cancellation
from isolith.journal.door_tables import OF_AN_EXECUTION
from isolith.journal.events import MAX_BODY, Told
from isolith.journal.requests import LASTS as REMEMBERED
from isolith.journal.tokens import NewToken

if TYPE_CHECKING:
    from tests.host.journal.support import Clock

    from isolith.journal import Journal

pytestmark = pytest.mark.anyio


async def test_events_are_numbered_by_the_journal_over_all_who_tell(
    journal: Journal, other: Journal, clock: Clock
) -> None:
    lease = await created(journal)
    name = lease.execution_id
    told = [Told("log", clock(), f'{{"n": {n}}}') for n in range(3)]
    assert await journal.events.append(name, told, lease.fence) == 4
    assert await journal.events.append(name, told[:1], lease.fence) == 5
    assert [one.seq for one in await other.events.after(name, 3)] == [4, 5]
    assert (await other.events.after(name, 2, limit=1))[0] == Told("log", clock(), '{"n": 1}', 3)
    assert await journal.events.after("nobody", 0) == []
    clock.advance(minutes=5)
    later = await other.leases.acquire(name, "host/2", timedelta(seconds=30))
    with pytest.raises(LeaseLost):
        await journal.events.append(name, told, lease.fence)
    assert await other.events.append(name, told, later.fence) == 8
    with pytest.raises(UnknownEntry):
        await journal.events.append("e9", told, 1)


async def test_an_event_that_is_too_large_keeps_its_place(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    name = lease.execution_id
    large = Told("emit", clock(), f'"{"x" * MAX_BODY}"')
    await journal.events.append(name, [large, Told("log", clock(), "{}")], lease.fence)
    assert [(one.seq, one.body) for one in await journal.events.after(name, 1)] == [(2, '{"cut": true}'), (3, "{}")]


async def test_what_is_told_is_the_status(journal: Journal) -> None:
    lease = await created(journal)
    call = await asked(journal, lease)
    await journal.executions.move(lease, "paused")
    await journal.approvals.decide(Answer(lease.execution_id, 1, call.digest, "approve", "ada"))
    lease = await journal.leases.acquire(lease.execution_id, "host/2", LASTS)
    await journal.executions.move(lease, "running")
    await journal.executions.move(lease, "completed")
    lease = await journal.leases.acquire(lease.execution_id, "host/2", LASTS)
    await journal.executions.roll_back(lease, "done")
    told = await journal.events.after(lease.execution_id, 0)
    assert [(one.seq, one.name, json.loads(one.body).get("status")) for one in told] == [
        (1, "status", "running"),
        (2, "outcome", "paused"),
        (3, "decided", None),
        (4, "status", "running"),
        (5, "outcome", "completed"),
        (6, "outcome", "rolled_back"),
    ]


async def test_pages_leave_out_none_of_those_that_were_created_together(journal: Journal) -> None:
    ids = {(await created(journal)).execution_id for _ in range(5)}  # the clock stands still
    behind, found = None, list[str]()
    while page := await journal.executions.find(Filter(behind=behind, limit=2)):
        found += [one.execution_id for one in page]
        behind = (page[-1].created_at, page[-1].execution_id)
    assert (len(found), set(found)) == (5, ids)


async def test_what_doors_keep_of_an_execution_goes_with_it(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    name = lease.execution_id
    await journal.events.append(name, [Told("log", clock(), "{}")], lease.fence)
    await journal.cancellations.ask(name, "ada")
    await journal.executions.move(lease, "completed")
    assert (await journal.prune(Retention(count=0))).executions == (name,)
    assert await journal.events.after(name, 0) == []
    assert await journal.cancellations.asked({name}) == set()
    assert await journal.cancellations.of(name) is None
    assert {table.name for table in OF_AN_EXECUTION} == {"events"}


async def test_who_asked_to_end_a_run_is_seen_elsewhere(journal: Journal, other: Journal, clock: Clock) -> None:
    name = (await created(journal)).execution_id
    await asyncio.gather(*(one.cancellations.ask(name, "ada") for one in (journal, other, journal)))
    assert await other.cancellations.asked({name, "e2"}) == {name}
    assert await other.cancellations.asked(set()) == set()
    clock.advance(minutes=1)
    await other.cancellations.clear(name)
    await other.cancellations.clear("e9")
    assert await journal.cancellations.asked({name}) == set()
    with pytest.raises(UnknownEntry):
        await journal.cancellations.ask("e9", "ada")


async def test_who_asked_to_end_a_run_is_kept(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    name, first = lease.execution_id, clock()
    assert await journal.cancellations.of(name) is None
    await journal.cancellations.ask(name, "ada")
    clock.advance(minutes=1)
    await journal.cancellations.ask(name, "grace")  # it was asked already
    assert await journal.cancellations.of(name) == Cancellation("ada", first, None)
    await journal.cancellations.clear(name)
    clock.advance(minutes=1)
    await journal.cancellations.clear(name)
    assert await journal.cancellations.of(name) == Cancellation("ada", first, clock() - timedelta(minutes=1))
    await journal.cancellations.ask(name, "grace")
    assert await journal.cancellations.of(name) == Cancellation("grace", clock(), None)
    assert await journal.cancellations.asked({name}) == {name}
    assert [one.what for one in await journal.records.of(name)][2:] == [
        "cancellation asked for",
        "cancellation done with",
        "cancellation asked for",
    ]
    await journal.executions.move(lease, "completed")
    await journal.cancellations.clear(name)
    with pytest.raises(WrongStatus, match="completed: it has ended"):
        await journal.cancellations.ask(name, "eve")
    assert not (await journal.records.verify()).findings


async def test_a_key_is_claimed_once(journal: Journal, other: Journal, clock: Clock) -> None:
    hosts = [journal, other] * 4
    claims = await asyncio.gather(
        *(one.requests.claim("ada", "k", "d", f"e{number}") for number, one in enumerate(hosts))
    )
    assert len({claim.execution_id for claim in claims}) == 1
    assert [claim.fresh for claim in claims].count(True) == 1
    assert (await journal.requests.claim("grace", "k", "d", "e9")).fresh
    assert (await journal.requests.claim(None, "k", "d", "e10")).fresh
    clock.advance(seconds=REMEMBERED.total_seconds() + 1)
    assert (await journal.requests.claim("ada", "k", "other", "e11")).execution_id == "e11"


async def test_one_takes_over_a_key_whose_run_never_began(journal: Journal, other: Journal, clock: Clock) -> None:
    seen = await journal.requests.claim("ada", "k", "d", "e1")
    clock.advance(minutes=1)
    assert await other.requests.renew("ada", "k", seen)
    assert not await journal.requests.renew("ada", "k", seen)


async def test_a_key_that_is_given_back_is_claimed_anew(journal: Journal, other: Journal) -> None:
    await journal.requests.claim("ada", "k", "d", "e1")
    await other.requests.forget("ada", "k", "e2")  # it stands for another
    assert not (await journal.requests.claim("ada", "k", "d", "e3")).fresh
    await other.requests.forget("ada", "k", "e1")
    assert (await journal.requests.claim("ada", "k", "d", "e4")).execution_id == "e4"


async def test_tokens(journal: Journal, other: Journal, clock: Clock) -> None:
    until = clock() + timedelta(days=1)
    made = await journal.tokens.add(NewToken("t1", "ab", "ada", ("execute", "approve"), "root", until))
    assert (made.scopes, made.expires_at, made.used_at) == (("execute", "approve"), until, None)
    assert await other.tokens.get("t1") == made
    assert await other.tokens.get("t2") is None
    first = clock()
    await other.tokens.used("t1")
    clock.advance(seconds=30)
    await other.tokens.used("t1")
    assert [token.used_at for token in await journal.tokens.find()] == [first]
    clock.advance(seconds=31)
    await other.tokens.used("t1")
    assert [token.used_at for token in await journal.tokens.find()] == [clock()]
    revoked = await other.tokens.revoke("t1", "grace")
    assert (revoked.revoked_at, revoked.revoked_by) == (clock(), "grace")
    assert await journal.tokens.get("t1") == revoked
    with pytest.raises(WrongStatus, match="revoked by grace"):
        await journal.tokens.revoke("t1", "ada")
    with pytest.raises(UnknownEntry, match="isolith tokens list"):
        await journal.tokens.revoke("t9", "ada")
    assert (await journal.records.verify()).findings == ()
