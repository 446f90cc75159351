"""What is kept of executions that ended. What runs or waits for a person is never deleted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sqlalchemy import select

from isolith.journal import chain, door_tables, schema
from isolith.journal.executions import EXISTS, STANDS
from isolith.journal.limits import Pruned, Retention
from isolith.journal.queries import Row, all_rows
from isolith.journal.statuses import FINAL
from isolith.journal.transaction import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_E, _H = schema.executions.c, schema.heads.c


async def prune(store: Store, retention: Retention) -> Pruned:
    """Delete what is past the retention, oldest end first; several hosts may do it at once.

    An execution goes whole, with its calls, artifacts and chain; the journal's own chain says that it went.
    """

    def choose(transaction: Transaction) -> list[str]:
        ended = _ended(transaction.connection)
        return victims(ended, retention, transaction.now)

    chosen = await store.write(choose)
    sizes = await asyncio.gather(*[store.write(_deleting(execution_id)) for execution_id in chosen])
    gone = [(execution_id, size) for execution_id, size in zip(chosen, sizes, strict=True) if size is not None]
    if gone:
        await store.compact()
    return Pruned(tuple(execution_id for execution_id, _ in gone), sum(size for _, size in gone))


def victims(ended: Sequence[Row], retention: Retention, now: int) -> list[str]:
    """Pure: of executions that ended, newest end first, those past the retention, oldest first."""
    past: list[str] = []
    held = 0
    for position, row in enumerate(ended):
        held += row["bytes"]
        too_many = retention.count is not None and position >= retention.count
        too_large = retention.bytes is not None and held > retention.bytes
        too_old = retention.age is not None and row["ended_at"] < now - round(retention.age.total_seconds() * 1e6)
        if too_many or too_large or too_old:
            past.append(row["execution_id"])
    return past[::-1]


def _ended(connection: Connection) -> list[Row]:
    query = (
        select(_E.execution_id, _E.ended_at, _H.bytes)
        .join(schema.heads, _H.stream == _E.execution_id)
        .where(_E.status.in_(sorted(FINAL)), _E.ended_at.is_not(None))
        .order_by(_E.ended_at.desc(), _E.execution_id)
    )
    return all_rows(connection, query)


def _deleting(execution_id: str) -> Callable[[Transaction], int | None]:
    return lambda transaction: _delete(transaction, execution_id)


def _delete(transaction: Transaction, execution_id: str) -> int | None:
    """Gives its bytes; None where it runs again, is being rolled back, or went already."""
    head = transaction.find_head(execution_id)
    leased = head is not None and head.until is not None and head.until > transaction.now
    if head is None or head.status not in FINAL or leased:
        return None
    for table in (*schema.OF_AN_EXECUTION, *door_tables.OF_AN_EXECUTION):
        transaction.erase(table, execution_id)
    transaction.drop_stream(execution_id)
    transaction.note(
        JOURNAL,
        "execution deleted",
        [chain.Change((EXISTS, execution_id), None), chain.Change((STANDS, execution_id), None)],
    )
    return head.bytes
