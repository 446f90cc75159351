"""An ASGI application on loopback, and a client of the document that it serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import h11
from tests.bindings.openapi.bench import Client
from tests.bindings.openapi.loopback import received

from isolith_bindings.openapi import OpenApi

Asgi = Callable[..., Awaitable[None]]


async def _exchange(app: Asgi, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request, answered by an ASGI application."""
    connection = h11.Connection(h11.SERVER)
    got = await received(connection, reader)
    if got is None:
        return
    headers = [(name.encode(), value.encode("latin-1")) for name, value in got.headers]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": got.method,
        "scheme": "http", "path": got.path, "raw_path": got.path.encode(), "query_string": got.query.encode(),
        "root_path": "", "headers": headers, "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": got.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop()

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            head = h11.Response(status_code=message["status"], headers=[*message["headers"], (b"connection", b"close")])
            writer.write(connection.send(head) or b"")
        else:
            writer.write(connection.send(h11.Data(message.get("body", b""))) or b"")

    await app(scope, receive, send)
    writer.write(connection.send(h11.EndOfMessage()) or b"")
    await writer.drain()


@asynccontextmanager
async def served(app: Asgi) -> AsyncGenerator[str, None]:
    """Where the application is."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _exchange(app, reader, writer)
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()


@asynccontextmanager
async def started(app: Asgi, path: str) -> AsyncGenerator[Client, None]:
    """A client of the document that the application itself serves."""
    async with served(app) as url:
        connector = OpenApi(f"{url}{path}", name="shop")
        await connector.start()
        try:
            yield Client(connector)
        finally:
            await connector.aclose()
