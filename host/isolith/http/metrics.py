"""`/metrics`: how much is asked and run here, for Prometheus. Needs `isolith[serve]`; without it there is none.

No principal, script or tool is named: whoever scrapes learns how much, and of whom nothing.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from isolith.outcome import Outcome
    from isolith.run.execution import Execution


def metrics() -> Metrics | None:
    """New ones; None where the library is not installed."""
    return Metrics() if find_spec("prometheus_client") else None


class Metrics:
    """The numbers of one app, in a registry of its own."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram  # noqa: PLC0415 - an extra

        self.registry: CollectorRegistry = CollectorRegistry()
        self._requests = Counter("isolith_http_requests", "Requests, by status.", ["status"], registry=self.registry)
        self._seconds = Histogram("isolith_http_seconds", "To the head of the answer.", registry=self.registry)
        self._begun = Counter("isolith_executions_begun", "Runs begun here.", registry=self.registry)
        self._ended = Counter("isolith_executions", "Runs that came to this here.", ["status"], registry=self.registry)
        self._running = Gauge("isolith_executions_running", "Runs under way here.", registry=self.registry)
        self._wall = Histogram("isolith_execution_seconds", "From begin to this end.", registry=self.registry)
        self._calls = Counter("isolith_calls", "Calls that runs made.", registry=self.registry)

    def answered(self, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(str(status)).inc()
        self._seconds.observe(seconds)

    def begun(self, execution: Execution) -> None:
        """A run begins; its end is counted by itself."""
        self._begun.inc()
        self._running.inc()
        outcome = asyncio.ensure_future(execution.outcome())
        outcome.add_done_callback(self._came_to)

    def _came_to(self, ended: asyncio.Future[Outcome]) -> None:
        self._running.dec()
        if not ended.cancelled() and ended.exception() is None:
            outcome = ended.result()
            self._ended.labels(outcome.status).inc()
            self._wall.observe(outcome.usage.wall_ms / 1e3)
            self._calls.inc(outcome.usage.calls)

    def text(self) -> tuple[bytes, str]:
        """The exposition, and its media type."""
        from prometheus_client import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415 - an extra

        return generate_latest(self.registry), CONTENT_TYPE_LATEST
