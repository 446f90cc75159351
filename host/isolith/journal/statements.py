"""Core's statements as text, each made once: what the writer runs for every call of a script.

Core builds and compiles a statement in a hundred microseconds, the database runs it in ten. So the statements of the
hot path are compiled once for a database, with every value a named parameter, and given to its driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select, update

from isolith.journal import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from sqlalchemy import BindParameter, Dialect, Table
    from sqlalchemy.sql import ClauseElement


class Statements:
    """The statements of one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._texts: dict[Hashable, str] = {}

    def insert(self, table: Table) -> str:
        """One row with all columns; parameters are named as they are."""
        return self._text(("insert", table.name), lambda: insert(table))

    def update(self, table: Table, key: Sequence[str], values: Sequence[str], expect: Mapping[str, int]) -> str:
        """Rows with this key, where each column of `expect` has one of so many values; gives them as they are then.

        Parameters: `k_…` of the key, `v_…` to set, `e0_…`, `e1_…` expected.
        """
        identity = ("update", table.name, tuple(key), tuple(values), tuple(expect.items()))

        def build() -> ClauseElement:
            columns = table.columns
            statement = update(table).values({name: bindparam(f"v_{name}") for name in values})
            statement = statement.where(*[columns[name] == bindparam(f"k_{name}") for name in key])
            for name, count in expect.items():
                allowed: list[BindParameter[object]] = [bindparam(f"e{index}_{name}") for index in range(count)]
                statement = statement.where(columns[name].in_(allowed))
            return statement.returning(*columns)

        return self._text(identity, build)

    def delete(self, table: Table, key: Sequence[str]) -> str:
        """Rows with this key; gives their primary keys. Parameters: `k_…`."""

        def build() -> ClauseElement:
            statement = delete(table).where(*[table.columns[name] == bindparam(f"k_{name}") for name in key])
            return statement.returning(*table.primary_key.columns)

        return self._text(("delete", table.name, tuple(key)), build)

    def lock_head(self) -> str:
        """The head of a chain, locked. Parameter: `stream`."""
        heads = schema.heads
        return self._text("lock", lambda: select(heads).where(heads.c.stream == bindparam("stream")).with_for_update())

    def update_head(self) -> str:
        """All of a head but its name. Parameters: `b_…`."""

        def build() -> ClauseElement:
            heads = schema.heads
            values: dict[str, BindParameter[object]] = {
                column.name: bindparam(f"b_{column.name}") for column in heads.columns if not column.primary_key
            }
            return update(heads).where(heads.c.stream == bindparam("b_stream")).values(values)

        return self._text("head", build)

    def _text(self, identity: Hashable, build: Callable[[], ClauseElement]) -> str:
        found = self._texts.get(identity)
        if found is None:
            found = self._texts[identity] = str(build().compile(dialect=self._dialect))
        return found
