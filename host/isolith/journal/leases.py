"""Who works on an execution. A lease expires unless it is renewed; taking an expired one over raises the fence.

Two hosts never both work: each write of a host carries its fence, compared in the same transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from isolith.journal import schema
from isolith.journal.errors import Leased
from isolith.journal.model import Lease
from isolith.journal.owners import is_gone
from isolith.journal.times import from_micros

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from isolith.journal.store import Store
    from isolith.journal.transaction import Head, Transaction


class Leases:
    """The leases of a journal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def acquire(self, execution_id: str, owner: str, lasts: timedelta) -> Lease:
        """The right to work on it, in whatever status it is. `owner` names host, process and task: unique to the asker.

        Raises Leased while somebody else's lasts, also for the same owner's; UnknownEntry. That of a process of this
        machine that has ended lasts no longer.
        """

        def work(transaction: Transaction) -> Lease:
            head = transaction.head(execution_id)
            owner_now, until = head.owner, head.until
            if owner_now and until is not None and until > transaction.now and not is_gone(owner_now):
                raise Leased(execution_id, owner_now, from_micros(until))
            return give(transaction, execution_id, owner, lasts)

        return await self._store.write(work, hard=True)

    async def renew(self, leases: Iterable[Lease], lasts: timedelta) -> list[Lease]:
        """Those that are still ours, each with its new expiry; stop working on the others.

        Call it every third of `lasts`, for all executions of a host at once.
        """

        def work(transaction: Transaction) -> list[Lease]:
            kept: list[Lease] = []
            for lease in sorted(leases, key=lambda lease: lease.execution_id):
                head = transaction.find_head(lease.execution_id)
                if head is not None and head.owner == lease.owner and head.fence == lease.fence:
                    head.until = transaction.now + _micros(lasts)
                    transaction.touch(head)
                    kept.append(Lease(lease.execution_id, lease.owner, lease.fence, from_micros(head.until)))
            return kept

        return await self._store.write(work)

    async def release(self, lease: Lease) -> bool:
        """Let it go. False when it was no longer ours, which is no error."""

        def work(transaction: Transaction) -> bool:
            head = transaction.find_head(lease.execution_id)
            if head is None or head.owner != lease.owner or head.fence != lease.fence:
                return False
            let_go(transaction, head)
            return True

        return await self._store.write(work)

    async def abandoned(self, limit: int = 100) -> list[str]:
        """Executions that are `running`, or whose rollback is under way, and nobody's lease lasts: to be recovered.

        Oldest first. Whoever acquires one works on it.
        """

        def work(transaction: Transaction) -> list[str]:
            head, execution = schema.heads.c, schema.executions.c
            under_way = or_(head.status == "running", execution.rollback == "under_way")
            both = schema.executions.join(schema.heads, head.stream == execution.execution_id)
            holders = select(head.owner).distinct().select_from(both).where(under_way, head.until > transaction.now)
            gone = [owner for owner in transaction.connection.scalars(holders) if owner is not None and is_gone(owner)]
            query = (
                select(execution.execution_id)
                .select_from(both)
                .where(under_way)
                .where(or_(head.owner.is_(None), head.until <= transaction.now, head.owner.in_(gone)))
                .order_by(execution.created_at)
                .limit(limit)
            )
            return list(transaction.connection.scalars(query))

        return await self._store.write(work)


def give(transaction: Transaction, execution_id: str, owner: str, lasts: timedelta) -> Lease:
    """Lease it to `owner` under a new fence."""
    head = transaction.head(execution_id)
    head.owner, head.fence, head.until = owner, head.fence + 1, transaction.now + _micros(lasts)
    transaction.touch(head)
    return Lease(execution_id, owner, head.fence, from_micros(head.until))


def let_go(transaction: Transaction, head: Head) -> None:
    """Nobody works on it; what the last owner still writes is refused."""
    head.owner = head.until = None
    transaction.touch(head)


def _micros(lasts: timedelta) -> int:
    return round(lasts.total_seconds() * 1e6)
