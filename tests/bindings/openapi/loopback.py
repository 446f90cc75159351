"""A server on this machine that hands each request to a function, in the event loop of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import h11


@dataclass(frozen=True)
class Got:
    """A request as it came in: the target as it was written, headers in lower case."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> str:
        return urlsplit(self.target).query

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass(frozen=True)
class Reply:
    """`endless`: nothing comes behind the content, and it does not end either. `broken`: it ends in the middle."""

    content: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    endless: bool = False
    broken: bool = False

    @classmethod
    def of(cls, value: object, status: int = 200, **headers: str) -> Reply:
        """JSON."""
        named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
        return cls(json.dumps(value).encode(), status, (("content-type", "application/json"), *named))


Answer = Callable[[Got], Reply]


@dataclass
class Server:
    """Where it is, and what it was asked so far."""

    url: str
    got: list[Got] = field(default_factory=list[Got])

    @property
    def last(self) -> Got:
        return self.got[-1]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[Server, None]:
    """A server that answers so, on a free port, until the block ends."""
    server = Server("")
    conversations: set[asyncio.Task[None]] = set()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.CancelledError):
            await _converse(reader, writer, answer, server)
        writer.close()
        with suppress(ConnectionError, asyncio.CancelledError):
            await writer.wait_closed()

    def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(converse(reader, writer))
        conversations.add(task)
        task.add_done_callback(conversations.discard)

    listener = await asyncio.start_server(handle, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        for task in conversations:
            task.cancel()
        # One that was to begin just now is cancelled before it can say that this is nothing.
        await asyncio.gather(*conversations, return_exceptions=True)


async def received(connection: h11.Connection, reader: asyncio.StreamReader) -> Got | None:
    """The next request of a connection; None where it ends before there is one."""
    request: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            headers = tuple((name.decode(), value.decode("latin-1")) for name, value in request.headers)
            return Got(request.method.decode(), request.target.decode(), headers, body)
        else:
            return None


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer, server: Server) -> None:
    connection = h11.Connection(h11.SERVER)
    while True:
        got = await received(connection, reader)
        if got is None:
            return
        server.got.append(got)
        reply = answer(got)
        length = (
            []
            if reply.status == 204 or reply.endless or reply.broken
            else [("content-length", str(len(reply.content)))]
        )
        head = h11.Response(status_code=reply.status, headers=[*reply.headers, *length])
        if reply.endless or reply.broken:
            writer.write((connection.send(head) or b"") + (connection.send(h11.Data(reply.content)) or b""))
            await writer.drain()
            if reply.endless:
                await reader.read()
            return
        for out in (head, *([h11.Data(reply.content)] if got.method != "HEAD" else []), h11.EndOfMessage()):
            writer.write(connection.send(out) or b"")
        await writer.drain()
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return
        connection.start_next_cycle()
