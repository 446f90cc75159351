"""Executions of the journal, and their calls, as people see and name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from isolith.calling.waiting import pending_call, sent
from isolith.journal.errors import UnknownEntry
from isolith.outcome import Outcome

if TYPE_CHECKING:
    from isolith.journal.journal import Journal
    from isolith.journal.model import Call
    from isolith.outcome import CallRecord, CallStatus, PendingCall


async def standing(journal: Journal, execution_id: str) -> Outcome:
    """How an execution ended, or where it stands. The value of one that was read back is JSON data.

    Raises UnknownEntry.
    """
    execution = await journal.executions.get(execution_id)
    text = await journal.executions.outcome(execution_id)
    told: dict[str, Any] = json.loads(text) if text else {"execution_id": execution_id}
    told["status"] = execution.status
    late = await journal.calls.came_late(execution_id) if told.get("calls") else frozenset[int]()
    for call in told["calls"] if late else ():
        call["completed_after_end"] = number_of(execution_id, call["call_id"]) in late
    waiting = await journal.approvals.pending(execution_id) if execution.pending else []
    told["pending"] = [pending_of(each).model_dump() for each in waiting]
    return Outcome.model_validate(told)


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
