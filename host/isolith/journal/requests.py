"""Idempotency keys: what was asked for under one is begun once, whichever host is asked again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, delete, insert, select, update

from isolith.journal import door_tables
from isolith.journal.errors import DuplicateEntry
from isolith.journal.queries import one_row
from isolith.journal.times import from_micros, to_micros

if TYPE_CHECKING:
    from isolith.journal.queries import Row
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_R = door_tables.requests.c

LASTS: Final = timedelta(hours=24)
"""How long a key is remembered."""

_KNOWN: Final = select(door_tables.requests).where(
    _R.principal == bindparam("of"), _R.key == bindparam("under"), _R.at >= bindparam("since")
)
_FORGET: Final = delete(door_tables.requests).where(_R.at < bindparam("before"))


@dataclass(frozen=True, slots=True)
class Claim:
    """What a key stands for. `fresh`: it was claimed just now, by this very claim."""

    execution_id: str
    digest: str
    at: datetime
    fresh: bool


class Requests:
    """The keys of a journal, each of one principal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def claim(self, principal: str | None, key: str, digest: str, execution_id: str) -> Claim:
        """Take a key for an execution that is about to begin; or what it was taken for before."""

        def work(transaction: Transaction) -> Claim:
            connection, owner = transaction.connection, principal or ""
            oldest = transaction.now - round(LASTS.total_seconds() * 1e6)
            known = one_row(connection, _KNOWN, {"of": owner, "under": key, "since": oldest})
            if known is not None:
                return _claim(known, fresh=False)
            row: Row = {"principal": owner, "key": key, "digest": digest, "execution_id": execution_id}
            row["at"] = transaction.now
            transaction.written += 1
            connection.execute(_FORGET, {"before": oldest})
            connection.execute(insert(door_tables.requests), row)
            return _claim(row, fresh=True)

        try:
            return await self._store.write(work, hard=True)
        except DuplicateEntry:  # another host was first, between the look and the insert
            return await self._store.write(work, hard=True)

    async def renew(self, principal: str | None, key: str, seen: Claim) -> bool:
        """Take over a key whose execution never began. Whether nobody else did since it was `seen`."""

        def work(transaction: Transaction) -> bool:
            transaction.written += 1
            done = transaction.connection.execute(
                update(door_tables.requests)
                .where(_R.principal == (principal or ""), _R.key == key, _R.execution_id == seen.execution_id)
                .where(_R.at == to_micros(seen.at))
                .values(at=transaction.now)
            )
            return done.rowcount == 1

        return await self._store.write(work, hard=True)

    async def forget(self, principal: str | None, key: str, execution_id: str) -> None:
        """Give a key back whose execution is not begun after all: the next to ask under it begins."""

        def work(transaction: Transaction) -> None:
            transaction.written += 1
            transaction.connection.execute(
                delete(door_tables.requests).where(
                    _R.principal == (principal or ""), _R.key == key, _R.execution_id == execution_id
                )
            )

        await self._store.write(work)


def _claim(row: Row, *, fresh: bool) -> Claim:
    return Claim(row["execution_id"], row["digest"], from_micros(row["at"]), fresh)
