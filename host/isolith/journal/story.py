"""What happened in an execution beside its calls: passes, deliveries, logs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from isolith.journal import schema
from isolith.journal.queries import Row, all_rows
from isolith.journal.rows import delivery_of, log_of, pass_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from typing import Literal

    from sqlalchemy import Connection

    from isolith.journal.model import Delivery, Encoded, Lease, LogLine, Pass
    from isolith.journal.store import Store
    from isolith.journal.transaction import Transaction


class Story:
    """Passes, deliveries and logs of a journal's executions. Writing needs the lease.

    `deliver` and `log` hand over at once and return a future. Whoever does not await it still has the order: a write
    handed over later never counts without it, except where it failed; so await them at the end of the pass.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    async def begin_pass(self, lease: Lease, how: Literal["start", "wake", "replay", "retry", "rollback"]) -> Pass:
        """The next pass. Raises LeaseLost."""

        def work(transaction: Transaction) -> Pass:
            transaction.hold(lease)
            passes = schema.passes.c
            last = select(func.max(passes.number)).where(passes.execution_id == lease.execution_id)
            number = (transaction.connection.execute(last).scalar_one() or 0) + 1
            row = {"execution_id": lease.execution_id, "number": number, "how": how, "started_at": transaction.now}
            (stored,) = transaction.insert(lease.execution_id, f"pass {how}", schema.passes, [row])
            return pass_of(stored)

        return await self._store.write(work)

    async def end_pass(self, lease: Lease, number: int, ending: str, usage: Encoded | None = None) -> None:
        """How a pass ended and what it spent; before the `move` that lets the lease go. Raises LeaseLost."""

        def work(transaction: Transaction) -> None:
            transaction.hold(lease)
            key = {"execution_id": lease.execution_id, "number": number}
            values = {"ended_at": transaction.now, "ending": ending, "usage": usage}
            transaction.update(lease.execution_id, "pass ended", schema.passes, key, values)

        await self._store.write(work)

    def deliver(self, lease: Lease, delivery: Delivery) -> asyncio.Future[None]:
        """The guest is given this batch. `number` counts from 1 over all passes; `at` is the journal's to say."""

        def work(transaction: Transaction) -> None:
            transaction.hold(lease)
            row: Row = {"execution_id": lease.execution_id, "number": delivery.number, "at": transaction.now}
            row |= {"pass_number": delivery.pass_number, "calls": json.dumps(delivery.calls), "clock": delivery.clock}
            transaction.insert(lease.execution_id, "delivered", schema.deliveries, [row])

        return self._store.write(work)

    def log(self, lease: Lease, lines: Sequence[LogLine]) -> asyncio.Future[None]:
        """Lines that the script logged; `number` counts over all passes."""

        def work(transaction: Transaction) -> None:
            transaction.hold(lease)
            names = ("number", "pass_number", "level", "message", "attrs", "line")
            rows = [{name: getattr(line, name) for name in names} for line in lines]
            extra = {"execution_id": lease.execution_id, "at": transaction.now}
            transaction.insert(lease.execution_id, "logged", schema.logs, [{**row, **extra} for row in rows])

        return self._store.write(work)

    async def passes(self, execution_id: str) -> list[Pass]:
        """All of them, in order."""

        def work(connection: Connection) -> list[Pass]:
            columns = schema.passes.c
            query = select(schema.passes).where(columns.execution_id == execution_id).order_by(columns.number)
            return [pass_of(row) for row in all_rows(connection, query)]

        return await self._store.read(work)

    async def deliveries(self, execution_id: str) -> list[Delivery]:
        """All of them, in order: what a replay follows."""

        def work(connection: Connection) -> list[Delivery]:
            columns = schema.deliveries.c
            query = select(schema.deliveries).where(columns.execution_id == execution_id).order_by(columns.number)
            return [delivery_of(row) for row in all_rows(connection, query)]

        return await self._store.read(work)

    async def logs(self, execution_id: str, *, after: int = 0) -> list[LogLine]:
        """The lines behind number `after`, in order."""

        def work(connection: Connection) -> list[LogLine]:
            columns = schema.logs.c
            query = select(schema.logs).where(columns.execution_id == execution_id, columns.number > after)
            return [log_of(row) for row in all_rows(connection, query.order_by(columns.number))]

        return await self._store.read(work)
