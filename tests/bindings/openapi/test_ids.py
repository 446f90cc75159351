"""References to names that schemas give themselves; nothing is fetched for them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, cast

import pytest
from tests.bindings.openapi.bench import a_document, compiled

from isolith_bindings.openapi import OpenApi
from isolith_bindings.openapi.schemas import closed
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from pathlib import Path

TREE = {
    "$id": "https://schemas.test/v1/tree",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "children": {"type": "array", "items": {"$ref": "#"}},
        "owner": {"$ref": "owner"},
        "near": {"$ref": "#near"},
    },
    "$defs": {"name": {"type": "string"}, "n": {"$anchor": "near", "type": "boolean"}},
}
OWNER = {"$id": "https://schemas.test/v1/owner", "type": "integer"}


def document(reference: str) -> dict[str, object]:
    parameter = {"name": "t", "in": "query", "content": {"application/json": {"schema": {"$ref": reference}}}}
    schemas = {"Tree": TREE, "Owner": OWNER}
    return a_document(
        {"/a": {"get": {"operationId": "a", "parameters": [parameter], "responses": {}}}},
        components={"schemas": schemas},
    )


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ({"name": "a", "children": [{"name": "b", "owner": 3, "near": True}]}, True),
        ({"name": 1}, False),
        ({"children": [{"name": 1}]}, False),
        ({"children": [{"x": 1}]}, False),
        ({"owner": "ada"}, False),
        ({"near": "yes"}, False),
    ],
)
@pytest.mark.parametrize("reference", ["https://schemas.test/v1/tree", "#/components/schemas/Tree"])
def test_references_are_relative_to_the_name_around_them(value: object, fits: bool, reference: str) -> None:
    api = compiled(json.dumps(document(reference)).encode())
    assert api.excluded == {}
    arguments = cast("dict[str, object]", closed(api.operations[0].arguments, api.definitions, api.uses))
    assert (Validator(arguments).problems({"t": value}) == []) is fits


def test_a_name_that_nothing_has_is_said() -> None:
    assert "leads nowhere" in compiled(json.dumps(document("https://schemas.test/v1/tree#/x")).encode()).excluded["a"]
    excluded = compiled(json.dumps(document("https://schemas.test/v1/treee")).encode()).excluded["a"]
    assert "that document was not read" in excluded


def test_what_examples_hold_is_no_name() -> None:
    told = document("https://schemas.test/v1/other")
    told["x-things"] = {"example": {"$id": "https://schemas.test/v1/other", "type": "string"}}
    assert "was not read" in compiled(json.dumps(told).encode()).excluded["a"]


def test_a_document_that_says_what_it_is_called(tmp_path: Path) -> None:
    """`$self` of OpenAPI 3.2; and what was found by a name is kept as anything else."""
    told = document("https://api.test/openapi.json#/components/schemas/Owner")
    told |= {"openapi": "3.2.0", "$self": "https://api.test/openapi.json"}
    path, cache = tmp_path / "shop.json", tmp_path / "kept"
    path.write_text(json.dumps(told))
    connector = OpenApi(path, cache=cache)
    asyncio.run(connector.start())
    assert (connector.excluded, list(connector.methods)) == ({}, ["a"])
    assert len(list(cache.iterdir())) == 1
