"""The statuses of executions and calls, and the only moves between them. Compare-and-set in the database keeps them."""

from __future__ import annotations

from typing import Final, Literal

ExecutionStatus = Literal["running", "paused", "completed", "failed", "cancelled", "rejected", "expired", "rolled_back"]
CallStatus = Literal[
    "pending_approval",
    "approved",
    "started",
    "completed",
    "failed",
    "cancelled",
    "rejected",
    "expired",
    "unknown",
    "reverting",
    "reverted",
    "revert_failed",
    "revert_unknown",
]
RollbackStatus = Literal["under_way", "partial", "done"]
SnippetState = Literal["proposed", "approved", "refused", "revoked"]

EXECUTION_MOVES: Final[dict[ExecutionStatus, frozenset[ExecutionStatus]]] = {
    "running": frozenset({"paused", "completed", "failed", "cancelled", "rejected", "expired"}),
    "paused": frozenset({"running", "failed", "cancelled", "rejected", "expired"}),
    "completed": frozenset({"rolled_back"}),
    # `retry` goes on from the journal of what failed.
    "failed": frozenset({"running", "rolled_back"}),
    "cancelled": frozenset({"running", "rolled_back"}),
    "rejected": frozenset({"rolled_back"}),
    "expired": frozenset({"rolled_back"}),
    "rolled_back": frozenset(),
}
"""From a status to those that may follow it."""

CALL_MOVES: Final[dict[CallStatus, frozenset[CallStatus]]] = {
    "pending_approval": frozenset({"approved", "rejected", "expired", "cancelled"}),
    # Asked about again where another policy holds by the time it is to be made.
    "approved": frozenset({"started", "cancelled", "pending_approval"}),
    # Its server may ask a person: then it is made again with the answer.
    "started": frozenset({"completed", "failed", "cancelled", "unknown", "pending_approval"}),
    # Made again under its idempotency key, asked about, or settled by a person who looked.
    "unknown": frozenset({"started", "pending_approval", "completed", "failed", "reverting"}),
    "completed": frozenset({"reverting"}),
    # Given up while it was under way: it may have happened. Where it did, a retry takes what it came to.
    "failed": frozenset({"reverting", "completed"}),
    "cancelled": frozenset({"reverting", "completed"}),
    "rejected": frozenset(),
    "expired": frozenset(),
    "reverting": frozenset({"reverted", "revert_failed", "revert_unknown"}),
    "reverted": frozenset(),
    "revert_failed": frozenset({"reverting"}),
    "revert_unknown": frozenset({"reverting", "reverted"}),
}
"""The same for a call."""

SNIPPET_MOVES: Final[dict[SnippetState, frozenset[SnippetState]]] = {
    "proposed": frozenset({"approved", "refused"}),
    "approved": frozenset({"revoked"}),
    "refused": frozenset(),
    "revoked": frozenset(),
}
"""The same for one version of a snippet."""

FINAL: Final[frozenset[ExecutionStatus]] = frozenset(
    {"completed", "failed", "cancelled", "rejected", "expired", "rolled_back"}
)
"""Ended: nobody works on it, retention may delete it."""


def executions_before(status: ExecutionStatus) -> frozenset[ExecutionStatus]:
    """The statuses from which an execution may move to `status`."""
    return frozenset(before for before, after in EXECUTION_MOVES.items() if status in after)


def calls_before(status: CallStatus) -> frozenset[CallStatus]:
    """The statuses from which a call may move to `status`."""
    return frozenset(before for before, after in CALL_MOVES.items() if status in after)


def snippets_before(state: SnippetState) -> frozenset[SnippetState]:
    """The states from which a version of a snippet may move to `state`."""
    return frozenset(before for before, after in SNIPPET_MOVES.items() if state in after)
