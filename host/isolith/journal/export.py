"""A journal as JSON lines: one for each row, for whoever keeps or reads history elsewhere.

Each line is an object with `kind` (the table), `execution_id`, `principal`, and the columns of the row: times as ISO
8601, JSON as JSON, bytes as base64, `duration_ms` where something began and ended. Contents of artifacts and of
isolates at rest are left out unless they are asked for; then whole. Where all is exported, snippets, grants and the
journal's own records follow.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

from sqlalchemy import select

from isolith.journal import schema
from isolith.journal.executions import unknown
from isolith.journal.queries import Row, each_row, one_row
from isolith.journal.times import from_micros
from isolith.journal.transaction import JOURNAL
from isolith_bindings import json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from typing import Any

    from sqlalchemy import Connection, Select, Table

    from isolith.journal.store import Store

_TIMES = {"at", "created_at", "updated_at", "started_at", "ended_at", "expires_at", "spent_at"}.union(
    ("proposed_at", "reviewed_at")
)
_JSON = {"input", "budgets", "snippets", "origin", "outcome", "usage", "arguments", "error", "edited_arguments"}.union(
    ("late", "calls", "clock", "attrs", "body", "input_schema", "methods", "tests")
)
_CONTENTS = {"content", "blob"}


async def lines(store: Store, execution_ids: Sequence[str] | None, *, contents: bool) -> AsyncIterator[str]:
    """The lines of these executions, or of all, oldest first; each execution as it was at one moment."""
    for execution_id in await store.read(_all) if execution_ids is None else execution_ids:
        work = _work(execution_id, contents=contents)
        for line in await store.read(work):
            yield line
    if execution_ids is None:
        for line in await store.read(_of_none):
            yield line


def _all(connection: Connection) -> list[str]:
    executions = schema.executions.c
    query = select(executions.execution_id).order_by(executions.created_at, executions.execution_id)
    return list(connection.execute(query).scalars())


def _work(execution_id: str, *, contents: bool) -> Callable[[Connection], list[str]]:
    return lambda connection: list(_lines(connection, execution_id, contents=contents))


def _lines(connection: Connection, execution_id: str, *, contents: bool) -> Iterator[str]:
    orders = schema.orders.c
    order = one_row(connection, select(orders.principal).where(orders.execution_id == execution_id))
    if order is None:
        raise unknown(execution_id)
    for table in (*schema.OF_AN_EXECUTION, schema.records):
        for row in each_row(connection, _rows(table, execution_id, contents=contents)):
            head = {"kind": table.name, "execution_id": execution_id, "principal": order["principal"]}
            yield json.dumps({**head, **_readable(row)}, ensure_ascii=False)


def _of_none(connection: Connection) -> list[str]:
    tables = [(table, select(table)) for table in schema.OF_NONE]
    tables.append((schema.records, select(schema.records).where(schema.records.c.stream == JOURNAL)))
    return [
        json.dumps({"kind": table.name, **_readable(row)}, ensure_ascii=False)
        for table, query in tables
        for row in each_row(connection, query.order_by(*table.primary_key.columns))
    ]


def _rows(table: Table, execution_id: str, *, contents: bool) -> Select[*tuple[Any, ...]]:
    stream = table.c.stream if table is schema.records else table.c.execution_id
    columns = [column for column in table.columns if contents or column.name not in _CONTENTS]
    return select(*columns).where(stream == execution_id).order_by(*table.primary_key.columns)


def _readable(row: Row) -> Row:
    shown: Row = {}
    for name, value in row.items():
        if name == "stream":
            continue
        if isinstance(value, bytes):
            shown[name] = base64.b64encode(value).decode()
        elif value is not None and name in _TIMES:
            shown[name] = from_micros(value).isoformat()
        else:
            shown[name] = _parsed(value) if isinstance(value, str) and name in _JSON else value
    began = row.get("started_at") or row.get("created_at")
    if began is not None and row.get("ended_at") is not None:
        shown["duration_ms"] = (row["ended_at"] - began) / 1000
    return shown


def _parsed(text: str) -> object:
    try:
        return json_text.loads(text)
    except (ValueError, RecursionError):
        return text  # what a host put there is its own affair
