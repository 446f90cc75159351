"""The record log of a journal: where its chains end, and whether anything was changed behind its back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select, union

from isolith.journal import chain, schema
from isolith.journal.errors import UnknownEntry
from isolith.journal.events import compare_told
from isolith.journal.executions import EXISTS, STANDS
from isolith.journal.model import Finding, Head
from isolith.journal.queries import Row, each_row, one_row
from isolith.journal.transaction import JOURNAL, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Table

    from isolith.journal.store import Store

_R, _H = schema.records.c, schema.heads.c


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check found; nothing wrong where `findings` is empty."""

    findings: tuple[Finding, ...]
    executions: int
    records: int
    head: Head
    """Of the journal's own chain, which names every execution: keep it elsewhere, and give it to the next check."""


class Records:
    """The chains of a journal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def head(self, execution_id: str = JOURNAL) -> Head:
        """Where a chain ends now: of an execution, or the journal's own. Raises UnknownEntry."""

        def work(connection: Connection) -> Head:
            row = one_row(connection, select(schema.heads).where(_H.stream == execution_id))
            if row is None:
                raise UnknownEntry(f"there is no execution {execution_id}, or no longer")
            return Head(execution_id, row["seq"], row["hash"])

        return await self._store.read(work)

    async def of(self, execution_id: str = JOURNAL) -> list[chain.Record]:
        """The records of a chain, in order."""

        def work(connection: Connection) -> list[chain.Record]:
            return list(_records(connection, execution_id))

        return await self._store.read(work)

    async def verify(self, execution_id: str | None = None, heads: Iterable[Head] = ()) -> Verification:
        """Check one execution, or all, and the journal's own chain: each record, and each row against the records.

        `heads`, kept from earlier, must still be on their chains. Raises UnknownEntry for an execution that nothing
        speaks of.
        """
        wanted = tuple(heads)
        key = self._store.settings.key
        return await self._store.read(lambda connection: _verify(connection, key, execution_id, wanted))


def _verify(connection: Connection, key: bytes | None, execution_id: str | None, heads: Sequence[Head]) -> Verification:
    streams = [stream for stream in _streams(connection) if execution_id in {None, stream}]
    if execution_id is not None and not streams:
        raise UnknownEntry(f"there is no execution {execution_id}, or no longer")
    own = _walk(connection, key, JOURNAL, heads)
    noted = [*heads, *_stood(own)]
    own.compare(_rows_of_none(connection))
    checks = [own]
    for stream in streams:
        check = _walk(connection, key, stream, noted)
        compare_told(connection, check)
        check.compare(_rows_of(connection, stream))
        _compare_status(connection, check)
        checks.append(check)
    findings = tuple(finding for check in checks for finding in check.findings)
    head = Head(JOURNAL, own.seq, own.hash)
    return Verification(findings, len(streams), sum(check.seq for check in checks), head)


def _stood(own: chain.Check) -> list[Head]:
    """Where the chains of executions ended when they paused or ended, as the journal's own chain says."""
    found: list[Head] = []
    for row in [row for row in own.rows if row[0] == STANDS]:
        seq, _, noted = own.rows.pop(row).partition(":")
        if seq.isdecimal():  # else the record was made up, which was found
            found.append(Head(row[1], int(seq), noted))
    return found


def _walk(connection: Connection, key: bytes | None, stream: str, heads: Sequence[Head]) -> chain.Check:
    check = chain.Check(stream, key, {head.seq: head.hash for head in heads if head.stream == stream})
    for record in _records(connection, stream):
        check.take(record)
    head = one_row(connection, select(schema.heads).where(_H.stream == stream))
    check.end(None if head is None else (head["seq"], head["hash"]))
    return check


def _compare_status(connection: Connection, check: chain.Check) -> None:
    """The head has the status a second time, and decides by it who may make calls."""
    executions = schema.executions.c
    query = select(_H.status, executions.status.label("chained"))
    query = query.join(schema.executions, executions.execution_id == _H.stream).where(_H.stream == check.stream)
    row = one_row(connection, query)
    if row is not None and row["status"] != row["chained"]:
        check.find(f"the head of the chain says {row['status']}, the execution {row['chained']}")


def _records(connection: Connection, stream: str) -> Iterator[chain.Record]:
    query = select(schema.records).where(_R.stream == stream).order_by(_R.seq)
    return (chain.Record(**row) for row in each_row(connection, query))


def _streams(connection: Connection) -> list[str]:
    """Every execution that any table speaks of."""
    parts = [select(_R.stream.label("stream")), select(_H.stream)]
    parts += [select(table.c.execution_id) for table in schema.OF_AN_EXECUTION]
    found = connection.execute(union(*parts)).scalars()
    return sorted(stream for stream in found if stream != JOURNAL)


def _rows_of(connection: Connection, stream: str) -> Iterator[tuple[chain.RowKey, str]]:
    for table in schema.OF_AN_EXECUTION:
        yield from _digests(table, each_row(connection, select(table).where(table.c.execution_id == stream)))


def _rows_of_none(connection: Connection) -> Iterator[tuple[chain.RowKey, str]]:
    for table in schema.OF_NONE:
        yield from _digests(table, each_row(connection, select(table)))
    first = select(_R.stream, _R.hash).where(_R.seq == schema.FIRST_RECORDS, _R.stream != JOURNAL)
    for row in each_row(connection, first):
        yield (EXISTS, row["stream"]), row["hash"]


def _digests(table: Table, rows: Iterable[Row]) -> Iterator[tuple[chain.RowKey, str]]:
    for row in rows:
        yield key_of(table, row), chain.digest_of_row(row)
