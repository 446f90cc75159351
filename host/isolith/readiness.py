"""Waiting until it is known what connectors offer: side by side, so that a slow server holds up no other."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from isolith_bindings.availability import why_absent
from isolith_bindings.errors import BindingError, CallError
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

    from isolith_bindings.connector import CallContext, Connector, Method

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


class Absent:
    """In the place of a connector that could not be started: it has its name, and says why it is not there."""

    def __init__(self, connector: Connector, reason: str) -> None:
        self.name = connector.name
        self.description = ""
        self.methods: Mapping[str, Method] = {}
        self.excluded: Mapping[str, str] = {}
        self.unavailable = reason

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Raises CallError `tool_unavailable`."""
        del method, arguments, context
        raise CallError("tool_unavailable", f"{self.name} is not there: {self.unavailable}")

    async def start(self) -> None:
        """It has been tried."""

    async def aclose(self) -> None:
        """Nothing is held."""


@asynccontextmanager
async def started(
    connectors: Iterable[Connector], say: Callable[[str], None]
) -> AsyncGenerator[Mapping[str, Connector]]:
    """The connectors, up, by name: for a command that looks at them once. Those that do not come up are said."""
    found = {connector.name: connector for connector in connectors}
    try:
        up = dict(zip(found, await asyncio.gather(*map(_started, found.values())), strict=True))
        for connector in [up[name] for name in up if isinstance(up[name], Absent)] + await wait_ready(up.values()):
            say(f"isolith: {connector.name} is not there: {why_absent(connector) or 'it has not said what it offers'}")
        yield up
    finally:
        await asyncio.gather(*(connector.aclose() for connector in found.values()))


async def _started(connector: Connector) -> Connector:
    try:
        await connector.start()
    except BindingError as error:
        return Absent(connector, str(error))
    return connector
