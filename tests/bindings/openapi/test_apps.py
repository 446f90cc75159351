"""Applications of FastAPI and Django, started here: their own documents, and calls that they answer."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import h11
import pytest
from tests.bindings.openapi.applications import django_app, fastapi_app
from tests.bindings.openapi.bench import Client

from isolith_bindings.errors import CallError
from isolith_bindings.openapi import OpenApi

Asgi = Callable[..., Awaitable[None]]


async def _exchange(app: Asgi, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request, answered by an ASGI application."""
    connection, body = h11.Connection(h11.SERVER), b""
    request: h11.Request | None = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        else:
            break
    if request is None:
        return
    target = urlsplit(request.target.decode())
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": request.method.decode(),
        "scheme": "http", "path": target.path, "raw_path": target.path.encode(), "query_string": target.query.encode(),
        "root_path": "", "headers": list(request.headers), "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    waiting: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

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
async def started(app: Asgi, path: str) -> AsyncGenerator[Client, None]:
    """A client of the document that the application itself serves."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _exchange(app, reader, writer)
        writer.close()
        await writer.wait_closed()

    listener = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    connector = OpenApi(f"http://127.0.0.1:{port}{path}", name="shop")
    await connector.start()
    try:
        yield Client(connector)
    finally:
        await connector.aclose()
        listener.close()


def test_fastapi() -> None:
    async def within() -> None:
        async with started(fastapi_app(), "/openapi.json") as client:
            assert client.connector.excluded == {}
            assert set(client.connector.methods) == {"list_items", "read_item", "create_item", "upload", "picture"}
            assert await client.call("list_items", tag=["a", "b c"], limit=2) == {"tag": ["a", "b c"], "limit": 2}
            made = await client.call("create_item", name="lamp", price=2.5, due=dt.date(2025, 11, 29))
            assert made == {"name": "lamp", "price": 2.5, "due": "2025-11-29"}
            assert await client.call("upload", file=b"\x00\x01", note="n") == {"size": 2, "note": "n", "name": "file"}
            kept = await client.call("picture")
            assert (kept.mime, client.artifacts.read(kept)) == ("image/png", b"\x89PNG")
            with pytest.raises(CallError, match=r"`item_id` \(path parameter `item_id` of GET /items/{item_id}"):
                await client.call("read_item", item_id="x")
            with pytest.raises(CallError) as caught:
                await client.call("read_item", item_id=404)
            assert caught.value.kind == "tool_error"

    asyncio.run(within())


def test_django() -> None:
    async def within() -> None:
        async with started(django_app(), "/api/openapi.json") as client:
            assert client.connector.excluded == {}
            # Django Ninja names an operation after its module and its function.
            found = {name.rpartition("_urls_")[2]: name for name in client.connector.methods}
            assert set(found) == {"add", "find"}
            assert await client.call(found["add"], a=3, b=4) == {"sum": 7}
            assert await client.call(found["find"], name="Ada", size=3) == {"name": "Ada", "size": 3}

    asyncio.run(within())
