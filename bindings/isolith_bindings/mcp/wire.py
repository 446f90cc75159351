"""What crosses between the SDK and a server, seen on its way.

The SDK checks every result against the schema of the protocol's version and refuses the whole of it for one odd part:
a list of tools for one bad tool, a result for a missing `resultType`. Here the result is kept as it came, and the SDK
is handed a form that it accepts. What it means is decided by the files that read it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from isolith_bindings.mcp.lenient import acceptable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    from mcp.client import Transport
    from mcp.shared._stream_protocols import ReadStream, WriteStream

    Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]

_MOST_UNANSWERED = 10_000
_HANDSHAKE = frozenset({"initialize", "server/discover"})


@dataclass
class Exchange:
    """One request of ours and its result as it came."""

    request_id: int | str | None = None
    method: str = ""
    result: dict[str, object] | None = None


current_exchange: ContextVar[Exchange | None] = ContextVar("isolith_mcp_exchange", default=None)
"""Set by who sends a request, in the task that sends it."""


class Tap:
    """A transport of the SDK, listened to. `on_end` is called when the server will say no more."""

    def __init__(self, transport: AbstractAsyncContextManager[Streams], on_end: Callable[[], None]) -> None:
        self._transport = transport
        self._on_end = on_end
        self._exchanges: dict[int | str, Exchange] = {}

    async def __aenter__(self) -> Streams:
        read, write = await self._transport.__aenter__()
        return (_Reading(read, self._exchanges, self._on_end), _Writing(write, self._exchanges))

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._transport.__aexit__(exc_type, exc_val, exc_tb)

    def as_transport(self) -> Transport:
        """Itself, as what the SDK takes."""
        return cast("Transport", self)


class _Writing:
    def __init__(self, stream: WriteStream[SessionMessage], exchanges: dict[int | str, Exchange]) -> None:
        self._stream = stream
        self._exchanges = exchanges

    async def send(self, item: SessionMessage, /) -> None:
        message = item.message
        if isinstance(message, JSONRPCRequest):
            exchange = current_exchange.get() or Exchange()
            exchange.request_id, exchange.method, exchange.result = message.id, message.method, None
            if current_exchange.get() is not None or message.method in _HANDSHAKE:
                while len(self._exchanges) >= _MOST_UNANSWERED:
                    del self._exchanges[next(iter(self._exchanges))]
                self._exchanges[message.id] = exchange
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)


class _Reading:
    def __init__(
        self,
        stream: ReadStream[SessionMessage | Exception],
        exchanges: dict[int | str, Exchange],
        on_end: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._exchanges = exchanges
        self._on_end = on_end

    async def receive(self) -> SessionMessage | Exception:
        try:
            item = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._on_end()
            raise
        if isinstance(item, SessionMessage):
            self._note(item)
        return item

    def _note(self, item: SessionMessage) -> None:
        message = item.message
        if isinstance(message, JSONRPCError) and message.id is not None:
            self._exchanges.pop(message.id, None)
        if isinstance(message, JSONRPCResponse):
            exchange = self._exchanges.pop(message.id, None)
            if exchange is not None:
                exchange.result = message.result
                message.result = acceptable(exchange.method, message.result)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> ReadStream[SessionMessage | Exception]:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)
