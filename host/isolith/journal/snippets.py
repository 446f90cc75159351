"""Snippets in the journal: versions of a name, each proposed, reviewed once, and maybe revoked."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from sqlalchemy import func, select

from isolith.journal import schema
from isolith.journal.digests import content_hash
from isolith.journal.errors import UnknownEntry, WrongStatus
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.rows import snippet_of
from isolith.journal.statuses import SnippetState, snippets_before
from isolith.journal.transaction import JOURNAL

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

    from isolith.journal.snippet_model import NewSnippet, Snippet
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_S = schema.snippets.c


class Snippets:
    """The snippets of a journal. Written by the host for people, never by a script."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def propose(self, snippet: NewSnippet) -> Snippet:
        """The next version of its name, `proposed`. The content hash covers code, input schema and methods."""

        def work(transaction: Transaction) -> Snippet:
            transaction.head(JOURNAL)
            last = select(func.max(_S.version)).where(_S.name == snippet.name)
            version = (transaction.connection.execute(last).scalar_one() or 0) + 1
            row = {name: value for name, value in asdict(snippet).items() if name != "who"}
            row |= {"code": transaction.stored(snippet.code), "version": version, "state": "proposed"}
            row["tool"] = 1 if snippet.tool else None
            row |= {"proposed_by": snippet.who, "proposed_at": transaction.now}
            row["content_hash"] = content_hash(row["code"], snippet.input_schema, snippet.methods)
            (stored,) = transaction.insert(JOURNAL, "snippet proposed", schema.snippets, [row])
            return snippet_of(stored)

        return await self._store.write(work, hard=True)

    async def review(
        self,
        name: str,
        version: int,
        state: Literal["approved", "refused", "revoked"],
        *,
        who: str,
        content_hash: str,
        reason: str | None = None,
    ) -> Snippet:
        """Approve or refuse what is proposed, revoke what is approved; bound to the hash of what was read.

        Raises UnknownEntry, WrongStatus (status `changed` for another hash).
        """

        def work(transaction: Transaction) -> Snippet:
            transaction.head(JOURNAL)
            found = _load(transaction.connection, name, version)
            if found["content_hash"] != content_hash:
                raise WrongStatus(
                    f"version {version} of snippet {name} is not what was reviewed: look again", "changed"
                )
            values = {"state": state, "reviewed_by": who, "reviewed_at": transaction.now, "reason": reason}
            key, expect = {"name": name, "version": version}, {"state": snippets_before(state)}
            row = transaction.update(JOURNAL, f"snippet {state}", schema.snippets, key, values, expect)
            if row is None:
                is_now = f"version {version} of snippet {name} is {found['state']}"
                by = f" by {found['reviewed_by']}" if found["reviewed_by"] else ""
                cannot = "already" if found["state"] == state else f"and cannot become {state}"
                raise WrongStatus(f"{is_now}{by} {cannot}", found["state"])
            return snippet_of(row)

        return await self._store.write(work, hard=True)

    async def get(self, name: str, version: int | None = None) -> Snippet:
        """One version; without a number, the newest that is approved. Raises UnknownEntry."""

        def work(connection: Connection) -> Snippet:
            if version is not None:
                return snippet_of(_load(connection, name, version))
            query = select(schema.snippets).where(_S.name == name, _S.state == "approved")
            row = one_row(connection, query.order_by(_S.version.desc()).limit(1))
            if row is None:
                raise UnknownEntry(f"no version of snippet {name} is approved")
            return snippet_of(row)

        return await self._store.read(work)

    async def find(self, states: Collection[SnippetState] | None = None) -> list[Snippet]:
        """All versions in these states, by name and version."""

        def work(connection: Connection) -> list[Snippet]:
            query = select(schema.snippets).order_by(_S.name, _S.version)
            if states is not None:
                query = query.where(_S.state.in_(sorted(states)))
            return [snippet_of(row) for row in all_rows(connection, query)]

        return await self._store.read(work)


def _load(connection: Connection, name: str, version: int) -> Row:
    query = select(schema.snippets).where(_S.name == name, _S.version == version)
    row = one_row(connection, query)
    if row is None:
        raise UnknownEntry(f"there is no version {version} of snippet {name}")
    return row
