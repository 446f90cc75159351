"""Pages by a cursor in the body, as Notion and others have them; nothing else of a request changes by it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import Client, a_document, compiled, connected
from tests.bindings.openapi.loopback import Got, Reply, Server
from tests.bindings.openapi.test_many import WHERE

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.paging_body import cursor_argument

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = {"query": {"type": "string"}, "start_cursor": {"type": "string"}, "page_size": {"type": "integer"}}
LIST = {"results": {"type": "array"}, "next_cursor": {"type": ["string", "null"]}, "has_more": {"type": "boolean"}}


def document(fields: Mapping[str, object], answer: Mapping[str, object], method: str = "post") -> dict[str, object]:
    """A search; its answer's schema is referred to, and composed."""
    body = {"type": "object", "additionalProperties": False, "properties": fields}
    schema = {"allOf": [{"$ref": "#/components/schemas/List"}]}
    operation = {
        "operationId": "find",
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "", "content": {"application/json": {"schema": schema}}}},
    }
    return a_document(
        {"/search": {method: operation}}, components={"schemas": {"List": {"type": "object", "properties": answer}}}
    )


def three_pages(got: Got) -> Reply:
    asked = json.loads(got.body or b"{}")
    page = int(asked.get("start_cursor", "c1")[1:])
    return Reply.of({"results": [page * 10], "next_cursor": f"c{page + 1}" if page < 3 else None, "has_more": page < 3})


async def walk(client: Client, **arguments: object) -> list[object]:
    found: list[object] = []
    cursor: object = None
    while True:
        page = await client.call("find", "pages", cursor, **arguments)
        found += page["items"]
        cursor = page["cursor"]
        if cursor is None:
            return found


def test_three_pages() -> None:
    async def within() -> None:
        async with connected(document(FIELDS, LIST), three_pages) as (client, server):
            assert await walk(client, query="tea", page_size=1) == [10, 20, 30]
            assert [json.loads(got.body) for got in server.got] == [
                {"query": "tea", "page_size": 1},
                {"query": "tea", "page_size": 1, "start_cursor": "c2"},
                {"query": "tea", "page_size": 1, "start_cursor": "c3"},
            ]

    asyncio.run(within())


@pytest.mark.parametrize(
    "cursor", ["c2", [["query", "x"]], [["start_cursor", "c2"], ["query", "x"]], [["start_cursor", 2]], {"a": 1}]
)
def test_a_forged_cursor_reaches_no_other_argument(cursor: object) -> None:
    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError, match="a cursor is what the page before gave for the next"):
            await client.call("find", "pages", cursor, query="tea")
        assert server.got == []

    async def within() -> None:
        async with connected(document(FIELDS, LIST), three_pages) as (client, server):
            await use(client, server)

    asyncio.run(within())


def test_a_server_that_names_the_same_page_again_is_left() -> None:
    async def within() -> None:
        same = Reply.of({"results": [1], "next_cursor": "c7", "has_more": True})
        async with connected(document(FIELDS, LIST), lambda _: same) as (client, server):
            assert await walk(client) == [1, 1]
            assert len(server.got) == 2

    asyncio.run(within())


@pytest.mark.parametrize(
    ("fields", "answer", "method", "expected"),
    [
        (FIELDS, LIST, "post", "start_cursor"),
        (FIELDS, {"meta": {"type": "object", "properties": {"next_cursor": {}}}}, "post", "start_cursor"),
        # What only one side has is no page: a repeated write would be worse than a missing page.
        ({"query": {}}, LIST, "post", None),
        (FIELDS, {"id": {"type": "string"}}, "post", None),
        ({"after": {"type": "string"}, "title": {}}, {"id": {}}, "post", None),
    ],
)
def test_which_operations_have_such_pages(
    fields: Mapping[str, object], answer: Mapping[str, object], method: str, expected: str | None
) -> None:
    api = compiled(json.dumps(document(fields, answer, method)).encode())
    [operation] = api.operations
    assert cursor_argument(operation, api.definitions) == expected
    assert cursor_argument(replace(operation, body=None), api.definitions) is None


@pytest.mark.slow
def test_in_real_documents_no_operation_that_makes_something_has_such_pages() -> None:
    found: list[str] = []
    for name in (registry.ASANA, registry.BOX, registry.DIGITALOCEAN):
        api = compiled(registry.document(*name).read_bytes(), where=WHERE)
        found += [each.key for each in api.operations if cursor_argument(each, api.definitions)]
    assert found == ["POST /metadata_queries/execute_read"]
