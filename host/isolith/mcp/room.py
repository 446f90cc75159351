"""Room for a run at the host that a request came to, counted with the runs of every other door there.

An app over HTTP puts its way to take room into the scope of each request. Where nothing is there, on stdio and in
process, there is one client, and nothing is counted.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from starlette.requests import Request

from isolith.errors import IsolithError
from isolith.tokens.caller import caller

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from mcp.server.context import ServerRequestContext

    from isolith.outcome import Kind
    from isolith.run.execution import Execution

    TakeRoom: TypeAlias = Callable[[str | None], Awaitable[Callable[[], None]]]

ROOM: Final = "isolith.room"
"""Where the scope of a request has its way to room: given a principal, what ends it; it raises NoRoom."""


class NoRoom(IsolithError):
    """There is none now; the message says when to ask again."""

    def __init__(self, message: str, kind: Kind) -> None:
        super().__init__(message)
        self.kind: Kind = kind


async def begun(context: ServerRequestContext, begin: Callable[[], Execution]) -> Execution:
    """A run of the caller's, which has its room until it ends. Raises NoRoom before anything is begun."""
    free = await _taken(context)
    try:
        execution = begin()
    except BaseException:
        free()
        raise
    execution.when_done(free)
    return execution


@asynccontextmanager
async def room(context: ServerRequestContext) -> AsyncGenerator[None]:
    """Room for a run of the caller's that goes on within this. Raises NoRoom."""
    free = await _taken(context)
    try:
        yield
    finally:
        free()


async def _taken(context: ServerRequestContext) -> Callable[[], None]:
    request = cast("object", context.request)
    take = cast("TakeRoom | None", request.scope.get(ROOM)) if isinstance(request, Request) else None
    return _nothing if take is None else await take(caller().principal)


def _nothing() -> None:
    """Nothing was taken."""
