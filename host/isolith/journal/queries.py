"""What a query finds, as plain rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Select

Row = dict[str, Any]
"""A row by column names; `schema` types the columns."""


def all_rows(
    connection: Connection, query: Select[*tuple[Any, ...]], parameters: Mapping[str, object] | None = None
) -> list[Row]:
    """All of them. `parameters`: of a query that was made once, with places for them: to make one takes longer."""
    found = connection.execute(query, parameters)
    names = list(found.keys())
    return [dict(zip(names, row, strict=True)) for row in found]


def each_row(
    connection: Connection, query: Select[*tuple[Any, ...]], parameters: Mapping[str, object] | None = None
) -> Iterator[Row]:
    """One after the other: for those that together may be large."""
    found = connection.execute(query.execution_options(yield_per=50), parameters)
    names = list(found.keys())
    for row in found:
        yield dict(zip(names, row, strict=True))


def one_row(
    connection: Connection, query: Select[*tuple[Any, ...]], parameters: Mapping[str, object] | None = None
) -> Row | None:
    """The one there can be, or None."""
    rows = all_rows(connection, query, parameters)
    return rows[0] if rows else None
