"""Calls as a whole: without a credential, without an address, and what HTTP says of a method."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, Client, a_document
from tests.bindings.openapi.exchanges import body, get, post, run

from isolith_bindings.describe import describe_method
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import ApiKey, OpenApi
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from tests.bindings.openapi.loopback import Server

SCHEMES = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}


def test_without_the_credential_nothing_is_sent() -> None:
    document = {**get(security=[{"key": []}]), "components": SCHEMES}

    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError) as caught:
            await client.call("read")
        assert (caught.value.kind, server.got) == ("tool_unavailable", [])
        assert str(caught.value.hint).endswith("takes a secret from the environment: ISOLITH_TOKEN_API")

    run(document, use)


def test_the_credential_is_sent_and_shown_nowhere() -> None:
    secret = Secret(lambda: "very-secret-key", "the tests")
    document = {**post(body("application/json", {"type": "object"}), security=[{"key": []}]), "components": SCHEMES}

    async def use(client: Client, server: Server) -> None:
        await client.call("make", body={"a": 1})
        assert server.last.header("x-key") == "very-secret-key"
        method = client.connector.methods["make"]
        assert callable(method.preview)
        shown = method.preview(body={"a": 1})
        assert (
            shown
            == f'POST {server.url}/things\nAccept: application/json, */*;q=0.1\nContent-Type: application/json\nX-Key: [secret]\n\n{{"a":1}}'
        )
        assert "very-secret" not in f"{client.connector!r}{vars(client.connector)}"

    run(document, use, auth={"key": secret})


def test_a_scheme_that_is_not_there_is_named() -> None:
    source = {**get(), "components": SCHEMES}
    connector = OpenApi(source, name="api", auth={"kee": ApiKey("X", Secret.env("NO_SUCH"))})
    asyncio.run(connector.start())
    assert connector.status().state == "failed"
    assert connector.unavailable == "api: auth for `kee`: the security schemes of the document are: key"


def test_what_http_says_of_a_method_is_told() -> None:
    methods: dict[str, dict[str, object]] = {
        verb: {"operationId": verb, "tags": ["t"], "responses": OK} for verb in ("get", "put", "post", "delete", "head")
    }
    methods["delete"] |= {
        "deprecated": True,
        "x-isolith-policy": "deny",
        "summary": "Remove it",
        "description": "For good.",
    }

    async def use(client: Client, _server: Server) -> None:
        found = client.connector.methods
        told = {
            name: (m.annotations.read_only, m.annotations.destructive, m.idempotent, m.preview is None)
            for name, m in found.items()
        }
        assert told == {
            "get": (True, False, True, True),
            "head": (True, False, True, True),
            "put": (False, None, True, False),
            "post": (False, False, False, False),
            "delete": (False, True, True, False),
        }
        delete = found["delete"]
        assert (delete.deprecated, delete.policy, delete.tags) == (True, "deny", ("t",))
        assert delete.description == "Remove it\n\nFor good."
        assert await client.call("head") is not None

    run(a_document({"/things": methods}), use)


def test_what_is_deprecated_is_marked() -> None:
    """The operation, a parameter and a field of a body."""
    schema = {
        "type": "object",
        "properties": {"old": {"type": "string", "deprecated": True}, "new": {"type": "string"}},
    }
    former = {
        "name": "former",
        "in": "query",
        "deprecated": True,
        "description": "Before.",
        "schema": {"type": "string"},
    }
    document = post(body("application/json", schema), deprecated=True, parameters=[former])

    async def use(client: Client, _server: Server) -> None:
        connector = client.connector
        text = describe_method(connector, connector.methods["make"], "full").text
        lines = {line.strip(' "') for line in text.splitlines()}
        assert {"Deprecated.", "former: deprecated; > Before.", "old: deprecated"} <= lines

    run(document, use)


def test_a_document_without_an_address_asks_for_one() -> None:
    source = get()
    del source["servers"]

    async def call() -> None:
        connector = OpenApi(source, name="api")
        await connector.start()
        await Client(connector).call("read")

    with pytest.raises(CallError, match="does not say on which host") as caught:
        asyncio.run(call())
    assert str(caught.value.hint).startswith("give the connector its address: `server='https://...'` in a program;")
    assert str(caught.value.hint).endswith('`[connectors.api]`, `openapi = "api.json"`, `server = "https://..."`')
