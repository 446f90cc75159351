"""Applications of FastAPI and Django, started here: their own documents, and calls that they answer."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest
from tests.bindings.openapi.applications import django_app, fastapi_app
from tests.bindings.openapi.asgi import started

from isolith_bindings.errors import CallError


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
