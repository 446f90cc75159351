"""Runs that somebody asked to end: told by any host that has the journal, seen by the one that works on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from isolith.journal import chain, schema
from isolith.journal.errors import WrongStatus
from isolith.journal.queries import one_row
from isolith.journal.statuses import FINAL
from isolith.journal.times import from_micros
from isolith.journal.transaction import key_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from isolith.journal.queries import Row
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_C = schema.cancellations.c
_ASKED = "cancellation asked for"


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Who asked last that an execution ends, and when."""

    who: str
    at: datetime
    ended_at: datetime | None
    """When it had been heeded, or the run was to go on all the same."""


class Cancellations:
    """What is asked of hosts, and who asked. Needs no lease."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def ask(self, execution_id: str, who: str) -> None:
        """Have the host that works on it end it. Asked twice is asked once, by the first.

        Raises UnknownEntry, WrongStatus where it has ended.
        """

        def work(transaction: Transaction) -> None:
            status = transaction.head(execution_id).status  # the lock: two who ask wait for each other
            if status in FINAL:
                raise WrongStatus(f"execution {execution_id} is {status}: it has ended", str(status))
            found = _of(transaction, execution_id)
            asked: Row = {"who": who, "at": transaction.now, "ended_at": None}
            if found is None:
                new = {"execution_id": execution_id, **asked}
                transaction.insert(execution_id, _ASKED, schema.cancellations, [new])
            elif found["ended_at"] is not None:
                key = {"execution_id": execution_id}
                transaction.update(execution_id, _ASKED, schema.cancellations, key, asked)

        await self._store.write(work)

    async def asked(self, execution_ids: Collection[str]) -> set[str]:
        """Which of these somebody asked to end, and have not been ended for it."""

        def work(connection: Connection) -> set[str]:
            query = select(_C.execution_id).where(_C.execution_id.in_(sorted(execution_ids)), _C.ended_at.is_(None))
            return set(connection.execute(query).scalars())

        return await self._store.read(work) if execution_ids else set()

    async def of(self, execution_id: str) -> Cancellation | None:
        """Who asked last that it ends; None where nobody ever did."""
        query = select(_C.who, _C.at, _C.ended_at).where(_C.execution_id == execution_id)
        row = await self._store.read(lambda connection: one_row(connection, query))
        if row is None:
            return None
        ended_at = None if row["ended_at"] is None else from_micros(row["ended_at"])
        return Cancellation(row["who"], from_micros(row["at"]), ended_at)

    async def clear(self, execution_id: str) -> None:
        """It has ended, or is to be gone on with all the same. Who asked, and when, is kept."""

        def work(transaction: Transaction) -> None:
            found = None if transaction.find_head(execution_id) is None else _of(transaction, execution_id)
            if found is not None and found["ended_at"] is None:
                key, values = {"execution_id": execution_id}, {"ended_at": transaction.now}
                transaction.update(execution_id, "cancellation done with", schema.cancellations, key, values)

        await self._store.write(work)


def adopt(transaction: Transaction) -> None:
    """Chain those of a journal from before they were."""
    for row in transaction.rows(select(schema.cancellations)):
        change = chain.Change(key_of(schema.cancellations, row), chain.digest_of_row(row))
        transaction.note(row["execution_id"], "cancellation found", [change])


def _of(transaction: Transaction, execution_id: str) -> Row | None:
    rows = transaction.rows(select(schema.cancellations).where(_C.execution_id == execution_id))
    return rows[0] if rows else None
