"""Calls in the journal: asked about, started before they are made, ended before the script sees it."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, select

from isolith.journal import grants, schema
from isolith.journal.digests import digest_of_call
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.rows import call_of
from isolith.journal.statuses import CallStatus, calls_before
from isolith.journal.times import to_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from isolith.journal.model import AskedBy, Call, CallOutcome, Encoded, Lease, NewCall, RevertOutcome
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction
    from isolith_bindings.rules import OnRejection

_C = schema.calls.c
_OUTCOME_MIME: Final = "application/json"


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
            _running(transaction, lease)
            at: Row = {"started_at": transaction.now, "attempts": 1, "asked": 0}
            rows = [_row(transaction, lease, call, "started") | at for call in calls]
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
            _running(transaction, lease)
            row = _row(transaction, lease, call, "pending_approval") | {"attempts": 0, "asked": 1}
            row |= _question(reason, effect, expires_at)
            transaction.insert(lease.execution_id, "call asked about", schema.calls, [row])
            grants.apply(transaction, lease.execution_id, call.number)
            return call_of(_load(transaction.connection, lease.execution_id, call.number))

        return await self._store.write(work, hard=True)

    async def begin(self, lease: Lease, number: int) -> Call:
        """An approved call, about to be made: `started`, its decision spent, on the disk.

        Its `edited_arguments`, where it has some, are what is to be sent. Raises LeaseLost, WrongStatus.
        """

        def work(transaction: Transaction) -> Call:
            _running(transaction, lease)
            row = _start_again(transaction, lease, number, "approved")
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
            _running(transaction, lease)
            return call_of(_start_again(transaction, lease, number, "unknown"))

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
            values |= _outcome(transaction, lease.execution_id, number, outcome)
            before = calls_before(status) - _GIVEN_UP
            row = _move(transaction, lease.execution_id, number, status, values, before)
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
            asked = _load(transaction.connection, lease.execution_id, number)["asked"] + 1
            values: Row = {"asked": asked, **_question(reason, effect, expires_at)}
            if by is not None:
                values |= {"policy": by.policy, "on_rejection": _kept(by.on_rejection)}
            before = _UNKNOWN if by is None else _APPROVED
            return call_of(_move(transaction, lease.execution_id, number, "pending_approval", values, before))

        return await self._store.write(work, hard=True)

    async def put_off(
        self, lease: Lease, number: int, *, reason: str, question: Encoded, expires_at: datetime | None = None
    ) -> Call:
        """A `started` call whose server asks a person: `pending_approval`, to be made again with the answer.

        Raises LeaseLost, WrongStatus, TooLarge.
        """

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            asked = _load(transaction.connection, lease.execution_id, number)["asked"] + 1
            values: Row = {"asked": asked, **_question(reason, None, expires_at), "question": question}
            return call_of(_move(transaction, lease.execution_id, number, "pending_approval", values, _STARTED))

        return await self._store.write(work, hard=True)

    async def lose(self, lease: Lease) -> list[Call]:
        """After a crash: whatever is `started` and nobody waits for is `unknown`, and `reverting` `revert_unknown`.

        Gives all that are unknown now, by number. Raises LeaseLost.
        """

        def work(transaction: Transaction) -> list[Call]:
            transaction.hold(lease)
            _move_all(transaction, lease.execution_id, {"started"}, "unknown")
            _move_all(transaction, lease.execution_id, {"reverting"}, "revert_unknown")
            rows = _rows(transaction.connection, lease.execution_id, {"unknown", "revert_unknown"})
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
            return call_of(row or _refuse(transaction, execution_id, number, "a late outcome"))

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
                late = _load(transaction.connection, lease.execution_id, number)["late"]
                if late is None:
                    _refuse(transaction, lease.execution_id, number, "outcome that never came")
                values = {"error": None, **_outcome(transaction, lease.execution_id, number, late)}
                _move(transaction, lease.execution_id, number, "completed", values, _GIVEN_UP)

        await self._store.write(work, hard=True)

    async def revert(self, lease: Lease, number: int) -> Call:
        """About to be reverted: `reverting`, on the disk. Raises LeaseLost, WrongStatus."""

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            return call_of(_move(transaction, lease.execution_id, number, "reverting", {"error": None}))

        return await self._store.write(work, hard=True)

    async def end_revert(
        self, lease: Lease, number: int, status: RevertOutcome, *, error: Encoded | None = None
    ) -> Call:
        """How reverting it ended. Raises LeaseLost, WrongStatus."""

        def work(transaction: Transaction) -> Call:
            transaction.hold(lease)
            return call_of(_move(transaction, lease.execution_id, number, status, {"error": error}))

        return await self._store.write(work)

    async def get(self, execution_id: str, number: int) -> Call:
        """One call with its whole outcome. Raises UnknownEntry."""

        def work(connection: Connection) -> Call:
            row = _load(connection, execution_id, number)
            return call_of({**row, "outcome": whole_outcome(connection, row)})

        return await self._store.read(work)

    async def of(
        self, execution_id: str, statuses: Collection[CallStatus] | None = None, *, whole: bool = False
    ) -> list[Call]:
        """The calls of an execution by number; with `whole`, large outcomes too, else those are None."""

        def work(connection: Connection) -> list[Call]:
            rows = _rows(connection, execution_id, statuses)
            if whole:
                rows = [{**row, "outcome": whole_outcome(connection, row)} for row in rows]
            return [call_of(row) for row in rows]

        return await self._store.read(work)


def close(transaction: Transaction, execution_id: str) -> None:
    """At the end of an execution no call stays open."""
    for row in all_rows(transaction.connection, _OPEN, {"id": execution_id}):
        if row["status"] == "started":
            _move(transaction, execution_id, row["number"], "unknown", {}, _STARTED)
        else:
            _move(transaction, execution_id, row["number"], "cancelled", {"ended_at": transaction.now}, _WAITS)


def whole_outcome(connection: Connection, row: Row) -> str | None:
    """The outcome of a row of `calls`, wherever it is kept."""
    handle = row["outcome_handle"]
    if handle is None:
        inline = row["outcome"]
        return None if inline is None else str(inline)
    query = select(schema.artifacts.c.content).where(schema.artifacts.c.handle == handle)
    return bytes(connection.execute(query).scalar_one()).decode()


def _row(transaction: Transaction, lease: Lease, call: NewCall, status: CallStatus) -> Row:
    """A new row. The digest is of the arguments as they are stored: that is what a person sees."""
    arguments = transaction.stored(call.arguments)
    return {
        "execution_id": lease.execution_id,
        "number": call.number,
        "connector": call.connector,
        "method": call.method,
        "arguments": arguments,
        "digest": digest_of_call(call.connector, call.method, arguments),
        "occurrence": call.occurrence,
        "pass_number": call.pass_number,
        "status": status,
        "line": call.line,
        "idempotency_key": call.idempotency_key,
        "repeatable": int(call.repeatable),
        "revertible": int(call.revertible),
        "on_rejection": _kept(call.on_rejection),
        "policy": call.policy,
        "created_at": transaction.now,
    }


def _kept(on_rejection: OnRejection) -> str | None:
    return None if on_rejection == "raise" else on_rejection


def _question(reason: str, effect: str | None, expires_at: datetime | None) -> Row:
    expiry = None if expires_at is None else to_micros(expires_at)
    return {"reason": reason, "effect": effect, "expires_at": expiry, "question": None}


def _outcome(transaction: Transaction, execution_id: str, number: int, outcome: Encoded | None) -> Row:
    """Where an outcome goes: into its row, or, being large, beside it."""
    if outcome is None or len(outcome) <= transaction.settings.caps.inline:
        return {"outcome": outcome, "outcome_handle": None}
    content = transaction.admit_outcome(outcome).encode()
    handle = f"out_{secrets.token_urlsafe(16)}"
    row: Row = {"handle": handle, "execution_id": execution_id, "purpose": "outcome", "mime": _OUTCOME_MIME}
    row |= {"name": f"outcome of call {number}", "size": len(content), "at": transaction.now}
    row |= {"sha256": hashlib.sha256(content).hexdigest(), "content": content}
    transaction.insert(execution_id, "outcome kept", schema.artifacts, [row])
    return {"outcome": None, "outcome_handle": handle}


def _running(transaction: Transaction, lease: Lease) -> None:
    status = transaction.hold(lease).status
    if status != "running":
        raise WrongStatus(f"execution {lease.execution_id} is {status}: it makes no calls", str(status))


def _start_again(transaction: Transaction, lease: Lease, number: int, before: CallStatus) -> Row:
    attempts = _load(transaction.connection, lease.execution_id, number)["attempts"] + 1
    values = {"started_at": transaction.now, "ended_at": None, "attempts": attempts}
    return _move(transaction, lease.execution_id, number, "started", values, (before,))


def _move(
    transaction: Transaction,
    execution_id: str,
    number: int,
    status: CallStatus,
    values: Row,
    before: Collection[CallStatus] | None = None,
) -> Row:
    row = transaction.update(
        execution_id,
        f"call {status}",
        schema.calls,
        {"execution_id": execution_id, "number": number},
        {"status": status, **values},
        {"status": calls_before(status) if before is None else before},
    )
    return row or _refuse(transaction, execution_id, number, status)


def _move_all(transaction: Transaction, execution_id: str, before: Collection[CallStatus], after: CallStatus) -> None:
    for row in _rows(transaction.connection, execution_id, before):
        _move(transaction, execution_id, row["number"], after, {}, before)


def _refuse(transaction: Transaction, execution_id: str, number: int, what: str) -> Row:
    status = _load(transaction.connection, execution_id, number)["status"]
    raise WrongStatus(f"call {number} of {execution_id} is {status}, which allows no {what}", status)


def _load(connection: Connection, execution_id: str, number: int) -> Row:
    query = select(schema.calls).where(_C.execution_id == execution_id, _C.number == number)
    row = one_row(connection, query)
    if row is None:
        raise UnknownEntry(f"execution {execution_id} has no call {number}")
    return row


def _rows(connection: Connection, execution_id: str, statuses: Collection[CallStatus] | None) -> list[Row]:
    query = select(schema.calls).where(_C.execution_id == execution_id).order_by(_C.number)
    if statuses is not None:
        query = query.where(_C.status.in_(sorted(statuses)))
    return all_rows(connection, query)
