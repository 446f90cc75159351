"""Calls in the journal: asked about, started before they are made, ended before the script sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, select

from isolith.journal import grants, schema
from isolith.journal.call_rows import (
    kept_rejection,
    load,
    move,
    move_all,
    new_row,
    outcome_columns,
    question_columns,
    refuse,
    refuse_resting,
    rows_of,
    start_again,
    whole_outcome,
)
from isolith.journal.queries import Row, all_rows
from isolith.journal.rows import call_of
from isolith.journal.statuses import CallStatus, calls_before

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from isolith.journal.model import AskedBy, Call, CallOutcome, Encoded, Lease, NewCall, RevertOutcome
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_C = schema.calls.c
_UNKNOWN: Final[tuple[CallStatus, ...]] = ("unknown",)
_GIVEN_UP: Final[frozenset[CallStatus]] = frozenset({"cancelled", "failed"})
_APPROVED: Final[tuple[CallStatus, ...]] = ("approved",)
_STARTED: Final[tuple[CallStatus, ...]] = ("started",)
_WAITS: Final[tuple[CallStatus, ...]] = ("approved", "pending_approval")
_OPEN: Final = (
    select(_C.number, _C.status)
    .where(_C.execution_id == bindparam("id"), _C.status.in_(_WAITS + _STARTED))
    .order_by(_C.number)
)


class Calls:
    """The calls of a journal's executions. Writing needs the execution's lease, except for what comes too late."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def start(self, lease: Lease, calls: Sequence[NewCall]) -> list[Call]:
        """Calls that need nobody's answer, about to be made: `started`. Make them when it returns, not before.

        On the disk when it returns, unless all are `repeatable`. Raises LeaseLost, WrongStatus where the execution is
        not running, DuplicateEntry, TooLarge.
        """

        def work(transaction: Transaction) -> list[Call]:
            refuse_resting(transaction, lease)
            at: Row = {"started_at": transaction.now, "attempts": 1, "asked": 0}
            rows = [new_row(transaction, lease, call, "started") | at for call in calls]
            return [call_of(row) for row in transaction.insert(lease.execution_id, "calls started", schema.calls, rows)]

        return await self._store.write(work, hard=not all(call.repeatable for call in calls))

    async def ask(
        self,
        lease: Lease,
        call: NewCall,
        *,
        reason: str,
        effect: str | None = None,
        expires_at: datetime | None = None,
    ) -> Call:
        """A call that a person must answer: `pending_approval`; or `approved` at once, where a grant covers it.

        Raises as `start`.
        """

        def work(transaction: Transaction) -> Call:
            refuse_resting(transaction, lease)
            row = new_row(transaction, lease, call, "pending_approval") | {"attempts": 0, "asked": 1}
            row |= question_columns(reason, effect, expires_at)
            transaction.insert(lease.execution_id, "call asked about", schema.calls, [row])
            grants.apply(transaction, lease.execution_id, call.number)
            return call_of(load(transaction.connection, lease.execution_id, call.number))

        return await self._store.write(work, hard=True)

    async def begin(self, lease: Lease, number: int) -> Call:
        """An approved call, about to be made: `started`, its decision spent, on the disk.

        Its `edited_arguments`, where it has some, are what is to be sent. Raises LeaseLost, WrongStatus.
        """

        def work(transaction: Transaction) -> Call:
            refuse_resting(transaction, lease)
            row = start_again(transaction, lease, number, "approved")
            key = {"execution_id": lease.execution_id, "number": number, "round": row["asked"]}
            spent = {"spent_at": transaction.now}
            transaction.update(lease.execution_id, "decision spent", schema.decisions, key, spent)
            return call_of(row)

        return await self._store.write(work, hard=True)

    async def repeat(self, lease: Lease, number: int) -> Call:
        """An `unknown` call that is made again, because its method is repeatable or takes an idempotency key.

        Raises LeaseLost, WrongStatus.
        """

        def work(transaction: Transaction) -> Call:
            refuse_resting(transaction, lease)
            return call_of(start_again(transaction, lease, number, "unknown"))

        return await self._store.write(work, hard=True)

    async def end(
        self,
        lease: Lease,
        number: int,
        status: CallOutcome,
        *,
        outcome: Encoded | None = None,
        error: Encoded | None = None,
    ) -> Call:
        """How a call ended; also how a person settled an `unknown` one.

        Give the script what is returned: it is what the journal has. Raises LeaseLost, WrongStatus, TooLarge.
        """

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            values: Row = {"ended_at": transaction.now, "error": error}
            values |= outcome_columns(transaction, lease.execution_id, number, outcome)
            before = calls_before(status) - _GIVEN_UP
            row = move(transaction, lease.execution_id, number, status, values, before)
            return call_of({**row, "outcome": whole_outcome(transaction.connection, row)})

        return await self._store.write(work)

    async def ask_again(
        self,
        lease: Lease,
        number: int,
        *,
        reason: str,
        effect: str | None = None,
        expires_at: datetime | None = None,
        by: AskedBy | None = None,
    ) -> Call:
        """Ask a person once more: about an `unknown` call, or one that was `approved` before another policy asked.

        Arguments that somebody wrote in place of its own stay. Raises LeaseLost, WrongStatus.
        """

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            asked = load(transaction.connection, lease.execution_id, number)["asked"] + 1
            values: Row = {"asked": asked, **question_columns(reason, effect, expires_at)}
            if by is not None:
                values |= {"policy": by.policy, "on_rejection": kept_rejection(by.on_rejection)}
            before = _UNKNOWN if by is None else _APPROVED
            return call_of(move(transaction, lease.execution_id, number, "pending_approval", values, before))

        return await self._store.write(work, hard=True)

    async def put_off(
        self, lease: Lease, number: int, *, reason: str, question: Encoded, expires_at: datetime | None = None
    ) -> Call:
        """A `started` call whose server asks a person: `pending_approval`, to be made again with the answer.

        Raises LeaseLost, WrongStatus, TooLarge.
        """

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            asked = load(transaction.connection, lease.execution_id, number)["asked"] + 1
            values: Row = {"asked": asked, **question_columns(reason, None, expires_at), "question": question}
            return call_of(move(transaction, lease.execution_id, number, "pending_approval", values, _STARTED))

        return await self._store.write(work, hard=True)

    async def lose(self, lease: Lease) -> list[Call]:
        """After a crash: whatever is `started` and nobody waits for is `unknown`, and `reverting` `revert_unknown`.

        Gives all that are unknown now, by number. Raises LeaseLost.
        """

        def work(transaction: Transaction) -> list[Call]:
            transaction.hold(lease)
            move_all(transaction, lease.execution_id, {"started"}, "unknown")
            move_all(transaction, lease.execution_id, {"reverting"}, "revert_unknown")
            rows = rows_of(transaction.connection, lease.execution_id, {"unknown", "revert_unknown"})
            return [call_of(row) for row in rows]

        return await self._store.write(work)

    async def arrive_late(self, execution_id: str, number: int, late: Encoded) -> Call:
        """What came after the call had been given up (`cancelled`, `unknown`, `failed` by its time).

        Kept beside its status, which stays. Needs no lease. Raises WrongStatus, UnknownEntry.
        """

        def work(transaction: Transaction) -> Call:
            transaction.head(execution_id)
            row = transaction.update(
                execution_id,
                "came too late",
                schema.calls,
                {"execution_id": execution_id, "number": number},
                {"late": late},
                {"status": (*_UNKNOWN, *_GIVEN_UP)},
            )
            return call_of(row or refuse(transaction, execution_id, number, "a late outcome"))

        return await self._store.write(work)

    async def came_late(self, execution_id: str) -> frozenset[int]:
        """The calls that came to a result after they had been given up."""
        query = select(_C.number).where(_C.execution_id == execution_id, _C.late.is_not(None))
        return await self._store.read(lambda connection: frozenset(connection.scalars(query)))

    async def take_late(self, lease: Lease, numbers: Collection[int]) -> None:
        """What calls came to after they had been given up is their outcome now. Raises LeaseLost, WrongStatus."""

        def work(transaction: Transaction) -> None:
            transaction.hold(lease)
            for number in sorted(numbers):
                late = load(transaction.connection, lease.execution_id, number)["late"]
                if late is None:
                    refuse(transaction, lease.execution_id, number, "outcome that never came")
                values = {"error": None, **outcome_columns(transaction, lease.execution_id, number, late)}
                move(transaction, lease.execution_id, number, "completed", values, _GIVEN_UP)

        await self._store.write(work, hard=True)

    async def revert(self, lease: Lease, number: int) -> Call:
        """About to be reverted: `reverting`, on the disk. Raises LeaseLost, WrongStatus."""

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            return call_of(move(transaction, lease.execution_id, number, "reverting", {"error": None}))

        return await self._store.write(work, hard=True)

    async def end_revert(
        self, lease: Lease, number: int, status: RevertOutcome, *, error: Encoded | None = None
    ) -> Call:
        """How reverting it ended. Raises LeaseLost, WrongStatus."""

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            return call_of(move(transaction, lease.execution_id, number, status, {"error": error}))

        return await self._store.write(work)

    async def get(self, execution_id: str, number: int) -> Call:
        """One call with its whole outcome. Raises UnknownEntry."""

        def work(connection: Connection) -> Call:
            row = load(connection, execution_id, number)
            return call_of({**row, "outcome": whole_outcome(connection, row)})

        return await self._store.read(work)

    async def of(
        self, execution_id: str, statuses: Collection[CallStatus] | None = None, *, whole: bool = False
    ) -> list[Call]:
        """The calls of an execution by number; with `whole`, large outcomes too, else those are None."""

        def work(connection: Connection) -> list[Call]:
            rows = rows_of(connection, execution_id, statuses)
            if whole:
                rows = [{**row, "outcome": whole_outcome(connection, row)} for row in rows]
            return [call_of(row) for row in rows]

        return await self._store.read(work)


def close(transaction: Transaction, execution_id: str) -> None:
    """At the end of an execution no call stays open."""
    for row in all_rows(transaction.connection, _OPEN, {"id": execution_id}):
        if row["status"] == "started":
            move(transaction, execution_id, row["number"], "unknown", {}, _STARTED)
        else:
            move(transaction, execution_id, row["number"], "cancelled", {"ended_at": transaction.now}, _WAITS)
