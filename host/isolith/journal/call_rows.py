"""The rows of calls: a new one, one that moves along the table of statuses, and where its outcome is."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from isolith.journal import schema
from isolith.journal.digests import digest_of_call
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.statuses import CallStatus, calls_before
from isolith.journal.times import to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from isolith.journal.model import Encoded, Lease, NewCall
    from isolith.journal.transaction import Transaction
    from isolith_bindings.rules import OnRejection

_C = schema.calls.c
_OUTCOME_MIME: Final = "application/json"


def whole_outcome(connection: Connection, row: Row) -> str | None:
    """The outcome of a row of `calls`, wherever it is kept."""
    handle = row["outcome_handle"]
    if handle is None:
        inline = row["outcome"]
        return None if inline is None else str(inline)
    query = select(schema.artifacts.c.content).where(schema.artifacts.c.handle == handle)
    return bytes(connection.execute(query).scalar_one()).decode()


def new_row(transaction: Transaction, lease: Lease, call: NewCall, status: CallStatus) -> Row:
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
        "on_rejection": kept_rejection(call.on_rejection),
        "policy": call.policy,
        "created_at": transaction.now,
    }


def kept_rejection(on_rejection: OnRejection) -> str | None:
    """What a person's no comes to, as a column."""
    return None if on_rejection == "raise" else on_rejection


def question_columns(reason: str, effect: str | None, expires_at: datetime | None) -> Row:
    """What a person is asked, in place of what was asked before."""
    expiry = None if expires_at is None else to_micros(expires_at)
    return {"reason": reason, "effect": effect, "expires_at": expiry, "question": None}


def outcome_columns(transaction: Transaction, execution_id: str, number: int, outcome: Encoded | None) -> Row:
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


def refuse_resting(transaction: Transaction, lease: Lease) -> None:
    """Hold the lease. Raises WrongStatus where the execution is not running, LeaseLost."""
    status = transaction.hold(lease).status
    if status != "running":
        raise WrongStatus(f"execution {lease.execution_id} is {status}: it makes no calls", str(status))


def start_again(transaction: Transaction, lease: Lease, number: int, before: CallStatus) -> Row:
    """It is made once more. Raises WrongStatus."""
    attempts = load(transaction.connection, lease.execution_id, number)["attempts"] + 1
    values = {"started_at": transaction.now, "ended_at": None, "attempts": attempts}
    return move(transaction, lease.execution_id, number, "started", values, (before,))


def move(
    transaction: Transaction,
    execution_id: str,
    number: int,
    status: CallStatus,
    values: Row,
    before: Collection[CallStatus] | None = None,
) -> Row:
    """To another status, from one of `before`, else from any that the table allows. Raises WrongStatus."""
    row = transaction.update(
        execution_id,
        f"call {status}",
        schema.calls,
        {"execution_id": execution_id, "number": number},
        {"status": status, **values},
        {"status": calls_before(status) if before is None else before},
    )
    return row or refuse(transaction, execution_id, number, status)


def move_all(transaction: Transaction, execution_id: str, before: Collection[CallStatus], after: CallStatus) -> None:
    """Each that is in one of these statuses."""
    for row in rows_of(transaction.connection, execution_id, before):
        move(transaction, execution_id, row["number"], after, {}, before)


def refuse(transaction: Transaction, execution_id: str, number: int, what: str) -> Row:
    """Raises WrongStatus, which says what the status is; UnknownEntry. Never gives a row."""
    status = load(transaction.connection, execution_id, number)["status"]
    raise WrongStatus(f"call {number} of {execution_id} is {status}, which allows no {what}", status)


def load(connection: Connection, execution_id: str, number: int) -> Row:
    """One. Raises UnknownEntry."""
    query = select(schema.calls).where(_C.execution_id == execution_id, _C.number == number)
    row = one_row(connection, query)
    if row is None:
        raise UnknownEntry(f"execution {execution_id} has no call {number}")
    return row


def rows_of(connection: Connection, execution_id: str, statuses: Collection[CallStatus] | None) -> list[Row]:
    """Those of an execution, by number."""
    query = select(schema.calls).where(_C.execution_id == execution_id).order_by(_C.number)
    if statuses is not None:
        query = query.where(_C.status.in_(sorted(statuses)))
    return all_rows(connection, query)
