"""Messages say which parameter, where in the document, and what is allowed: before a run as in it."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, Client, a_document

from isolith_bindings.check import check
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import OpenApi
from isolith_bindings.policy import as_policy, govern

if TYPE_CHECKING:
    from pathlib import Path

STATE = {"name": "state", "in": "query", "schema": {"enum": ["open", "closed"]}}
BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["title"],
                "additionalProperties": False,
                "properties": {"title": {"type": "string"}, "owner": {"$ref": "#/components/schemas/Owner"}},
            }
        }
    },
}
DOCUMENT = a_document(
    {
        "/things": {
            "get": {"operationId": "read", "parameters": [STATE, {"$ref": "parts/p.json#/size"}], "responses": OK},
            "post": {"operationId": "make", "requestBody": BODY, "responses": OK},
        }
    },
    components={"schemas": {"Owner": {"type": "object", "properties": {"age": {"type": "integer"}}}}},
)
SIZE = {"size": {"name": "size", "in": "query", "required": True, "schema": {"type": "integer", "maximum": 50}}}
READ = "GET /things, #/paths/~1things/get"
MAKE = "POST /things, #/paths/~1things/post"


@pytest.fixture
def things(tmp_path: Path) -> OpenApi:
    (tmp_path / "things.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "p.json").write_text(json.dumps(SIZE))
    connector = OpenApi(tmp_path / "things.json")
    asyncio.run(connector.start())
    assert connector.excluded == {}
    return connector


@pytest.mark.parametrize(
    ("call", "told", "allowed"),
    [
        ("read(size=3, state='shut')", f"`state` (query parameter `state` of {READ}/parameters/0)", "'open'"),
        # Another file is named, without the folders of this machine.
        ("read(size=51)", "`size` (query parameter `size` of GET /things, parts/p.json#/size)", "50"),
        ("read()", "`size` (query parameter `size` of GET /things, parts/p.json#/size) is missing", "`size`"),
        ("read(size=1, stat='open')", f"({READ})", "did you mean `state`?"),
        ("make(owner={})", f"`title` (body field `title` of {MAKE}/requestBody) is missing", "`title`"),
        ("make(title='a', owner={'age': 'x'})", f"`owner.age` (body field `owner` of {MAKE}/requestBody)", "integer"),
    ],
)
def test_the_check_and_the_call_say_where(things: OpenApi, call: str, told: str, allowed: str) -> None:
    """The second as a script that writes `**arguments`, which no check looks into."""
    name, _, given = call.rstrip(")").partition("(")
    with pytest.raises(CallError) as caught:
        asyncio.run(Client(things).call(name, **eval(f"dict({given})")))  # noqa: S307 - of this file
    governed = govern(things, as_policy("careful"))
    found = check(f"await things.{call}", {"things": governed}).findings
    assert [(finding.kind, finding.certain) for finding in found] == [("invalid_arguments", True)]
    for message, hint in ((caught.value.message, caught.value.hint), (found[0].message, found[0].hint)):
        assert told in message
        assert allowed in f"{message} {hint}"
