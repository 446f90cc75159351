"""One execution, put into another journal as it stood before it ended: to be run again there, and thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import insert, select

from isolith.journal import schema
from isolith.journal.executions import unknown
from isolith.journal.queries import Row, all_rows

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

    from isolith.journal.journal import Journal
    from isolith.journal.transaction import Transaction

_COPIED: Final = (schema.orders, schema.executions, schema.calls, schema.deliveries, schema.decisions, schema.artifacts)
_OPEN: Final = {"approved", "started", "unknown"}
"""Calls of which nobody knows yet what they come to: in the copy they were never asked for."""
_UNDONE: Final = {"reverting", "reverted", "revert_failed", "revert_unknown"}


async def copy(source: Journal, target: Journal, execution_id: str, script: str | None = None) -> None:
    """Copy it, `running` and in nobody's hands; `script` takes the place of its own. Not chained.

    Raises UnknownEntry.
    """

    def read(connection: Connection) -> dict[Table, list[Row]]:
        queries = {table: select(table).where(table.c.execution_id == execution_id) for table in _COPIED}
        return {table: all_rows(connection, query) for table, query in queries.items()}

    found = await source.store.read(read)
    if not found[schema.orders]:
        raise unknown(execution_id)
    if script is not None:
        found[schema.orders][0]["script"] = script
    found[schema.executions][0] |= {"status": "running", "rollback": None, "ended_at": None}
    found[schema.calls] = [_as_answered(row) for row in found[schema.calls] if row["status"] not in _OPEN]

    def write(transaction: Transaction) -> None:
        head = transaction.begin_stream(execution_id)
        head.status = "running"
        transaction.touch(head)
        for table, rows in found.items():
            if rows:
                transaction.connection.execute(insert(table), rows)

    await target.store.write(write)


def _as_answered(row: Row) -> Row:
    """What a call was answered with, whether or not it was undone since."""
    if row["status"] not in _UNDONE:
        return row
    kept = row["outcome"] is not None or row["outcome_handle"] is not None
    return {**row, "status": "completed" if kept else "cancelled"}
