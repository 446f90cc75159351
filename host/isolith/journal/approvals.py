"""Decisions on pending calls: bound to the digest of what was seen, single use, one winner."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from isolith.journal import executions, grants, schema
from isolith.journal.errors import AlreadyDecided, DigestMismatch, UnknownEntry
from isolith.journal.events import tell
from isolith.journal.model import Answer, Decided
from isolith.journal.queries import Row, all_rows
from isolith.journal.rows import call_of, decision_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from isolith.journal.model import Call, Decision, NewGrant
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_C, _D, _E = schema.calls.c, schema.decisions.c, schema.executions.c

EXPIRY = "isolith"
"""Who decided where nobody did."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    answer: Answer
    verdict: str
    status: str


class Approvals:
    """What waits for people, and what they said. Needs no lease: any process that has the journal may decide."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def decide(self, answer: Answer, grant: NewGrant | None = None) -> Decided:
        """Approve or reject one pending call; on the disk when it returns. `grant`: given with it, or not at all.

        The first answer counts. Whoever is later gets AlreadyDecided with that decision and the call as it is. Raises
        DigestMismatch where the answer is about other arguments, UnknownEntry, ValueError for edits or a grant with a
        rejection.
        """
        if answer.verdict != "approve" and (answer.arguments is not None or grant is not None):
            raise ValueError("only an approval can edit the arguments, or give a grant")
        status = "approved" if answer.verdict == "approve" else "rejected"

        def work(transaction: Transaction) -> Decided:
            decided = _decide(transaction, _Verdict(answer, answer.verdict, status))
            if grant is not None:
                grants.insert(transaction, grant)
            return decided

        return await self._store.write(work, hard=True)

    async def expire(self, limit: int = 100) -> list[Decided]:
        """Let every pending call expire whose time is over. Call it now and then; several hosts may."""

        def due(transaction: Transaction) -> list[tuple[str, int, str]]:
            query = (
                select(_C.execution_id, _C.number, _C.digest)
                .where(_C.status == "pending_approval", _C.expires_at <= transaction.now)
                .order_by(_C.execution_id, _C.number)
                .limit(limit)
            )
            return [(row["execution_id"], row["number"], row["digest"]) for row in transaction.rows(query)]

        def work(transaction: Transaction) -> list[Decided]:
            expired: list[Decided] = []
            for execution_id, number, digest in due(transaction):
                answer = Answer(execution_id, number, digest, "reject", EXPIRY, reason="nobody answered in time")
                try:
                    expired.append(_decide(transaction, _Verdict(answer, "expire", "expired")))
                except (AlreadyDecided, UnknownEntry):
                    continue  # somebody answered, or it was deleted, between the look and the lock
            return expired

        return await self._store.write(work, hard=True)

    async def pending(self, execution_id: str | None = None, *, principal: str | None = None) -> list[Call]:
        """The calls that wait for a person, oldest first: of one execution, of one principal, or all."""

        def work(connection: Connection) -> list[Call]:
            query = select(schema.calls).where(_C.status == "pending_approval")
            if execution_id is not None:
                query = query.where(_C.execution_id == execution_id)
            if principal is not None:
                query = query.join(schema.executions, _E.execution_id == _C.execution_id)
                query = query.where(_E.principal == principal)
            query = query.order_by(_C.created_at, _C.execution_id, _C.number)
            return [call_of(row) for row in all_rows(connection, query)]

        return await self._store.read(work)

    async def decisions(self, execution_id: str) -> list[Decision]:
        """All decisions of an execution, by call and round."""

        def work(connection: Connection) -> list[Decision]:
            query = select(schema.decisions).where(_D.execution_id == execution_id).order_by(_D.number, _D.round)
            return [decision_of(row) for row in all_rows(connection, query)]

        return await self._store.read(work)


def _decide(transaction: Transaction, verdict: _Verdict) -> Decided:
    answer, key = verdict.answer, {"execution_id": verdict.answer.execution_id, "number": verdict.answer.number}
    stream = answer.execution_id
    transaction.head(stream)  # the lock: of two deciders one waits here, and then sees what the other did
    call = _call(transaction, answer)
    if call["status"] != "pending_approval" or answer.asked not in {None, call["asked"]}:
        raise AlreadyDecided(call_of(call), _decision(transaction, {**call, "asked": answer.asked or call["asked"]}))
    if not hmac.compare_digest(call["digest"], answer.digest):
        raise DigestMismatch(
            f"the answer to call {answer.number} of {stream} is about other arguments than those that wait: look again"
        )
    row: Row = {**key, "round": call["asked"], "digest": call["digest"], "verdict": verdict.verdict, "who": answer.who}
    row |= {"at": transaction.now, "arguments": answer.arguments, "reason": answer.reason, "policy": call["policy"]}
    (stored,) = transaction.insert(stream, f"decision {verdict.verdict}", schema.decisions, [row])
    ended_at = None if verdict.status == "approved" else transaction.now
    # Who answers nothing else allows what was shown: what somebody wrote when it was asked about before.
    arguments = call["edited_arguments"] if answer.arguments is None else answer.arguments
    values: Row = {"status": verdict.status, "edited_arguments": arguments, "ended_at": ended_at}
    transaction.update(stream, f"call {verdict.status}", schema.calls, key, values)
    told = {"call_id": f"{stream}.{answer.number}", "verdict": verdict.verdict, "who": answer.who}
    tell(transaction, stream, "decided", told)
    execution = executions.load(transaction.connection, stream, transaction)
    return Decided(decision_of(stored), call_of(_call(transaction, answer)), execution)


def _call(transaction: Transaction, answer: Answer) -> Row:
    query = select(schema.calls).where(_C.execution_id == answer.execution_id, _C.number == answer.number)
    rows = transaction.rows(query)
    if not rows:
        raise UnknownEntry(f"execution {answer.execution_id} has no call {answer.number}")
    return rows[0]


def _decision(transaction: Transaction, call: Row) -> Decision | None:
    query = select(schema.decisions).where(
        _D.execution_id == call["execution_id"], _D.number == call["number"], _D.round == call["asked"]
    )
    rows = transaction.rows(query)
    return decision_of(rows[0]) if rows else None
