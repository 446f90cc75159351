"""The executions of one host that are under way: begun and found here, and what is kept of those that have ended."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from isolith.run.execution import Execution
from isolith.run.latest_artifacts import LatestArtifacts
from isolith.run.result_type import ResultTypes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.journal.journal import Journal
    from isolith.run.order import Order


class UnderWay:
    """`journal` has the artifacts of those that are not here."""

    def __init__(self, journal: Callable[[], Awaitable[Journal]]) -> None:
        self.running: set[Execution] = set()
        self.result_types = ResultTypes()
        self._begun: list[Callable[[Execution], object]] = []
        self._latest = LatestArtifacts(journal)

    def begin(self, order: Order) -> Execution:
        """Start one, and tell who wants to know."""
        execution = Execution(order)
        self.result_types.remember(execution.execution_id, None if order.durable is None else order.validate)
        for begun in self._begun:
            begun(execution)
        self.running.add(execution)
        execution.when_done(partial(self._has_ended, execution))
        return execution

    def _has_ended(self, execution: Execution) -> None:
        self.running.discard(execution)
        self._latest.keep(execution)

    def when_begun(self, callback: Callable[[Execution], object]) -> None:
        """Call back with every one that begins."""
        self._begun.append(callback)

    def find(self, execution_id: str) -> Execution | None:
        """That of this id, where it is under way here."""
        return next((found for found in self.running if found.execution_id == execution_id), None)

    async def artifact(self, execution_id: str, handle: str) -> bytes:
        """The bytes under a handle. Raises UnknownEntry."""
        return await self._latest.read(self.find(execution_id), execution_id, handle)

    async def cancel(self) -> None:
        """Cancel all, and wait for their outcomes."""
        running = list(self.running)
        for execution in running:
            execution.cancel()
        for execution in running:
            await execution.outcome()

    def forget(self) -> None:
        """Let go of what is kept of those that have ended."""
        self._latest.clear()
