"""One transaction: rows in, each chained and redacted on the way.

Operations go through here for every write, so none can forget the lock, the lease, the caps, the secrets or the chain.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Insert, Table, bindparam, delete, insert, select, update

from isolith.journal import chain, schema
from isolith.journal.errors import LeaseLost, TooLarge, UnknownEntry
from isolith.journal.model import Caps, Lease, Redact
from isolith.journal.times import to_micros

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, RowMapping
    from sqlalchemy.sql.selectable import Select

    from isolith.journal.dialects import Dialect

Row = Mapping[str, object]

JOURNAL = ""
"""The stream of what belongs to no execution."""


def _nothing_secret(text: str) -> str:
    return text


@dataclass(frozen=True)
class Settings:
    """What the host decides once, for all transactions."""

    caps: Caps = field(default_factory=Caps)
    redact: Redact = _nothing_secret
    key: bytes | None = field(default=None, repr=False)
    clock: Callable[[], datetime] | None = None
    """For tests of what expires; else the database's."""


@dataclass(slots=True)
class Head:
    """Where a chain ends, and who works on its execution; written when dirty."""

    seq: int
    hash: str
    bytes: int
    owner: str | None
    fence: int
    until: int | None
    dirty: bool = False


class Transaction:
    """What an operation has in hand. Valid on the writer's thread, until the commit."""

    def __init__(self, connection: Connection, dialect: Dialect, settings: Settings) -> None:
        self.connection = connection
        self.settings = settings
        self.now = dialect.now(connection) if settings.clock is None else to_micros(settings.clock())
        self.written = 0
        self._heads: dict[str, Head] = {}
        self._records: list[Row] = []

    # the head: lock, lease, end of the chain

    def begin_stream(self, stream: str) -> None:
        """Make the chain of a new execution. The lease is free."""
        self.written += 1
        head = Head(0, chain.START, 0, None, 0, None)
        self.connection.execute(_INSERT_HEAD, _head_row(stream, head))
        self._heads[stream] = head

    def head(self, stream: str) -> Head:
        """The head of a chain, locked to the end of the transaction. Raises UnknownEntry."""
        found = self.find_head(stream)
        if found is None:
            raise UnknownEntry(f"there is no execution {stream}, or no longer")
        return found

    def find_head(self, stream: str) -> Head | None:
        """The same, None where there is none."""
        found = self._heads.get(stream)
        if found is None:
            row = self.connection.execute(_LOCK_HEAD, {"stream": stream}).mappings().one_or_none()
            if row is not None:
                found = Head(row["seq"], row["hash"], row["bytes"], row["owner"], row["fence"], row["until"])
                self._heads[stream] = found
        return found

    def hold(self, lease: Lease) -> Head:
        """The head of an execution that the caller works on. Raises LeaseLost when somebody else does.

        An expired lease holds as long as nobody took the execution over: the fence says so.
        """
        head = self.head(lease.execution_id)
        if head.owner != lease.owner or head.fence != lease.fence:
            raise LeaseLost(f"{lease.owner} no longer works on execution {lease.execution_id}: stop, and write nothing")
        return head

    def touch(self, head: Head) -> None:
        """The lease in the head changed: write it."""
        self.written += 1
        head.dirty = True

    # rows

    def rows(
        self, query: Select[*tuple[object, ...]], parameters: Mapping[str, object] | None = None
    ) -> Sequence[RowMapping]:
        """What a query finds."""
        return self.connection.execute(query, parameters or {}).mappings().all()

    def insert(self, stream: str, what: str, table: Table, rows: Iterable[Row]) -> list[dict[str, object]]:
        """Write new rows, chained as one record. Gives them as they were stored."""
        full = [self._admit(table, {name: row.get(name) for name in table.columns.keys()}) for row in rows]  # noqa: SIM118
        if full:
            self.written += 1
            self.connection.execute(_inserting(table), full)
            self._record(stream, what, table, full)
            self.head(stream).bytes += sum(_size(row) for row in full)
        return full

    def update(
        self, stream: str, what: str, table: Table, key: Row, values: Row, expect: Mapping[str, Iterable[object]] = {}
    ) -> dict[str, object] | None:
        """Change one row where each column of `expect` has one of the values; chained. None where none did."""
        admitted = self._admit(table, dict(values))
        statement = update(table).values(admitted).returning(*table.columns)
        for name, value in key.items():
            statement = statement.where(table.c[name] == value)
        for name, allowed in expect.items():
            statement = statement.where(table.c[name].in_(sorted(allowed, key=str)))
        row = self.connection.execute(statement).mappings().one_or_none()
        if row is None:
            return None
        self.written += 1
        self._record(stream, what, table, [row])
        self.head(stream).bytes += _size(admitted)
        return dict(row)

    def delete(self, stream: str, what: str, table: Table, key: Row) -> int:
        """Delete the rows with this key; chained. Gives how many there were."""
        statement = delete(table).returning(*table.primary_key.columns)
        for name, value in key.items():
            statement = statement.where(table.c[name] == value)
        gone = self.connection.execute(statement).mappings().all()
        if gone:
            self.written += 1
            self.note(stream, what, [chain.Change(key_of(table, row), None) for row in gone])
        return len(gone)

    def note(self, stream: str, what: str, changes: Sequence[chain.Change]) -> None:
        """Add a record to a chain."""
        head = self.head(stream)
        record = chain.Record(stream, head.seq + 1, self.now, what, chain.body_of(changes), head.hash, "")
        own = chain.link(self.settings.key, record)
        self._records.append(
            {"stream": stream, "seq": record.seq, "at": record.at, "what": what, "body": record.body}
            | {"previous": record.previous, "hash": own}
        )
        head.seq, head.hash, head.dirty = record.seq, own, True

    def flush(self) -> None:
        """Write the records and heads of all that was done. Last, before the commit."""
        if self._records:
            self.connection.execute(_INSERT_RECORDS, self._records)
        changed = [_head_row(stream, head, "b_") for stream, head in self._heads.items() if head.dirty]
        if changed:
            self.connection.execute(_UPDATE_HEADS, changed)

    # on the way in

    def stored(self, text: str) -> str:
        """Free text as it would be stored. To store it once more changes nothing."""
        return _storable(self.settings.redact(text))

    def admit_outcome(self, text: str) -> str:
        """An outcome that is kept beside its row, as it would be stored in it. Raises TooLarge."""
        return str(self._admit(schema.calls, {"outcome": text})["outcome"])

    def _record(self, stream: str, what: str, table: Table, rows: Sequence[Row]) -> None:
        self.note(stream, what, [chain.Change(key_of(table, row), chain.digest_of_row(row)) for row in rows])

    def _admit(self, table: Table, row: dict[str, object]) -> dict[str, object]:
        """Redact what is free text, write it so that every database takes it, and refuse what is too large."""
        for name, value in row.items():
            if isinstance(value, str):
                text = self.stored(value) if table.c[name].info.get("secret") else _storable(value)
                row[name] = text
                limit = self.settings.caps.outcome if name in _LARGE else self.settings.caps.text
                if len(text) > limit // 4 and len(text.encode(errors="replace")) > limit:
                    raise TooLarge(f"the {name} is larger than the {limit:,} bytes that the journal takes")
        return row


_LARGE = {"outcome", "late"}


def _storable(text: str) -> str:
    """Lone surrogates as escapes, which in JSON text mean the same; a NUL, which Postgres has no place for, as such."""
    if "\0" in text:
        text = text.replace("\0", "\\u0000")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _size(row: Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, (str, bytes, memoryview)))


def key_of(table: Table, row: Row) -> chain.RowKey:
    """How records name a row."""
    return (table.name, *[str(row[column.name]) for column in table.primary_key.columns])


@functools.cache
def _inserting(table: Table) -> Insert:
    return insert(table)


def _head_row(stream: str, head: Head, prefix: str = "") -> dict[str, object]:
    row = {"stream": stream, "seq": head.seq, "hash": head.hash, "bytes": head.bytes}
    row |= {"owner": head.owner, "fence": head.fence, "until": head.until}
    return {prefix + name: value for name, value in row.items()}


_INSERT_HEAD = insert(schema.heads)
_INSERT_RECORDS = insert(schema.records)
_LOCK_HEAD = select(schema.heads).where(schema.heads.c.stream == bindparam("stream")).with_for_update()
_UPDATE_HEADS = (
    update(schema.heads)
    .where(schema.heads.c.stream == bindparam("b_stream"))
    .values({name: bindparam(f"b_{name}") for name in ("seq", "hash", "bytes", "owner", "fence", "until")})
)
