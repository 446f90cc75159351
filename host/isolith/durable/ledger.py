"""What one execution writes into the journal as it goes, under its lease.

A call is `started` before it is made, and its outcome is committed before the script is given it. What the guest was
given since, and where its clock stood, is handed over in front of the next call: only what a call can depend on has to
be there, and one commit serves both.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from isolith.durable.telling import Teller
from isolith.journal.errors import JournalError, WrongStatus
from isolith.journal.model import Decided, Delivery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from isolith.durable.replay import Identification
    from isolith.journal.events import Told
    from isolith.journal.journal import Journal
    from isolith.journal.model import AskedBy, Call, CallOutcome, Execution, Lease, NewCall, Order
    from isolith.journal.statuses import ExecutionStatus
    from isolith_runtime.inputs import Inputs

How = Literal["start", "wake", "replay", "retry"]

LEASE = timedelta(seconds=30)
"""A host that has not been heard of for so long has stopped; another one may take its executions over."""
_BEATS = 3
"""Renewals within a lease."""


@dataclass(frozen=True)
class Position:
    """Where a run goes on: how many deliveries the journal has, and how often its clock has moved."""

    deliveries: int
    moves: int
    readings: int
    followed: int | None = None
    """In a retry: how many of them are still followed."""
    begun: bool = True
    """Whether the first frame is among them: not where the host stopped before it had noted anything."""


@dataclass(frozen=True)
class Asked:
    """What a script has asked for when it is given a delivery.

    `queued`: what it asked for since the delivery before, and what is not begun: of this the journal has no calls.
    """

    largest: int = 0
    """The largest number that such a call has, or will have."""
    queued: tuple[Identification, ...] = ()


class Ledger:
    """The journal, as one pass of one execution sees it. Raises JournalError where it cannot be written."""

    def __init__(self, journal: Journal | Callable[[], Awaitable[Journal]], owner: str) -> None:
        self._opened = journal
        self._owner = owner
        self._lease: Lease | None = None
        self._pass = 1
        self._deliveries = 0
        self._undelivered: list[tuple[tuple[int, ...], str | None]] = []
        self._moves = 0
        self._asked = Asked()
        self._heart: asyncio.Task[None] | None = None
        self.teller = Teller(self._tell)
        self.known = asyncio.Event()
        """Set when the journal has the execution: whoever asks for it now finds it."""
        self.left = False
        """Whether it was left to another host, on purpose."""
        self.lost: Callable[[], None] = lambda: None
        """Called when somebody else took the execution over: stop, and write nothing."""

    @property
    def _journal(self) -> Journal:
        assert not callable(self._opened)  # noqa: S101 - `create` opens it
        return self._opened

    async def create(self, order: Order) -> None:
        """A new execution."""
        if callable(self._opened):
            self._opened = await self._opened()
        lease = await self._journal.executions.create(order, self._owner, LEASE)
        self.known.set()
        await self._begin(lease, "start")

    async def take_over(self, seen: Execution, how: How, at: Position) -> None:
        """Go on with one that is paused, failed, or was left by its host.

        `seen`: as it stood before its history was read. Raises Leased; WrongStatus where it has moved since.
        """
        lease = await self._journal.leases.acquire(seen.execution_id, self._owner, LEASE)
        now = await self._journal.executions.get(seen.execution_id)
        if (now.status, now.updated_at) != (seen.status, seen.updated_at):
            await self._journal.leases.release(lease)  # what was read of it is not true any more
            message = f"execution {seen.execution_id} is {now.status} now: somebody else worked on it meanwhile"
            raise WrongStatus(message, now.status)
        await self._go_on(lease, how, at)

    async def keep_on(self, how: How, at: Position) -> None:
        """Go on with one that this host has in hand: nobody else can take it over in between."""
        await self._stop_beating()
        await self._go_on(self.lease, how, at)

    async def _go_on(self, lease: Lease, how: How, at: Position) -> None:
        self._deliveries, self._moves = at.deliveries, at.moves
        await self._begin(lease, how)
        if not at.begun:
            self._undelivered.append(((), None))
        if at.followed is not None:
            self._hand_over((), json.dumps({"moves": [], "readings": at.readings, "followed": at.followed}))

    async def _begin(self, lease: Lease, how: How) -> None:
        self._lease = lease
        if how != "start":
            execution = await self._journal.executions.get(lease.execution_id)
            if execution.status != "running":
                await self._journal.executions.move(lease, "running")
            await self._journal.hibernations.drop(lease)
        self._pass = (await self._journal.story.begin_pass(lease, how)).number
        if how == "start":
            self._undelivered.append(((), None))  # the first frame: the guest reads the clock from then on
        self._heart = asyncio.create_task(self._beat())
        self.teller.begin()

    @property
    def lease(self) -> Lease:
        """The right to write."""
        assert self._lease is not None  # noqa: S101 - `create` or `take_over` came first
        return self._lease

    @property
    def pass_number(self) -> int:
        """Which run of the guest this is."""
        return self._pass

    # calls

    async def refused(self, call: NewCall, error: str) -> None:
        """A call that was answered at once, without being made: a replay answers it the same way."""
        await self._journal.calls.start(self.lease, [replace(call, repeatable=True)])
        await self._journal.calls.end(self.lease, call.number, "failed", error=error)

    async def started(self, call: NewCall, inputs: Inputs) -> Call:
        """A call that is about to be made."""
        self._note(inputs)
        [stored] = await self._journal.calls.start(self.lease, [call])
        return stored

    async def asked(
        self, call: NewCall, inputs: Inputs, *, reason: str, effect: str | None, expires_at: datetime | None
    ) -> Call:
        """A call that a person must answer; approved at once, where a grant covers it."""
        self._note(inputs)
        return await self._journal.calls.ask(self.lease, call, reason=reason, effect=effect, expires_at=expires_at)

    async def asked_again(
        self, number: int, by: AskedBy, *, reason: str, effect: str | None, expires_at: datetime | None
    ) -> Call:
        """A call that a person must answer again."""
        return await self._journal.calls.ask_again(
            self.lease, number, reason=reason, effect=effect, expires_at=expires_at, by=by
        )

    async def put_off(self, number: int, *, reason: str, question: str, expires_at: datetime) -> Call:
        """A call that was made, and whose server asks a person."""
        return await self._journal.calls.put_off(
            self.lease, number, reason=reason, question=question, expires_at=expires_at
        )

    async def begun(self, number: int, inputs: Inputs) -> Call:
        """An approved call that is about to be made."""
        self._note(inputs)
        return await self._journal.calls.begin(self.lease, number)

    async def rejections(self) -> list[Decided]:
        """The calls that people have said no to, with what they said."""
        execution_id = self.lease.execution_id
        execution = await self._journal.executions.get(execution_id)
        rejected = {call.number: call for call in await self._journal.calls.of(execution_id, {"rejected"})}
        decisions = await self._journal.approvals.decisions(execution_id)
        return [Decided(each, rejected[each.number], execution) for each in decisions if each.number in rejected]

    async def ended(
        self, number: int, status: CallOutcome, *, outcome: str | None = None, error: str | None = None
    ) -> Call:
        """How a call ended. The script is to be given what this returns."""
        return await self._journal.calls.end(self.lease, number, status, outcome=outcome, error=error)

    async def came_late(self, number: int, outcome: str) -> None:
        """What a call came to after it had been given up: needs no lease, for the run may have ended."""
        await self._journal.calls.arrive_late(self.lease.execution_id, number, outcome)

    # what the guest was given

    def delivered(self, numbers: tuple[int, ...], inputs: Inputs, asked: Asked) -> None:
        """The guest is given the outcomes of these calls; of none, where a timer woke it. `asked`: by then."""
        self._close_last(inputs)
        self._undelivered.append((numbers, None))
        self._asked = asked

    def _note(self, inputs: Inputs) -> None:
        """Hand over what was delivered, with the clock; in front of whatever is written next."""
        self._close_last(inputs)
        batches, self._undelivered = self._undelivered, []
        for numbers, clock in batches:
            self._hand_over(numbers, clock)

    def _hand_over(self, numbers: tuple[int, ...], clock: str | None) -> None:
        self._deliveries += 1
        delivery = Delivery(self._deliveries, self._pass, numbers, clock)
        self._journal.story.deliver(self.lease, delivery).add_done_callback(_seen)

    def _close_last(self, inputs: Inputs) -> None:
        """How the clock moved in the step that a delivery began; readings are counted, so none is in two of them."""
        if self._undelivered and self._undelivered[-1][1] is None:
            recording = inputs.recording()
            moves, self._moves = recording.clock[self._moves :], len(recording.clock)
            told: dict[str, object] = {"moves": moves, "readings": recording.readings, "asked": self._asked.largest}
            if self._asked.queued:
                told["queued"] = self._asked.queued
            clock = json.dumps(told)
            self._undelivered[-1] = (self._undelivered[-1][0], clock)

    async def keep(self, content: bytes, *, mime: str, name: str | None, handle: str) -> None:
        """Bytes that outcomes may name."""
        await self._journal.artifacts.keep(self.lease, content, mime=mime, name=name, handle=handle)

    # ending

    async def rest(self, inputs: Inputs, outcome: str, usage: str, hibernated: tuple[bytes, str] | None) -> Execution:
        """Nothing can go on before people have answered. Raises WrongStatus where they did meanwhile."""
        self._note(inputs)
        if hibernated is not None:
            blob, image = hibernated
            await self._journal.hibernations.put(self.lease, blob, image_digest=image, pass_number=self._pass)
        await self._journal.story.end_pass(self.lease, self._pass, "paused", usage)
        await self.teller.flush()
        moved = await self._journal.executions.move(self.lease, "paused", outcome=outcome)
        await self._stop_beating()
        return moved

    async def end(self, inputs: Inputs, status: ExecutionStatus, outcome: str, usage: str) -> None:
        """The execution has ended."""
        self._note(inputs)
        await self._journal.story.end_pass(self.lease, self._pass, status, usage)
        await self.teller.flush()
        await self._journal.executions.move(self.lease, status, outcome=outcome)
        await self._stop_beating()

    async def _tell(self, told: list[Told]) -> None:
        await self._journal.events.append(self.lease.execution_id, told, self.lease.fence)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / _BEATS)
            try:
                kept = await self._journal.leases.renew([self.lease], LEASE)
            except JournalError:
                continue  # the lease outlasts two beats that are missed
            if not kept:
                self.lost()
                return

    async def _stop_beating(self) -> None:
        if self._heart is not None:
            self._heart.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._heart

    async def leave(self) -> None:
        """Leave it to whoever has the journal: from now on nothing that is written here counts."""
        self.left = True
        await self._stop_beating()
        if self._lease is not None:
            with contextlib.suppress(JournalError):
                await self.teller.flush()
                await self._journal.leases.release(self._lease)

    def abandon(self) -> None:
        """Write no more."""
        if self._heart is not None:
            self._heart.cancel()


def _seen(future: asyncio.Future[None]) -> None:
    """What failed shows in the next write that is waited for: it is refused for the same reason."""
    if not future.cancelled():
        future.exception()
