"""Waiting until it is known what connectors offer: side by side, so that a slow server holds up no other."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from isolith_bindings.availability import why_absent
from isolith_bindings.errors import BindingError, CallError
from isolith_bindings.offering import offering
from isolith_bindings.policy import ungoverned
from isolith_bindings.schema.quoting import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

    from isolith_bindings.connector import CallContext, Connector, Method
    from isolith_bindings.policy import Policy

PATIENCE_S: Final = 30.0
"""Seconds for servers to say what they offer."""
_MAX_WORDS: Final = 500


@runtime_checkable
class Lazy(Protocol):
    """A connector that learns what it offers after it was started."""

    async def ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until that is known; False where it cannot be."""
        ...


@runtime_checkable
class Talkative(Protocol):
    """A connector with a program behind it, which may say why it does not work."""

    @property
    def last_words(self) -> str:
        """The last lines it wrote."""
        ...


def last_words(connector: Connector) -> str:
    """What the program wrote that could not be started, masked, in one line; empty where there is none."""
    behind = ungoverned(connector)
    return one_line(behind.last_words, _MAX_WORDS) if isinstance(behind, Talkative) else ""


def _unseen(_connector: Connector) -> None:
    """Where nobody watches."""


def _none(_connector: Connector) -> bool:
    """Where all are to be up."""
    return False


async def wait_ready(connectors: Iterable[Connector], patience_s: float = PATIENCE_S) -> list[Connector]:
    """Wait for all of them, side by side. Gives those that are not ready."""
    every = list(connectors)
    answers = await asyncio.gather(*(_known(connector, patience_s) for connector in every))
    return [connector for connector, ready in zip(every, answers, strict=True) if not ready]


async def _known(connector: Connector, patience_s: float) -> bool:
    found = ungoverned(connector)
    return not isinstance(found, Lazy) or await found.ready(patience_s)


def may_ask(connectors: Iterable[Connector], policy: Policy) -> bool:
    """Whether a person may have to be asked about a call of these, of what is not known yet as well."""
    every = list(connectors)
    if any(offering(connector).asks for connector in every):
        return True
    asks = policy.preset != "trusted" or any(rule.action == "ask" for rule in policy.rules)
    return asks and any(isinstance(ungoverned(connector), Lazy) for connector in every)


class Absent:
    """In the place of a connector that could not be made, or started: it has its name, and says why it is not there."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
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
    connectors: Iterable[Connector],
    say: Callable[[str], None],
    each: Callable[[Connector], None] = _unseen,
    leave: Callable[[Connector], bool] = _none,
) -> AsyncGenerator[Mapping[str, Connector]]:
    """The connectors, up, by name: for a command that looks at them once. Those that do not come up are said.

    `each` is given every one as soon as it is known how it is. What is to be left as it is, `leave` says.
    """
    found = {connector.name: connector for connector in connectors}
    try:
        tried = [connector for connector in found.values() if not leave(connector)]
        seen = await asyncio.gather(*(_up(connector, each) for connector in tried))
        for connector, ready in seen:
            if not ready:
                why = why_absent(connector) or "it has not said what it offers"
                say(f"isolith: {connector.name} is not there: {why}")
        yield found | {connector.name: connector for connector, _ in seen}
    finally:
        await asyncio.gather(*(connector.aclose() for connector in found.values()))


async def _up(connector: Connector, each: Callable[[Connector], None]) -> tuple[Connector, bool]:
    """One that was started, and whether it is known what it offers; no other is waited for."""
    up = await _started(connector)
    ready = not isinstance(up, Absent) and await _known(up, PATIENCE_S)
    each(up)
    return up, ready


async def _started(connector: Connector) -> Connector:
    try:
        await connector.start()
    except BindingError as error:
        return Absent(connector.name, str(error))
    return connector
