"""OpenTelemetry, where the package is there and somebody set it up; else nothing."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

try:
    from opentelemetry import trace
except ImportError:  # pragma: no cover - the SDK of MCP brings it today
    trace = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from isolith.http.operations import Operation


@contextlib.contextmanager
def span(name: str, operation: Operation) -> Generator[Callable[[int], object]]:
    """Around one operation; call what it gives with the status. No argument, value, script or principal is in it."""
    if trace is None:
        yield _unheard
        return
    attributes = {"isolith.operation": operation.name, "http.route": operation.path}
    with trace.get_tracer("isolith").start_as_current_span(name, attributes=attributes) as begun:
        yield lambda status: begun.set_attribute("http.response.status_code", status)


def _unheard(_: int) -> None:
    """Nobody follows."""
