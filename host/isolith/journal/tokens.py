"""Bearer tokens: by whom they may be used, for what, until when. Of their secrets only digests are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, insert, select, update

from isolith.journal import door_tables, schema
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.times import from_micros, to_micros
from isolith.journal.transaction import JOURNAL

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Select

    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_T, _U = schema.tokens.c, door_tables.token_uses.c

_USE_US: Final = 60_000_000
"""A use is noted once a minute at most."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that is about to be known. `digest`: of its secret, hexadecimal."""

    token_id: str
    digest: str
    principal: str
    scopes: tuple[str, ...]
    made_by: str
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the journal has it."""

    token_id: str
    digest: str
    principal: str
    scopes: tuple[str, ...]
    made_by: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    used_at: datetime | None
    """Its last use, to the minute."""


class Tokens:
    """The tokens of a journal. Given by people at the host, never over the network."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, new: NewToken) -> Token:
        """Make it known. Raises DuplicateEntry."""

        def work(transaction: Transaction) -> Token:
            row: Row = {"token_id": new.token_id, "digest": new.digest, "principal": new.principal}
            row |= {"scopes": " ".join(new.scopes), "made_by": new.made_by, "created_at": transaction.now}
            row["expires_at"] = None if new.expires_at is None else to_micros(new.expires_at)
            (stored,) = transaction.insert(JOURNAL, "token made", schema.tokens, [row])
            return _token({**stored, "used_at": None})

        return await self._store.write(work, hard=True)

    async def revoke(self, token_id: str, who: str) -> Token:
        """It opens nothing from now on. Raises UnknownEntry, WrongStatus where it was revoked before."""

        def work(transaction: Transaction) -> Token:
            transaction.head(JOURNAL)
            found = one_row(transaction.connection, _query().where(_T.token_id == token_id))
            if found is None:
                raise UnknownEntry(f"there is no token {token_id}: see `isolith tokens list`")
            if found["revoked_at"] is not None:
                raise WrongStatus(f"token {token_id} was already revoked by {found['revoked_by']}", "revoked")
            values = {"revoked_at": transaction.now, "revoked_by": who}
            transaction.update(JOURNAL, "token revoked", schema.tokens, {"token_id": token_id}, values)
            return _token({**found, **values})

        return await self._store.write(work, hard=True)

    async def get(self, token_id: str) -> Token | None:
        """One of them, whatever its state."""
        found = await self._store.read(lambda connection: one_row(connection, _ONE, {"id": token_id}))
        return None if found is None else _token(found)

    async def find(self) -> list[Token]:
        """All of them, oldest first, with those that open nothing any more."""

        def work(connection: Connection) -> list[Token]:
            return [_token(row) for row in all_rows(connection, _query().order_by(_T.created_at, _T.token_id))]

        return await self._store.read(work)

    async def used(self, token_id: str) -> None:
        """It was used now."""

        def work(transaction: Transaction) -> None:
            connection, now = transaction.connection, transaction.now
            seen = one_row(connection, _USED, {"id": token_id})
            if seen is not None and seen["used_at"] > now - _USE_US:
                return
            transaction.written += 1
            if seen is None:
                connection.execute(insert(door_tables.token_uses), {"token_id": token_id, "used_at": now})
            else:
                connection.execute(update(door_tables.token_uses).where(_U.token_id == token_id).values(used_at=now))

        await self._store.write(work)


def _query() -> Select[*tuple[object, ...]]:
    joined = schema.tokens.outerjoin(door_tables.token_uses, _U.token_id == _T.token_id)
    return select(*_T, _U.used_at).select_from(joined)


_ONE = _query().where(_T.token_id == bindparam("id"))
_USED = select(_U.used_at).where(_U.token_id == bindparam("id"))


def _token(row: Row) -> Token:
    values = dict(row)
    for name in ("created_at", "expires_at", "revoked_at", "used_at"):
        values[name] = None if values[name] is None else from_micros(values[name])
    values["scopes"] = tuple(values["scopes"].split())
    return Token(**values)
