"""One call of one small document: what is sent for it, how it is refused, what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.bindings.openapi.bench import Client, a_document, compiled, connected
from tests.bindings.openapi.loopback import Got, Reply, Server

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.signatures import Signatures

MIXED = 'multipart/mixed; boundary="b"'
JSON_ANY: dict[str, object] = {"200": {"content": {"application/json": {}}}}


def body(media: str, schema: object, *, required: bool = True, **more: object) -> dict[str, object]:
    return {"required": required, "content": {media: {"schema": schema, **more}}}


def post(request_body: object, **more: object) -> dict[str, object]:
    return a_document(
        {"/things": {"post": {"operationId": "make", "requestBody": request_body, "responses": JSON_ANY, **more}}}
    )


def get(*parameters: object, path: str = "/things", openapi: str = "3.1.0", **more: object) -> dict[str, object]:
    return a_document(
        {path: {"get": {"operationId": "read", "parameters": list(parameters), "responses": JSON_ANY, **more}}},
        openapi,
    )


def run(
    source: object,
    use: Callable[[Client, Server], Awaitable[None]],
    answer: Callable[[Got], Reply] | None = None,
    **options: Any,  # noqa: ANN401 - those of OpenApi
) -> None:
    async def within() -> None:
        async with connected(source, answer or (lambda _: Reply.of({})), **options) as (client, server):
            await use(client, server)

    asyncio.run(within())


def sent(source: object, name: str, /, **arguments: object) -> Got:
    """The request of one call."""
    found: list[Got] = []

    async def use(client: Client, server: Server) -> None:
        await client.call(name, **arguments)
        found.append(server.last)

    run(source, use)
    return found[0]


def refused(source: object, name: str, /, **arguments: object) -> CallError:
    """The error of one call, with which nothing was sent."""
    found: list[CallError] = []

    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError) as caught:
            await client.call(name, **arguments)
        assert server.got == []
        found.append(caught.value)

    run(source, use)
    assert found[0].kind == "invalid_arguments"
    return found[0]


def a(name: str, where: str = "query", schema: object | None = None, **more: object) -> dict[str, object]:
    return {"name": name, "in": where, "schema": {"type": "string"} if schema is None else schema, **more}


def answered(document: object, reply: Reply, name: str = "read", **options: object) -> tuple[object, Client]:
    found: list[tuple[object, Client]] = []

    async def use(client: Client, _server: Server) -> None:
        found.append((await client.call(name), client))

    run(document, use, lambda _: reply, **options)
    return found[0]


def listed(media: str, item: object) -> dict[str, object]:
    return get(responses={"200": {"content": {media: {"itemSchema": item}}}})


def reply(media: str, content: bytes | str, **more: bool) -> Reply:
    whole = content.encode() if isinstance(content, str) else content
    return Reply(whole, headers=(("content-type", media),), **more)


def result_of(document: dict[str, object]) -> str:
    api = compiled(json.dumps(document).encode())
    return Signatures(api).of(api.operations[0]).partition(" -> ")[2]
