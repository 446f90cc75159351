"""One transaction: rows in, each chained and redacted on the way.

Operations go through here for every write, so none can forget the lock, the lease, the caps, the secrets or the chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from isolith.journal import chain, schema
from isolith.journal.errors import LeaseLost, TooLarge, UnknownEntry
from isolith.journal.limits import Caps
from isolith.journal.queries import Row, all_rows
from isolith.journal.times import to_micros

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from sqlalchemy import Connection, Select, Table

    from isolith.journal.dialects import Dialect
    from isolith.journal.model import Lease, Redact

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
    """Of the chain's HMAC: with it, who can write the database but has no key cannot forge a chain."""
    clock: Callable[[], datetime] | None = None
    """For tests of what expires; else the database's."""


@dataclass(slots=True)
class Head:
    """Where a chain ends, the status of its execution, and who works on it; written when dirty."""

    seq: int = 0
    hash: str = chain.START
    bytes: int = 0
    status: str | None = None
    owner: str | None = None
    fence: int = 0
    until: int | None = None
    dirty: bool = False

    def row(self, stream: str, prefix: str = "") -> Row:
        """As it is written."""
        return {
            f"{prefix}stream": stream,
            f"{prefix}seq": self.seq,
            f"{prefix}hash": self.hash,
            f"{prefix}bytes": self.bytes,
            f"{prefix}status": self.status,
            f"{prefix}owner": self.owner,
            f"{prefix}fence": self.fence,
            f"{prefix}until": self.until,
        }


class Transaction:
    """What an operation has in hand. Valid on the writer's thread, until the commit."""

    def __init__(self, connection: Connection, dialect: Dialect, settings: Settings) -> None:
        self.connection = connection
        self.settings = settings
        self.now = dialect.now(connection) if settings.clock is None else to_micros(settings.clock())
        self.written = 0
        self._statements = dialect.statements
        raw = connection.connection.dbapi_connection
        if raw is None:
            raise RuntimeError("the connection was closed")
        self._cursor = raw.cursor()
        self._heads: dict[str, Head] = {}
        self._records: list[Row] = []

    # the head: lock, lease, end of the chain

    def begin_stream(self, stream: str) -> Head:
        """Make the chain of a new execution. The lease is free."""
        head = self._heads[stream] = Head()
        self._run(self._statements.insert(schema.heads), head.row(stream))
        self.written += 1
        return head

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
            rows = self._run(self._statements.lock_head(), {"stream": stream})
            if rows:
                del rows[0]["stream"]
                found = self._heads[stream] = Head(**rows[0])
        return found

    def drop_stream(self, stream: str) -> None:
        """Delete a chain with its head: of an execution that retention ends."""
        self._heads.pop(stream, None)
        self._records = [record for record in self._records if record["stream"] != stream]
        for table in (schema.records, schema.heads):
            self._run(self._statements.delete(table, ["stream"]), {"k_stream": stream})
        self.written += 1

    def erase(self, table: Table, execution_id: str) -> None:
        """Delete all rows of an execution from a table; not chained, for its chain goes too."""
        self._run(self._statements.delete(table, ["execution_id"]), {"k_execution_id": execution_id})
        self.written += 1

    def hold(self, lease: Lease) -> Head:
        """The head of an execution that the caller works on. Raises LeaseLost when somebody else does.

        An expired lease holds as long as nobody took the execution over: the fence says so.
        """
        head = self.head(lease.execution_id)
        if head.owner != lease.owner or head.fence != lease.fence:
            raise LeaseLost(f"{lease.owner} no longer works on execution {lease.execution_id}: stop, and write nothing")
        return head

    def touch(self, head: Head) -> None:
        """The lease or the status in the head changed: write it."""
        self.written += 1
        head.dirty = True

    # rows

    def rows(self, query: Select[*tuple[Any, ...]]) -> list[Row]:
        """What a query finds."""
        return all_rows(self.connection, query)

    def insert(self, stream: str, what: str, table: Table, rows: Iterable[Mapping[str, object]]) -> list[Row]:
        """Write new rows, chained as one record. Gives them as they were stored."""
        names = [column.name for column in table.columns]
        full = [self._admit(table, {name: row.get(name) for name in names}) for row in rows]
        if full:
            head = self.head(stream)
            self._cursor.executemany(self._statements.insert(table), full)
            self.written += 1
            self._record(stream, what, table, full)
            head.bytes += sum(map(_size, full))
        return full

    def update(
        self,
        stream: str,
        what: str,
        table: Table,
        key: Mapping[str, object],
        values: Mapping[str, object],
        expect: Mapping[str, Collection[object]] = MappingProxyType({}),
    ) -> Row | None:
        """Change one row where each column of `expect` has one of the values; chained. None where none did."""
        head = self.head(stream)
        admitted = self._admit(table, dict(values))
        counts = {name: len(allowed) for name, allowed in expect.items()}
        parameters = {f"k_{name}": value for name, value in key.items()}
        parameters |= {f"v_{name}": value for name, value in admitted.items()}
        for name, allowed in expect.items():
            parameters |= {f"e{index}_{name}": value for index, value in enumerate(allowed)}
        rows = self._run(self._statements.update(table, [*key], [*admitted], counts), parameters)
        if not rows:
            return None
        self.written += 1
        self._record(stream, what, table, rows)
        head.bytes += _size(admitted)
        return rows[0]

    def delete(self, stream: str, what: str, table: Table, key: Mapping[str, object]) -> int:
        """Delete the rows with this key; chained. Gives how many there were."""
        self.head(stream)
        parameters = {f"k_{name}": value for name, value in key.items()}
        gone = self._run(self._statements.delete(table, [*key]), parameters)
        if gone:
            self.written += 1
            self.note(stream, what, [chain.Change(key_of(table, row), None) for row in gone])
        return len(gone)

    def note(self, stream: str, what: str, changes: Sequence[chain.Change]) -> None:
        """Add a record to a chain."""
        head = self.head(stream)
        record = chain.Record(stream, head.seq + 1, self.now, what, chain.body_of(changes), head.hash, "")
        own = chain.link(self.settings.key, record)
        row: Row = {"stream": stream, "seq": record.seq, "at": record.at, "what": what, "body": record.body}
        self._records.append({**row, "previous": record.previous, "hash": own})
        head.seq, head.hash, head.dirty = record.seq, own, True

    def flush(self) -> None:
        """Write the records and heads of all that was done. Last, before the commit."""
        if self._records:
            self._cursor.executemany(self._statements.insert(schema.records), self._records)
        changed = [head.row(stream, "b_") for stream, head in self._heads.items() if head.dirty]
        if changed:
            self._cursor.executemany(self._statements.update_head(), changed)
        self._cursor.close()

    def _run(self, statement: str, parameters: Mapping[str, object]) -> list[Row]:
        cursor = self._cursor
        cursor.execute(statement, parameters)
        names = [column[0] for column in cursor.description or ()]
        if not names:
            return []
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    # on the way in

    def stored(self, text: str) -> str:
        """Free text as it would be stored. To store it once more changes nothing."""
        return _storable(self.settings.redact(text))

    def admit_outcome(self, text: str) -> str:
        """An outcome that is kept beside its row, as it would be stored in it. Raises TooLarge."""
        return str(self._admit(schema.calls, {"outcome": text})["outcome"])

    def _record(self, stream: str, what: str, table: Table, rows: Sequence[Row]) -> None:
        self.note(stream, what, [chain.Change(key_of(table, row), chain.digest_of_row(row)) for row in rows])

    def _admit(self, table: Table, row: Row) -> Row:
        """Redact what is free text, write it so that every database takes it, and refuse what is too large."""
        secret = schema.secret_columns(table)
        for name, value in row.items():
            if isinstance(value, str):
                text = row[name] = self.stored(value) if name in secret else _storable(value)
                limit = _cap(self.settings.caps, name)
                if len(text) > limit // 4 and len(text.encode(errors="replace")) > limit:
                    raise TooLarge(f"the {name} is larger than the {limit:,} bytes that the journal takes")
        return row


_OUTCOMES = {"outcome", "late", "question"}
"""The last holds the arguments of its call once more."""
_GIVEN = {"arguments", "edited_arguments", "input"}


def _cap(caps: Caps, name: str) -> int:
    return caps.outcome if name in _OUTCOMES else caps.given if name in _GIVEN else caps.text


def key_of(table: Table, row: Row) -> chain.RowKey:
    """How records name a row."""
    return (table.name, *[str(row[name]) for name in schema.key_columns(table)])


def _storable(text: str) -> str:
    """Lone surrogates as escapes, which in JSON text mean the same; a NUL, which Postgres has no place for, as such."""
    if "\0" in text:
        text = text.replace("\0", "\\u0000")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _size(row: Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))
