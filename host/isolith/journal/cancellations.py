"""Runs that somebody asked to end: told by any host that has the journal, seen by the one that works on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from isolith.journal import door_tables
from isolith.journal.queries import one_row

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_C = door_tables.cancellations.c


class Cancellations:
    """What is asked of other hosts. Needs no lease."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def ask(self, execution_id: str, who: str) -> None:
        """Have the host that works on it end it. Asked twice is asked once. Raises UnknownEntry."""

        def work(transaction: Transaction) -> None:
            transaction.head(execution_id)  # the lock: two who ask wait for each other
            query = select(_C.who).where(_C.execution_id == execution_id)
            if one_row(transaction.connection, query) is None:
                row = {"execution_id": execution_id, "who": who, "at": transaction.now}
                transaction.connection.execute(insert(door_tables.cancellations), row)
                transaction.written += 1

        await self._store.write(work)

    async def asked(self, execution_ids: Collection[str]) -> set[str]:
        """Which of these somebody asked to end."""

        def work(connection: Connection) -> set[str]:
            query = select(_C.execution_id).where(_C.execution_id.in_(sorted(execution_ids)))
            return set(connection.execute(query).scalars())

        return await self._store.read(work) if execution_ids else set()

    async def clear(self, execution_id: str) -> None:
        """It has ended, or is to be gone on with all the same."""

        def work(transaction: Transaction) -> None:
            transaction.connection.execute(delete(door_tables.cancellations).where(_C.execution_id == execution_id))
            transaction.written += 1

        await self._store.write(work)
