"""The chain of records: pure. What a row's digest is, what a record's hash covers, and how a chain is checked.

A record's hash covers its stream, number, time, what was done, its body and the hash before it; the body names each
row that was written with the digest of all its values. With a key it is an HMAC: who can write the database but does
not have the key cannot make a chain that verifies. Without a key a whole chain can be rewritten, which a `Head` kept
elsewhere shows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.journal.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

START = "0" * 64
"""What the first record of a chain has as the hash before it."""

RowKey = tuple[str, ...]
"""The table's name and the row's primary key, as text."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row that an operation wrote; without a digest it was deleted."""

    row: RowKey
    digest: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """One link."""

    stream: str
    seq: int
    at: int
    what: str
    body: str
    previous: str
    hash: str

    def changes(self) -> list[Change]:
        """What it says was written. Raises ValueError for a body that nobody of ours wrote."""
        found: list[tuple[list[str], str | None]] = json.loads(self.body)
        return [Change(_row_key(row), digest) for row, digest in found]


def _row_key(parts: list[str]) -> RowKey:
    return tuple(parts)


def digest_of_row(row: Mapping[str, object]) -> str:
    """SHA-256 of the values that are not null. Order of columns does not matter, nor a nullable one added later."""
    values = {name: _digestible(value) for name, value in row.items() if value is not None}
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digestible(value: object) -> object:
    if isinstance(value, bytes):
        return [hashlib.sha256(value).hexdigest()]
    return value


def body_of(changes: Sequence[Change]) -> str:
    """The body of a record that made these changes."""
    return json.dumps([[list(change.row), change.digest] for change in changes], separators=(",", ":"))


def link(key: bytes | None, record: Record) -> str:
    """The hash of a record; its own `hash` does not count."""
    parts = [record.stream, record.seq, record.at, record.what, record.body, record.previous]
    text = json.dumps(parts, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest() if key is None else hmac.new(key, text, "sha256").hexdigest()


class Check:
    """Walks one chain from its first record, and collects what is wrong and what the rows should be."""

    def __init__(self, stream: str, key: bytes | None, kept: Mapping[int, str]) -> None:
        """`kept`: hashes of this chain by number that were noted elsewhere."""
        self.stream = stream
        self.findings: list[Finding] = []
        self.rows: dict[RowKey, str] = {}
        self.seq = 0
        self.hash = START
        self._key = key
        self._kept = dict(kept)

    def find(self, message: str, seq: int | None = None) -> None:
        """Note something wrong."""
        self.findings.append(Finding(self.stream, seq, message))

    def take(self, record: Record) -> None:
        """The next record, in the order of `seq`."""
        if record.seq != self.seq + 1:
            self.find(f"records {self.seq + 1} to {record.seq - 1} are missing", record.seq)
        elif record.previous != self.hash:
            self.find("the record does not follow the one before it", record.seq)
        if not hmac.compare_digest(link(self._key, record), record.hash):
            self.find("the record was changed, or written with another key", record.seq)
        self.seq, self.hash = record.seq, record.hash
        if self._kept.pop(record.seq, record.hash) != record.hash:
            self.find("the chain was written anew: another hash was noted elsewhere for this record", record.seq)
        self._note(record)

    def _note(self, record: Record) -> None:
        try:
            changes = record.changes()
        except (ValueError, TypeError):
            self.find("the record cannot be read", record.seq)
            return
        for change in changes:
            if change.digest is None:
                self.rows.pop(change.row, None)
            else:
                self.rows[change.row] = change.digest

    def end(self, head: tuple[int, str] | None) -> None:
        """Compare the last record with where the journal says the chain ends."""
        for seq in self._kept:
            self.find("the record is missing: its hash was noted elsewhere", seq)
        if head is None:
            self.find("the head of the chain is missing")
        elif head != (self.seq, self.hash):
            self.find(f"the chain ends at record {self.seq}, its head says {head[0]}: records were removed or added")

    def compare(self, rows: Iterable[tuple[RowKey, str]]) -> None:
        """Compare the rows that are there with those that the records say were written."""
        expected = dict(self.rows)
        for row, digest in rows:
            wanted = expected.pop(row, None)
            if wanted is None:
                self.find(f"{_spelled(row)} is there, and no record wrote it")
            elif wanted != digest:
                self.find(f"{_spelled(row)} was changed behind the journal's back")
        for row in expected:
            self.find(f"{_spelled(row)} was deleted behind the journal's back")


def _spelled(row: RowKey) -> str:
    return f"{row[0]} {'/'.join(row[1:])}"
