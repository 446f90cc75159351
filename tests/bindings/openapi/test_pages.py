"""A document as a connector against a server that pages: what a script iterates, call for call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.bindings.egress.loopback import Loopback, Seen, answer, loopback

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.connector import OpenApi
from isolith_bindings.secrets import Secret
from isolith_bindings.testing import a_context

CANARY = "canary-48d0-of-pages"
QUERY = [{"name": name, "in": "query", "schema": {"type": "integer"}} for name in ("page", "per_page")]
PATH = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in ("owner", "repo")]
ISSUES = {
    "200": {
        "description": "ok",
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
    }
}
DOCUMENT: dict[str, object] = {
    "openapi": "3.0.3",
    "info": {"title": "Hub", "version": "1"},
    "paths": {
        "/repos/{owner}/{repo}/issues": {
            "get": {"operationId": "list_issues", "parameters": [*PATH, *QUERY], "responses": ISSUES},
            "post": {"operationId": "create_issue", "parameters": PATH, "responses": ISSUES},
        }
    },
}


def hub(server: Loopback) -> None:
    """As GitHub does: links name the repository by number, and carry everything that was asked."""

    def handler(seen: Seen, _writer: object) -> bytes:
        page = int(
            next((part[5:] for part in seen.target.partition("?")[2].split("&") if part.startswith("page=")), "1")
        )
        number, relation = (page + 1, "next") if page < 3 else (page - 1, "prev")
        link = f'Link: <{server.url("/repositories/7/issues")}?per_page=2&page={number}>; rel="{relation}"'
        body = json.dumps([{"number": page * 10 + number} for number in (1, 2)]).encode()
        return answer(200, body, "Content-Type: application/json", link)

    server.handler = handler


@asynccontextmanager
async def connected(server: Loopback) -> AsyncGenerator[OpenApi]:
    connector = OpenApi(DOCUMENT, server=server.url(""), auth=Secret.literal(CANARY))
    await connector.start()
    try:
        yield connector
    finally:
        await connector.aclose()


async def page(connector: OpenApi, cursor: object, **arguments: object) -> Mapping[str, object]:
    method = connector.methods["list_issues"]
    assert "pages" in method.variants
    context = replace(a_context(), variant="pages", cursor=cursor)
    found = await connector.call(method, {"owner": "o", "repo": "r", **arguments}, context)
    assert isinstance(found, dict)
    return found


def test_three_pages_of_the_same_operation() -> None:
    async def main() -> tuple[list[object], list[str]]:
        items, cursor = list[object](), None
        async with loopback() as server, connected(server) as connector:
            hub(server)
            for _ in range(3):
                found = await page(connector, cursor, per_page=2)
                assert isinstance(found["items"], list)
                items += found["items"]
                cursor = found["cursor"]
            assert cursor is None
            assert {seen.header("authorization") for seen in server.seen} == {f"Bearer {CANARY}"}
            return items, [seen.target for seen in server.seen]

    items, targets = asyncio.run(main())
    assert items == [{"number": number} for number in (11, 12, 21, 22, 31, 32)]
    path = "/repos/o/r/issues?per_page=2"
    assert targets == [path, f"{path}&page=2", f"{path}&page=3"]


def test_an_operation_that_writes_has_no_pages() -> None:
    async def main() -> bool:
        async with loopback() as server, connected(server) as connector:
            return "pages" in connector.methods["create_issue"].variants

    assert asyncio.run(main()) is False


@pytest.mark.parametrize(
    ("owner", "target"),
    [
        ("https://evil.test/x", "/repos/https%3A%2F%2Fevil.test%2Fx/r/issues"),
        ("//evil.test", "/repos/%2F%2Fevil.test/r/issues"),
        ("@evil.test", "/repos/%40evil.test/r/issues"),
        ("a?admin=1#x", "/repos/a%3Fadmin%3D1%23x/r/issues"),
        ("a\r\nX-Evil: 1", "/repos/a%0D%0AX-Evil%3A%201/r/issues"),
        ("a HTTP/1.1", "/repos/a%20HTTP%2F1.1/r/issues"),
        ("\u2025", "/repos/%E2%80%A5/r/issues"),
    ],
)
def test_whatever_a_path_parameter_holds_it_is_one_segment_of_this_host(owner: str, target: str) -> None:
    async def main() -> Seen:
        async with loopback() as server, connected(server) as connector:
            hub(server)
            await page(connector, None, owner=owner)
            return server.seen[0]

    seen = asyncio.run(main())
    assert seen.target == target
    assert seen.header("x-evil") is None


@pytest.mark.parametrize("owner", ["..", ".", "../x", "a/../b", "%2e%2e", "..\\x", "a/..", "%252e%252e"])
def test_a_path_parameter_that_climbs_is_never_sent(owner: str) -> None:
    async def main() -> None:
        async with loopback() as server, connected(server) as connector:
            with pytest.raises(CallError) as caught:
                await page(connector, None, owner=owner)
            assert caught.value.kind == "invalid_arguments"
            assert server.seen == []

    asyncio.run(main())


def test_a_forged_cursor_reaches_no_other_parameter() -> None:
    async def main() -> None:
        async with loopback() as server, connected(server) as connector:
            for cursor in ("https://evil.test", [["owner", 7]], {"url": "https://evil.test"}):
                with pytest.raises(CallError, match="a cursor is what the page before gave"):
                    await page(connector, cursor)
            assert server.seen == []

    asyncio.run(main())
