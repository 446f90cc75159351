"""Writers that are killed: lives of one execution, step by step, each step one commit; and a flood of calls.

crasher.py URL each ID       a process for each step and each side of its commit, killed there; the next goes on
crasher.py URL beside ID     the same with what people keep beside executions: grants, snippets, tokens
crasher.py URL doors ID      the same with what front doors and hosts keep: events, keys of requests, leases, retention
crasher.py URL open SIDE     one that is killed while it opens the journal, before or after its commit
crasher.py URL flood ID      writes calls, many at once, and names each that was acknowledged

Each process that is killed says before which commit, or after which, and of which method.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import inspect
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from isolith.journal import (
    Answer,
    Delivery,
    Journal,
    Lease,
    LogLine,
    NewCall,
    NewGrant,
    NewSnippet,
    Order,
    Retention,
    door_tables,
)
from isolith.journal.dialects import Postgres, SQLite
from isolith.journal.digests import digest_of_call
from isolith.journal.events import Told
from isolith.journal.queries import all_rows
from isolith.journal.store import Store
from isolith.journal.times import to_micros
from isolith.journal.tokens import NewToken

if TYPE_CHECKING:
    from types import CodeType

    from sqlalchemy import Connection

LASTS = timedelta(minutes=10)
"""A life of one that is killed at each step takes its time: what is for long has to be far longer than that."""
VARIES = {"execution_id", "principal", "grant_id", "handle", "outcome_handle", "at", "duration_ms"}.union(
    ("hash", "previous", "body")
)


@dataclass
class Life:
    """One execution in one process."""

    journal: Journal
    execution_id: str
    fence: int = 0

    @property
    def held(self) -> Lease:
        return Lease(self.execution_id, "host/1", self.fence, datetime.now(UTC))

    async def create(self) -> None:
        self.fence = (await self.journal.executions.create(Order(self.execution_id, "1 + 1"), "host/1", LASTS)).fence

    async def acquire(self) -> None:
        self.fence = (await self.journal.leases.acquire(self.execution_id, "host/1", LASTS)).fence

    async def decide(self, verdict: str) -> None:
        digest = digest_of_call("crm", "delete", "{}")
        await self.journal.approvals.decide(Answer(self.execution_id, 3, digest, verdict, "bob"))  # type: ignore[arg-type]


Step = Callable[[Life], Awaitable[object]]
TWO = [NewCall(1, "crm", "add", "{}"), NewCall(2, "crm", "list", "{}", repeatable=True)]
STEPS: list[Step] = [
    Life.create,
    lambda life: life.journal.story.begin_pass(life.held, "start"),
    lambda life: life.journal.calls.start(life.held, TWO[:1]),
    lambda life: life.journal.calls.start(life.held, TWO[1:]),
    lambda life: life.journal.calls.end(life.held, 1, "completed", outcome=f'"{"x" * 100_000}"'),
    lambda life: life.journal.calls.end(life.held, 2, "failed", error='{"kind":"tool_error"}'),
    lambda life: life.journal.story.deliver(life.held, Delivery(1, 1, (2, 1), "[]")),
    lambda life: life.journal.story.log(life.held, [LogLine(1, 1, "info", "a"), LogLine(2, 1, "info", "b")]),
    lambda life: life.journal.artifacts.keep(life.held, b"x" * 10_000, mime="text/plain"),
    lambda life: life.journal.calls.ask(life.held, NewCall(3, "crm", "delete", "{}"), reason="policy"),
    lambda life: life.journal.hibernations.put(life.held, b"x" * 1_000_000, image_digest="i", pass_number=1),
    lambda life: life.journal.executions.move(life.held, "paused"),
    lambda life: life.decide("approve"),
    Life.acquire,
    lambda life: life.journal.executions.move(life.held, "running"),
    lambda life: life.journal.hibernations.drop(life.held),
    lambda life: life.journal.calls.begin(life.held, 3),
    lambda life: life.journal.calls.lose(life.held),
    lambda life: life.journal.calls.ask_again(life.held, 3, reason="unknown"),
    lambda life: life.decide("reject"),
    lambda life: life.journal.story.end_pass(life.held, 1, "completed"),
    lambda life: life.journal.executions.move(life.held, "completed", outcome='{"value":1}'),
    Life.acquire,
    lambda life: life.journal.executions.roll_back(life.held, "under_way"),
    lambda life: life.journal.calls.revert(life.held, 1),
    lambda life: life.journal.calls.end_revert(life.held, 1, "reverted"),
    lambda life: life.journal.executions.roll_back(life.held, "done"),
]
REPORT = NewSnippet("report", "What there is", "await crm.list()", "{}", '{"crm.list":"d"}', "3", "ann", tests="[]")


async def grant_id(journal: Journal) -> str:
    """That of the only grant. From the export: to look for grants is a write."""
    lines = [json.loads(line) async for line in journal.export()]
    return next(str(line["grant_id"]) for line in lines if line["kind"] == "grants")


async def revoke_grant(life: Life) -> None:
    await life.journal.grants.revoke(await grant_id(life.journal), "eve")


def review(version: int, state: str) -> Step:
    async def reviewed(life: Life) -> None:
        read = (await life.journal.snippets.get("report", version)).content_hash
        await life.journal.snippets.review("report", version, state, who="bob", content_hash=read)  # type: ignore[arg-type]

    return reviewed


BESIDE: list[Step] = [
    Life.create,
    lambda life: life.journal.grants.give(NewGrant("crm", "delete", "ada", 2, timedelta(hours=1))),
    lambda life: life.journal.calls.ask(life.held, NewCall(1, "crm", "delete", "{}"), reason="policy"),  # it is covered
    lambda life: life.journal.calls.begin(life.held, 1),
    lambda life: life.journal.calls.put_off(life.held, 1, reason="its server asks", question="{}"),
    lambda life: life.journal.calls.ask(life.held, NewCall(2, "crm", "delete", "[]"), reason="policy"),
    revoke_grant,
    lambda life: life.journal.calls.begin(life.held, 2),
    lambda life: life.journal.calls.lose(life.held),
    lambda life: life.journal.calls.repeat(life.held, 2),
    lambda life: life.journal.calls.end(life.held, 2, "cancelled"),
    lambda life: life.journal.calls.arrive_late(life.execution_id, 2, '"done"'),
    lambda life: life.journal.calls.take_late(life.held, [2]),
    lambda life: life.journal.cancellations.ask(life.execution_id, "eve"),
    lambda life: life.journal.snippets.propose(REPORT),
    review(1, "approved"),
    lambda life: life.journal.snippets.propose(replace(REPORT, code="1")),
    review(2, "refused"),
    review(1, "revoked"),
    lambda life: life.journal.tokens.add(NewToken("t1", "d1", "ada", ("execute",), "root")),
    lambda life: life.journal.tokens.used("t1"),
    lambda life: life.journal.tokens.revoke("t1", "root"),
]
"""Its decisions are those of a grant; what is beside it belongs to no execution."""


async def ask_in_vain(life: Life) -> None:
    ask = NewCall(1, "crm", "delete", "{}")
    await life.journal.calls.ask(life.held, ask, reason="policy", expires_at=datetime(2000, 1, 1, tzinfo=UTC))


async def tell(life: Life) -> None:
    told = [Told("log", datetime.now(UTC), f'{{"n":{n}}}') for n in range(2)]
    await life.journal.events.append(life.execution_id, told, life.fence)


async def claim_again(life: Life) -> None:
    seen = await life.journal.requests.claim("ada", "k", "d", "other")
    assert await life.journal.requests.renew("ada", "k", seen)


async def prune(life: Life) -> None:
    await life.journal.prune(Retention(count=0))


DOORS: list[Step] = [
    lambda life: life.journal.requests.claim("ada", "k", "d", life.execution_id),
    Life.create,
    tell,
    claim_again,
    lambda life: life.journal.requests.forget("ada", "k", life.execution_id),
    lambda life: life.journal.leases.renew([life.held], 5 * LASTS),
    ask_in_vain,
    lambda life: life.journal.approvals.expire(),
    lambda life: life.journal.cancellations.ask(life.execution_id, "eve"),
    lambda life: life.journal.cancellations.clear(life.execution_id),
    lambda life: life.journal.leases.release(life.held),
    Life.acquire,
    lambda life: life.journal.executions.move(life.held, "completed"),
    prune,
]
LIVES = {"each": STEPS, "beside": BESIDE, "doors": DOORS}
SECOND: tuple[Step, ...] = (claim_again, prune)
"""Their first write looks, and their second changes something."""
SIDES = ("before", "after")


def point_of(code: CodeType) -> str:
    """The method that a piece of code is of."""
    return code.co_qualname.partition(".<locals>")[0]


@contextlib.contextmanager
def listening() -> Generator[list[str]]:
    """The methods that hand something over to be written, in order."""
    points: list[str] = []
    write = Store.write

    def heard(store: Store, work: Callable[..., object], *, hard: bool = False) -> object:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        points.append(point_of(frame.f_back.f_code))
        return write(store, work, hard=hard)

    Store.write = heard  # type: ignore[method-assign,assignment]
    try:
        yield points
    finally:
        Store.write = write  # type: ignore[method-assign]


@dataclass
class Killer:
    """Kills the process at its `at`th write, when all of it is written and before or after it is committed."""

    at: int
    side: str
    points: Sequence[str] = ()
    seen: int = 0

    def arm(self) -> None:
        for dialect in (SQLite, Postgres):
            dialect.writing = self.around(dialect.writing)  # type: ignore[method-assign,assignment]

    def around(self, writing: Callable[..., contextlib.AbstractContextManager[Connection]]) -> object:
        @contextlib.contextmanager
        def killing(dialect: object, *, hard: bool) -> Generator[Connection]:
            self.seen += 1
            with writing(dialect, hard=hard) as connection:
                yield connection
                self.strike("before")
            self.strike("after")

        return killing

    def strike(self, side: str) -> None:
        if (self.seen, self.side) == (self.at, side):
            if self.points:
                os.write(1, f"killed {side} {self.points[-1]}\n".encode())
            os.kill(os.getpid(), signal.SIGKILL)


async def snapshot(journal: Journal, execution_id: str) -> list[str]:
    """All that the journal has of an execution and beside it, but for times and what nobody can guess."""
    lines = [json.loads(line) async for line in journal.export(contents=True)]
    lines = [line for line in lines if line.get("execution_id", execution_id) in {execution_id, None}]
    lines += [{"was used": token.used_at is not None} for token in await journal.tokens.find()]
    lines += [{"is to end": True}] * len(await journal.cancellations.asked([execution_id]))
    told = await journal.events.after(execution_id, 0)
    lines += [{"told": one.name, "parts": json.loads(one.body.replace(execution_id, ""))} for one in told]
    lines += [
        {"key": row["key"], "claimed anew": bool(told) and row["at"] > to_micros(told[-1].at)}
        for row in await journal.store.read(lambda connection: all_rows(connection, select(door_tables.requests)))
    ]
    for one in await journal.executions.find():
        long = one.leased_until is not None and one.leased_until - one.created_at > 3 * LASTS
        lines.append({"worked on by": one.owner, "for long": long})
    return [
        json.dumps({name: value for name, value in line.items() if name not in VARIES and not name.endswith("_at")})
        for line in lines
    ]


def digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


async def live_and_die(url: str, execution_id: str, steps: list[Step], at: int, side: str) -> None:
    """Say what is there, and die in step `at`."""
    journal = await Journal.open(url)
    os.write(1, f"{digest(await snapshot(journal, execution_id))}\n".encode())
    fence = sum(step in {Life.create, Life.acquire} for step in steps[:at])
    with listening() as points:
        Killer(2 if steps[at] in SECOND else 1, side, points).arm()
        await steps[at](Life(journal, execution_id, fence))


async def open_and_die(url: str, side: str) -> None:
    """Say nothing, and die while the journal is opened for the first time, or migrated."""
    Killer(1, side, ["_open"]).arm()
    await Journal.open(url)


def each(url: str, execution_id: str, steps: list[Step]) -> None:
    """A child for each: forked, so that it begins at once."""
    for at in range(len(steps)):
        for side in SIDES:
            in_a_child(live_and_die(url, execution_id, steps, at, side))


def in_a_child(living: Coroutine[object, object, None]) -> None:
    """It is killed there."""
    child = os.fork()
    if child == 0:
        asyncio.run(living)
        os._exit(1)
    living.close()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), status


async def flood(url: str, execution_id: str) -> None:
    """Calls, sixteen at a time, until somebody ends it."""
    journal = await Journal.open(url)
    lease = await journal.executions.create(Order(execution_id, "1"), "host/1", LASTS)

    async def work(first: int) -> None:
        for number in range(first, 1_000_000, 16):
            await journal.calls.start(lease, [NewCall(number, "crm", "add", "{}", number, repeatable=number % 4 != 0)])
            os.write(1, f"started {number}\n".encode())
            await journal.calls.end(lease, number, "completed", outcome=f'"{number}"')
            os.write(1, f"ended {number}\n".encode())

    await asyncio.gather(*[work(first) for first in range(1, 17)])


if __name__ == "__main__":
    if sys.argv[2] in LIVES:
        each(sys.argv[1], sys.argv[3], LIVES[sys.argv[2]])
    elif sys.argv[2] == "open":
        in_a_child(open_and_die(sys.argv[1], sys.argv[3]))
    else:
        asyncio.run(flood(sys.argv[1], sys.argv[3]))
