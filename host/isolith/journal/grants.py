"""Grants: a kind of call that need not be asked about, so many times, until some time."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from isolith.journal import schema
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.queries import Row, one_row
from isolith.journal.rows import grant_of
from isolith.journal.transaction import JOURNAL

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from isolith.journal.model import Grant, NewGrant
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_G = schema.grants.c


class Grants:
    """The grants of a journal. Given by people through the host, never by a script."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def give(self, grant: NewGrant) -> Grant:
        """A new grant. Calls that were asked about before it still wait. Raises ValueError for no uses or no time."""
        return await self._store.write(lambda transaction: insert(transaction, grant), hard=True)

    async def revoke(self, grant_id: str, who: str) -> Grant:
        """It covers nothing from now on. Raises UnknownEntry, WrongStatus when it was revoked before."""

        def work(transaction: Transaction) -> Grant:
            transaction.head(JOURNAL)
            found = _load(transaction.connection, grant_id)
            if found["revoked_by"] is not None:
                raise WrongStatus(f"grant {grant_id} was already revoked by {found['revoked_by']}", "revoked")
            key, values = {"grant_id": grant_id}, {"revoked_by": who, "uses_left": 0}
            transaction.update(JOURNAL, "grant revoked", schema.grants, key, values)
            return grant_of(_load(transaction.connection, grant_id))

        return await self._store.write(work, hard=True)

    async def find(self, *, spent: bool = False) -> list[Grant]:
        """All that cover something, oldest first; with `spent`, the others too."""

        def work(transaction: Transaction) -> list[Grant]:
            query = select(schema.grants).order_by(_G.created_at, _G.grant_id)
            if not spent:
                query = query.where(_G.uses_left > 0, _G.expires_at > transaction.now)
            return [grant_of(row) for row in transaction.rows(query)]

        return await self._store.write(work)


def insert(transaction: Transaction, grant: NewGrant) -> Grant:
    """A new grant. Raises ValueError for no uses or no time."""
    lasts = round(grant.lasts.total_seconds() * 1e6)
    if grant.uses < 1 or lasts <= 0:
        raise ValueError("a grant is for at least one use, and for some time")
    row: Row = {"grant_id": f"grant_{secrets.token_urlsafe(16)}", "connector": grant.connector}
    row |= {"method": grant.method, "who": grant.who, "principal": grant.principal}
    row |= {"execution_id": grant.execution_id, "reason": grant.reason}
    times = {"created_at": transaction.now, "expires_at": transaction.now + lasts}
    (stored,) = transaction.insert(JOURNAL, "grant given", schema.grants, [{**row, **times, "uses_left": grant.uses}])
    return grant_of(stored)


def apply(transaction: Transaction, execution_id: str, number: int) -> None:
    """Approve a call that was just asked about, where a grant covers it, and count the use. Oldest expiry first."""
    calls = schema.calls.c
    query = select(schema.calls).where(calls.execution_id == execution_id, calls.number == number)
    (call,) = transaction.rows(query)
    if not _covering(transaction, call):
        return
    transaction.head(JOURNAL)  # locks the grants: look again, for the last use may be gone
    found = _covering(transaction, call)
    if not found:
        return
    grant, key = found[0], {"execution_id": execution_id, "number": number}
    uses = {"uses_left": grant["uses_left"] - 1}
    transaction.update(JOURNAL, "grant used", schema.grants, {"grant_id": grant["grant_id"]}, uses)
    row: Row = {**key, "round": call["asked"], "digest": call["digest"], "verdict": "approve", "who": grant["who"]}
    row |= {"at": transaction.now, "reason": grant["reason"], "grant_id": grant["grant_id"], "policy": call["policy"]}
    transaction.insert(execution_id, "approved by grant", schema.decisions, [row])
    transaction.update(execution_id, "call approved", schema.calls, key, {"status": "approved"})


def _covering(transaction: Transaction, call: Row) -> list[Row]:
    executions = schema.executions.c
    whom = select(executions.principal).where(executions.execution_id == call["execution_id"]).scalar_subquery()
    query = (
        select(schema.grants)
        .where(_G.connector == call["connector"], _G.method.in_((call["method"], "*")))
        .where(or_(_G.execution_id.is_(None), _G.execution_id == call["execution_id"]))
        .where(or_(_G.principal.is_(None), _G.principal == whom))
        .where(_G.uses_left > 0, _G.expires_at > transaction.now)
        .order_by(_G.expires_at, _G.grant_id)
        .limit(1)
    )
    return transaction.rows(query)


def _load(connection: Connection, grant_id: str) -> Row:
    row = one_row(connection, select(schema.grants).where(_G.grant_id == grant_id))
    if row is None:
        raise UnknownEntry(f"there is no grant {grant_id}")
    return row
