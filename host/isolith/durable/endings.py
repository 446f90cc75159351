"""Executions that end without a pass of their own: by a person's no, by nobody's answer, by who cancels them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith.calling.remarks import not_made
from isolith.durable.ledger import LEASE
from isolith.durable.record import expired, rejected
from isolith.durable.shown import closed, standing
from isolith.journal.errors import WrongStatus
from isolith.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.journal.journal import Journal
    from isolith.journal.model import Call
    from isolith.journal.statuses import ExecutionStatus
    from isolith.outcome import Diagnostic


def ends_it(call: Call) -> bool:
    """Whether a person's no to this call ends its run."""
    return call.status == "rejected" and call.on_rejection == "end"


class Endings:
    """Of the executions of one journal, by one owner of leases. `ended` is told of each, so that nothing stays for it.

    Each raises WrongStatus for an execution that has ended, Leased for one that somebody else works on.
    """

    def __init__(self, journal: Journal, owner: str, ended: Callable[[str], Awaitable[None]] | None) -> None:
        self._journal = journal
        self._owner = owner
        self._told = ended

    async def expired(self, call: Call) -> Outcome:
        """Nobody answered in time."""
        return await self._of_call(call, "expired", str(expired(call)))

    async def rejected(self, call: Call, reason: str | None) -> Outcome:
        """Somebody said no, and that ends it."""
        said = f"{rejected(call.connector, call.method, reason)}; that ends the run"
        return await self._of_call(call, "rejected", said)

    async def cancelled(self, execution_id: str) -> Outcome:
        """Somebody wanted it to end."""
        return await self._close(execution_id, "cancelled", {"kind": "cancelled", "message": "the run was cancelled"})

    async def let_go(self, execution_id: str) -> None:
        """Tell who holds something for it."""
        if self._told is not None:
            await self._told(execution_id)

    async def _of_call(self, call: Call, status: ExecutionStatus, message: str) -> Outcome:
        named: dict[str, object] = {"line": call.line, "tool": f"{call.connector}.{call.method}"}
        return await self._close(call.execution_id, status, {"kind": status, "message": message, **named})

    async def _close(self, execution_id: str, status: ExecutionStatus, error: dict[str, object]) -> Outcome:
        lease = await self._journal.leases.acquire(execution_id, self._owner, LEASE)
        try:
            ended = await self._ended(execution_id, status, error)
            await self._journal.executions.move(lease, status, outcome=ended.to_json_text())
        except WrongStatus as problem:
            await self._journal.leases.release(lease)  # it had ended: whoever rolls it back does not wait for this
            raise WrongStatus(f"execution {execution_id} is {problem.status}: it has ended", problem.status) from None
        await self.let_go(execution_id)
        return ended

    async def _ended(self, execution_id: str, status: ExecutionStatus, error: dict[str, object]) -> Outcome:
        calls = {f"{execution_id}.{call.number}": call for call in await self._journal.calls.of(execution_id)}
        outcome = await standing(self._journal, execution_id)
        records = [closed(record, calls.get(record.call_id)) for record in outcome.calls]
        told: dict[str, object] = {**outcome.to_json(), "status": status, "error": error, "pending": []}
        warnings = (*outcome.warnings, *await self._in_vain(execution_id, [*calls.values()]))
        return Outcome.model_validate(told).model_copy(update={"calls": tuple(records), "warnings": warnings})

    async def _in_vain(self, execution_id: str, calls: list[Call]) -> list[Diagnostic]:
        """What was approved, and is not made any more."""
        approved = {call.number: call for call in calls if call.status == "approved"}
        decisions = await self._journal.approvals.decisions(execution_id) if approved else []
        who = {decision.number: decision.who for decision in decisions if decision.verdict == "approve"}
        return [
            not_made(f"{call.connector}.{call.method}", who[number], call.line)
            for number, call in approved.items()
            if number in who
        ]
