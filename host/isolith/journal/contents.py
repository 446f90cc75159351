"""Bytes in the journal: artifacts, and isolates at rest."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from isolith.journal import schema
from isolith.journal.errors import TooLarge, UnknownEntry
from isolith.journal.queries import Row, all_rows, one_row
from isolith.journal.rows import artifact_of, hibernation_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from isolith.journal.model import Artifact, Hibernation, Lease
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction

_A, _H = schema.artifacts.c, schema.hibernations.c
_LISTED = [column for column in _A if column.name != "content"]


class Artifacts:
    """Bytes kept outside the guest. They are kept as they are: what is binary cannot be redacted."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def keep(
        self, lease: Lease, content: bytes, *, mime: str, name: str | None = None, handle: str | None = None
    ) -> Artifact:
        """Keep bytes under a handle nobody can guess, or under the caller's.

        Raises LeaseLost, TooLarge past the caps of one or of all of the execution, DuplicateEntry.
        """
        caps = self._store.settings.caps
        if len(content) > caps.artifact:
            raise TooLarge(f"an artifact of {len(content):,} bytes; the journal takes {caps.artifact:,}")

        def work(transaction: Transaction) -> Artifact:
            transaction.hold(lease)
            kept = select(func.coalesce(func.sum(_A.size), 0), func.coalesce(func.max(_A.at), 0))
            kept = kept.where(_A.execution_id == lease.execution_id, _A.purpose == "artifact")
            size, last = transaction.connection.execute(kept).one()
            if size + len(content) > caps.artifacts:
                raise TooLarge(f"an execution may keep {caps.artifacts:,} bytes of artifacts in all")
            at = max(transaction.now, last + 1)  # those of one commit have one time, and an order all the same
            row: Row = {"handle": handle or f"art_{secrets.token_urlsafe(16)}", "purpose": "artifact"}
            row |= {"execution_id": lease.execution_id, "mime": mime, "name": name, "size": len(content)}
            row |= {"sha256": hashlib.sha256(content).hexdigest(), "at": at, "content": content}
            (stored,) = transaction.insert(lease.execution_id, "artifact kept", schema.artifacts, [row])
            return artifact_of(stored)

        return await self._store.write(work)

    async def read(self, execution_id: str, handle: str) -> bytes:
        """The bytes. Raises UnknownEntry, also for a handle of another execution."""

        def work(connection: Connection) -> bytes:
            query = select(_A.content).where(_A.handle == handle, _A.execution_id == execution_id)
            row = connection.execute(query).one_or_none()
            if row is None:
                raise UnknownEntry(f"execution {execution_id} has no artifact {handle}")
            return bytes(row[0])

        return await self._store.read(work)

    async def of(self, execution_id: str) -> list[Artifact]:
        """Those of an execution, in the order they were kept."""

        def work(connection: Connection) -> list[Artifact]:
            query = select(*_LISTED).where(_A.execution_id == execution_id, _A.purpose == "artifact")
            return [artifact_of(row) for row in all_rows(connection, query.order_by(_A.at, _A.handle))]

        return await self._store.read(work)


class Hibernations:
    """Isolates at rest, one for an execution at most."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, lease: Lease, blob: bytes, *, image_digest: str, pass_number: int) -> None:
        """Keep it in place of the one before; then `move` to `paused`. Raises LeaseLost, TooLarge."""
        limit = self._store.settings.caps.hibernation
        if len(blob) > limit:
            raise TooLarge(f"a hibernated isolate of {len(blob):,} bytes; the journal takes {limit:,}")

        def work(transaction: Transaction) -> None:
            transaction.hold(lease)
            key = {"execution_id": lease.execution_id}
            transaction.delete(lease.execution_id, "woken", schema.hibernations, key)
            row = {**key, "pass_number": pass_number, "image_digest": image_digest, "at": transaction.now, "blob": blob}
            transaction.insert(lease.execution_id, "hibernated", schema.hibernations, [row])

        await self._store.write(work)

    async def get(self, execution_id: str) -> Hibernation | None:
        """The one at rest, if there is one."""

        def work(connection: Connection) -> Hibernation | None:
            query = select(schema.hibernations).where(_H.execution_id == execution_id)
            row = one_row(connection, query)
            return None if row is None else hibernation_of(row)

        return await self._store.read(work)

    async def drop(self, lease: Lease) -> bool:
        """It was woken, or is of no use: before anything it does is journalled. Raises LeaseLost."""

        def work(transaction: Transaction) -> bool:
            transaction.hold(lease)
            key = {"execution_id": lease.execution_id}
            return transaction.delete(lease.execution_id, "woken", schema.hibernations, key) > 0

        return await self._store.write(work)
