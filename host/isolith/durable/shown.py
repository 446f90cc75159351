"""Calls of the journal as people see and name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith.calling.waiting import pending_call, sent
from isolith.journal.errors import UnknownEntry

if TYPE_CHECKING:
    from isolith.journal.model import Call
    from isolith.outcome import CallRecord, CallStatus, PendingCall


def number_of(execution_id: str, call_id: str | int) -> int:
    """The number in the name of a call. Raises UnknownEntry for a name that no call of the execution has."""
    if isinstance(call_id, int):
        return call_id
    text = call_id.removeprefix(f"{execution_id}.")
    if not text.isdigit():
        raise UnknownEntry(f"`{call_id}` is no call of execution {execution_id}: they are named {execution_id}.NUMBER")
    return int(text)


def pending_of(call: Call) -> PendingCall:
    """One that waits for a person."""
    return pending_call(f"{call.execution_id}.{call.number}", sent(call), call)


def closed(record: CallRecord, call: Call | None) -> CallRecord:
    """A call that waited when its run was put away, as it is at the end of it."""
    if record.status != "pending":
        return record
    ended: dict[str, CallStatus] = {"rejected": "rejected", "expired": "failed"}
    return record.model_copy(update={"status": ended.get("" if call is None else call.status, "cancelled")})
