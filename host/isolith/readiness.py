"""Waiting until it is known what connectors offer: side by side, so that a slow server holds up no other."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from isolith_bindings.availability import why_absent
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from isolith_bindings.connector import Connector

PATIENCE_S: Final = 30.0
"""Seconds for servers to say what they offer."""


@runtime_checkable
class Lazy(Protocol):
    """A connector that learns what it offers after it was started."""

    async def ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until that is known; False where it cannot be."""
        ...


async def wait_ready(connectors: Iterable[Connector], patience_s: float = PATIENCE_S) -> list[Connector]:
    """Wait for all of them, side by side. Gives those that are not ready."""
    lazy = [(connector, found) for connector in connectors if isinstance(found := ungoverned(connector), Lazy)]
    answers = await asyncio.gather(*(found.ready(patience_s) for _, found in lazy))
    return [connector for (connector, _), answer in zip(lazy, answers, strict=True) if not answer]


@asynccontextmanager
async def started(connectors: list[Connector], say: Callable[[str], None]) -> AsyncGenerator[None]:
    """The connectors, up: for a command that looks at them once. Those that do not come up are said, and left out."""
    try:
        for connector in connectors:
            await connector.start()
        for connector in await wait_ready(connectors):
            say(f"isolith: {connector.name} is not there: {why_absent(connector) or 'it has not said what it offers'}")
        yield
    finally:
        await asyncio.gather(*(connector.aclose() for connector in connectors))
