"""Waiting until it is known what connectors offer: side by side, so that a slow server holds up no other."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from isolith_bindings.connector import Connector

PATIENCE_S: Final = 30.0
"""Seconds for servers to say what they offer."""

_ANY = re.compile(r"\b(tools|search|describe)\b")


@runtime_checkable
class Lazy(Protocol):
    """A connector that learns what it offers after it was started."""

    async def ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until that is known; False where it cannot be."""
        ...


@runtime_checkable
class Told(Protocol):
    """What knows why it is not ready."""

    @property
    def reason(self) -> str | None:
        """Why, in a line."""
        ...


async def wait_ready(connectors: Iterable[Connector], patience_s: float = PATIENCE_S) -> list[Connector]:
    """Wait for all of them, side by side. Gives those that are not ready."""
    lazy = [(connector, found) for connector in connectors if isinstance(found := ungoverned(connector), Lazy)]
    answers = await asyncio.gather(*(found.ready(patience_s) for _, found in lazy))
    return [connector for (connector, _), answer in zip(lazy, answers, strict=True) if not answer]


def named_in(script: str, connectors: Iterable[Connector]) -> list[Connector]:
    """Those that a script could reach: by their names in it, or all where it looks around by itself."""
    found = list(connectors)
    if _ANY.search(script):
        return found
    words = set(re.findall(r"\w+", script))
    return [connector for connector in found if connector.name in words]


def why_not(connector: Connector) -> str:
    """Why a connector is not ready, in a line for people."""
    status: object = getattr(ungoverned(connector), "status", None)
    told = status() if callable(status) else None
    return (told.reason if isinstance(told, Told) else None) or "it has not said what it offers"


@asynccontextmanager
async def started(connectors: list[Connector], say: Callable[[str], None]) -> AsyncGenerator[None]:
    """The connectors, up: for a command that looks at them once. Those that do not come up are said, and left out."""
    try:
        for connector in connectors:
            await connector.start()
        for connector in await wait_ready(connectors):
            say(f"isolith: {connector.name} is not there: {why_not(connector)}")
        yield
    finally:
        await asyncio.gather(*(connector.aclose() for connector in connectors))
