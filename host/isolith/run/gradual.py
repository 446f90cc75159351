"""Connectors that become known only by and by, and that hold something for one run: a server behind each of them.

A run begins when what it names is known, or cannot be reached; what it does not name is not waited for.
"""

from __future__ import annotations

import asyncio
import functools
import re
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar, cast, runtime_checkable

from isolith.internal import internal_error
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence

    from isolith.outcome import Status
    from isolith_bindings.connector import Connector

_Kind = TypeVar("_Kind")

BROWSING_S = 5.0
"""How long a script that searches, or calls snippets, waits for connectors that it does not name."""

HOOK_S = 10.0
"""How long a connector may take to let go."""

_leaving: set[asyncio.Future[None]] = set()
"""Ends that connectors are being told of."""

_BROWSES = re.compile(r"\b(?:search|describe|tools|snippets)\b")


@runtime_checkable
class Gradual(Protocol):
    """A connector that is not known at once."""

    async def ready(self, timeout_s: float) -> bool:
        """Wait until it is known what it offers; False if that cannot be found out in time."""
        ...


@runtime_checkable
class PassHolding(Protocol):
    """A connector that holds something for one pass of a run: up to its pause, or its end."""

    async def pass_ended(self, execution_id: str) -> None:
        """Let go of it; the execution may go on later, here or elsewhere."""
        ...


@runtime_checkable
class Holding(Protocol):
    """A connector that holds something for one execution."""

    async def execution_ended(self, execution_id: str) -> None:
        """Let go of it: the execution has ended. One that is tried again, or rolled back, ends once more."""
        ...


@runtime_checkable
class SessionHolding(Protocol):
    """A connector that holds something for one session."""

    async def session_ended(self, principal: str | None, session: str) -> None:
        """Let go of it."""
        ...


def _is(connector: Connector, kind: Callable[..., _Kind]) -> TypeGuard[_Kind]:
    return _of_kind(type(connector), cast("type", kind))


@functools.lru_cache(maxsize=1024)
def _of_kind(connector: type, kind: type) -> bool:
    """Asked of each connector at each run; a protocol looks through all of its members each time it is asked."""
    return issubclass(connector, kind)


async def known(connectors: Mapping[str, Connector], script: str, timeout_s: float) -> None:
    """Wait, at most so long, for the connectors that a script needs. Those that fail are told by their calls."""
    browses = _BROWSES.search(script) is not None
    waits: list[Awaitable[bool]] = []
    for name, connector in connectors.items():
        named = re.search(rf"\b{re.escape(name)}\b", script) is not None
        behind = ungoverned(connector)
        if _is(behind, Gradual) and (named or browses):
            waits.append(behind.ready(timeout_s if named else min(BROWSING_S, timeout_s)))
    if waits:
        await asyncio.gather(*waits)


async def browsed(connectors: Iterable[Connector], timeout_s: float = BROWSING_S) -> None:
    """Wait, at most so long, until it is known what all of them offer, for who looks through it."""
    behind = map(ungoverned, connectors)
    await asyncio.gather(*(connector.ready(timeout_s) for connector in behind if _is(connector, Gradual)))


async def end_session(connectors: Iterable[Connector], principal: str | None, session: str) -> None:
    """A session has ended: nothing stays that was there for it alone."""
    behind = map(ungoverned, connectors)
    await asyncio.gather(*(each.session_ended(principal, session) for each in behind if _is(each, SessionHolding)))


async def let_go(connectors: Iterable[Connector], execution_id: str, status: Status = "completed") -> None:
    """A pass has ended, however, and its execution with it where that is its `status`: nothing stays for it alone.

    Each connector is told of each end once. One that fails, or that takes longer than `HOOK_S`, is logged.
    """
    final = status not in {"running", "paused"}
    task = asyncio.ensure_future(_told(list(map(ungoverned, connectors)), execution_id, final=final))
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)
    await asyncio.shield(task)


async def left() -> None:
    """Wait until connectors have been told of all the ends that there were, in this loop."""
    here = asyncio.get_running_loop()
    tasks = [task for task in _leaving if task.get_loop() is here]
    if tasks:
        await asyncio.wait(tasks)


async def _told(connectors: list[Connector], execution_id: str, *, final: bool) -> None:
    await _run([each.pass_ended(execution_id) for each in connectors if _is(each, PassHolding)], execution_id)
    held = [each.execution_ended(execution_id) for each in connectors if final and _is(each, Holding)]
    await _run(held, execution_id)


async def _run(hooks: Sequence[Coroutine[object, object, None]], execution_id: str) -> None:
    ends = (asyncio.wait_for(hook, HOOK_S) for hook in hooks)
    for result in await asyncio.gather(*ends, return_exceptions=True):
        if isinstance(result, Exception):
            internal_error(result, execution_id=execution_id)
