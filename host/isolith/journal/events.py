"""What executions told those who follow them, kept, so that any host tells the same from any point on.

`status` and `outcome` are told by the move itself: the last of them is the status of the execution, at every moment.
An execution that pauses or ends notes in its chain what was told by then (`seal`), which `verify` compares.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, func, insert, select

from isolith.journal import chain, door_tables
from isolith.journal.errors import LeaseLost
from isolith.journal.queries import all_rows, each_row
from isolith.journal.times import from_micros, to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection

    from isolith.journal.model import Encoded
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_E = door_tables.events.c

MAX_BODY: Final = 2 * 1024 * 1024
"""Characters of one event. What is larger is kept as its name, with `"cut": true`."""
_CUT: Final = '{"cut": true}'
_LAST: Final = select(func.max(_E.seq)).where(_E.execution_id == bindparam("id"))
_INSERT: Final = insert(door_tables.events)
_END: Final = "outcome"
"""The last event before a pause or an end, and told at no other time."""
_ENDED_BEFORE: Final = select(func.max(_E.seq)).where(
    _E.execution_id == bindparam("id"), _E.name == _END, _E.seq < bindparam("last")
)
_BETWEEN: Final = (
    select(door_tables.events)
    .where(_E.execution_id == bindparam("id"), _E.seq >= bindparam("first"), _E.seq <= bindparam("last"))
    .order_by(_E.seq)
)
TOLD: Final = "events up to"
"""How a chain names what was told between two ends of its execution."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event. `body`: a JSON object with all but what every event has."""

    name: str
    at: datetime
    body: Encoded
    seq: int = 0
    """Counted by the journal, from 1, over all passes of its execution."""


class Events:
    """The events of a journal's executions."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def append(self, execution_id: str, told: Sequence[Told], fence: int) -> int:
        """Behind those that are there; gives the last number. `fence`: of the lease that the teller has, or had.

        Raises LeaseLost where somebody else took the execution over, UnknownEntry.
        """

        def work(transaction: Transaction) -> int:
            head = transaction.head(execution_id)
            if head.fence != fence:
                raise LeaseLost(f"somebody else works on execution {execution_id}, and tells of it")
            last = _last(transaction.connection, execution_id)
            bodies = [transaction.stored(one.body) for one in told]
            rows = [
                {
                    "execution_id": execution_id,
                    "seq": last + number,
                    "at": to_micros(one.at),
                    "name": one.name,
                    "body": body if len(body) <= MAX_BODY else _CUT,
                }
                for number, (one, body) in enumerate(zip(told, bodies, strict=True), 1)
            ]
            if rows:
                transaction.connection.execute(_INSERT, rows)
                head.bytes += sum(map(len, bodies))
                transaction.touch(head)
            return last + len(rows)

        return await self._store.write(work)

    async def after(self, execution_id: str, seq: int, limit: int = 500) -> list[Told]:
        """Those behind number `seq`, in order; none of an execution that nobody knows."""

        def work(connection: Connection) -> list[Told]:
            query = select(door_tables.events).where(_E.execution_id == execution_id, _E.seq > seq)
            rows = all_rows(connection, query.order_by(_E.seq).limit(limit))
            return [Told(row["name"], from_micros(row["at"]), row["body"], row["seq"]) for row in rows]

        return await self._store.read(work)


def tell(transaction: Transaction, execution_id: str, name: str, parts: Mapping[str, object]) -> None:
    """One event, in the transaction that made it true: what is told and what is never differ."""
    row = {"execution_id": execution_id, "seq": _last(transaction.connection, execution_id) + 1, "at": transaction.now}
    body = transaction.stored(json.dumps(parts))
    transaction.connection.execute(_INSERT, {**row, "name": name, "body": body})
    transaction.written += 1


def tell_end(transaction: Transaction, execution_id: str, status: str) -> None:
    """That it pauses or has ended; its chain says what was told since it did so before, each event hashed once."""
    tell(transaction, execution_id, _END, {"status": status})
    connection, last = transaction.connection, _last(transaction.connection, execution_id)
    before = connection.execute(_ENDED_BEFORE, {"id": execution_id, "last": last}).scalar_one() or 0
    noted = _noted(connection, execution_id, before + 1, last)
    transaction.note(execution_id, "told", [chain.Change((TOLD, execution_id, str(last)), noted)])


def compare_told(connection: Connection, check: chain.Check) -> None:
    """Find what was told otherwise than the chain says. What was told since the last end is in no chain yet."""
    for row in [row for row in check.rows if row[0] == TOLD]:
        noted, last = check.rows.pop(row), row[2]
        first = noted.partition(":")[0]
        if not (first.isdecimal() and last.isdecimal()):
            continue  # the record was made up, which was found
        if _noted(connection, check.stream, int(first), int(last)) != noted:
            check.find(f"events {first} to {last} are not as they were told")


def _noted(connection: Connection, execution_id: str, first: int, last: int) -> str:
    told = hashlib.sha256()
    for row in each_row(connection, _BETWEEN, {"id": execution_id, "first": first, "last": last}):
        told.update(chain.digest_of_row(row).encode())
    return f"{first}:{told.hexdigest()}"


def _last(connection: Connection, execution_id: str) -> int:
    return connection.execute(_LAST, {"id": execution_id}).scalar_one() or 0
