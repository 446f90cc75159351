"""Documents of every version, from every place; and those with mistakes, which cost what they are in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled, operations

from isolith_bindings.openapi import DocumentError, OpenApi
from isolith_bindings.openapi.servers import Whereabouts


def written(tree: object) -> bytes:
    return json.dumps(tree).encode()


def test_schemas_of_3_0_say_the_same_in_2020_12() -> None:
    schema = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": "string", "nullable": True, "enum": ["a"], "example": "a"},
            "size": {"type": "number", "minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": False},
            "other": {"allOf": [{"$ref": "#/components/schemas/Pet"}], "nullable": True, "description": "the other"},
            "parent": {"$ref": "#/components/schemas/Pet", "type": "string"},
            "photo": {"type": "string", "format": "binary"},
        },
    }
    paths = {
        "/pets": {
            "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                "responses": OK,
            }
        }
    }
    api = compiled(written(a_document(paths, "3.0.3", components={"schemas": {"Pet": schema}})))
    assert api.excluded == {}
    assert api.definitions["Pet"] == {
        "type": "object",
        "required": ["name"],
        "properties": {
            "id": {"type": "integer", "readOnly": True},
            "name": {"type": ["string", "null"], "enum": ["a", None]},
            "size": {"type": "number", "exclusiveMinimum": 1, "maximum": 5},
            "other": {"description": "the other", "anyOf": [{"allOf": [{"$ref": "#/$defs/Pet"}]}, {"type": "null"}]},
            "parent": {"$ref": "#/$defs/Pet"},
            "photo": {"type": "string", "format": "binary"},
        },
    }
    assert api.uses["Pet"] == ("Pet",)


def test_3_1_keeps_what_stands_beside_a_reference() -> None:
    query = {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Q", "maxLength": 3}}
    paths = {"/a": {"get": {"parameters": [query], "responses": OK}}}
    api = compiled(written(a_document(paths, components={"schemas": {"Q": {"type": ["string", "null"]}}})))
    assert api.operations[0].parameters[0].schema == {"$ref": "#/$defs/Q", "maxLength": 3}


def test_3_2_has_more_methods_places_and_streams() -> None:
    lines = {"application/jsonl": {"itemSchema": {"type": "integer"}}}
    whole = {"name": "all", "in": "querystring", "content": {"application/json": {"schema": {"type": "object"}}}}
    paths = {
        "/a": {
            "query": {"operationId": "ask", "requestBody": {"required": True, "content": lines}, "responses": OK},
            "additionalOperations": {"COPY": {"operationId": "copy", "responses": OK}},
            "get": {"operationId": "read", "parameters": [whole], "responses": {"200": {"content": lines}}},
        }
    }
    found = operations(compiled(written(a_document(paths, "3.2.0"))))
    assert {name: operation.method for name, operation in found.items()} == {
        "ask": "QUERY",
        "copy": "COPY",
        "read": "GET",
    }
    assert found["ask"].arguments["properties"] == {"body": {"type": "array", "items": {"type": "integer"}}}  # type: ignore[index]
    assert found["read"].returns == {"type": "array", "items": {"type": "integer"}}
    assert found["read"].parameters[0].location == "querystring"


def test_3_2_names_media_types_once_for_all() -> None:
    named = {"$ref": "#/components/mediaTypes/Thing"}
    paths = {
        "/a": {
            "post": {
                "operationId": "make",
                "parameters": [{"name": "q", "in": "query", "content": {"application/json": named}}],
                "requestBody": {"required": True, "content": {"application/json": named}},
                "responses": {"200": {"content": {"application/json": named}}},
            },
            "get": {"operationId": "lost", "responses": OK, "requestBody": {"content": {"a/b": {"$ref": "#/no"}}}},
        }
    }
    thing = {"type": "object", "properties": {"x": {"type": "integer"}}}
    api = compiled(written(a_document(paths, "3.2.0", components={"mediaTypes": {"Thing": {"schema": thing}}})))
    made = operations(api)["make"]
    assert isinstance(made.arguments, dict)
    assert made.arguments["properties"] == {"q": thing, "x": {"type": "integer"}}
    assert made.returns == thing
    assert [(name, "#/no" in why) for name, why in api.excluded.items()] == [("lost", True)]


SWAGGER = {
    "swagger": "2.0",
    "host": "api.test",
    "basePath": "/v1",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "produces": ["application/json"],
    "securityDefinitions": {"key": {"type": "basic"}, "o": {"type": "oauth2", "flow": "application", "tokenUrl": "https://api.test/t", "scopes": {}}},
    "security": [{"key": []}],
    "definitions": {"Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}}},
    "parameters": {"limit": {"name": "limit", "in": "query", "type": "integer", "maximum": 10}},
    "paths": {
        "/pets": {
            "get": {"operationId": "listPets", "parameters": [{"$ref": "#/parameters/limit"}, {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}, "collectionFormat": "pipes"}], "responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}}},
            "post": {"operationId": "addPet", "parameters": [{"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}}], "responses": {"201": {"description": "made"}}},
        },
        "/photos": {"post": {"operationId": "addPhoto", "consumes": ["multipart/form-data"], "parameters": [{"name": "photo", "in": "formData", "type": "file", "required": True}, {"name": "n", "in": "formData", "type": "integer"}], "responses": {"200": {"schema": {"type": "file"}}}}},
    },
}  # fmt: skip


def test_swagger_2_0() -> None:
    api = compiled(written(SWAGGER))
    found = operations(api)
    assert api.excluded == {}
    assert found["list_pets"].servers == ("https://api.test/v1",)
    limit, ids = found["list_pets"].parameters
    assert (limit.schema, limit.where) == ({"type": "integer", "maximum": 10}, "#/parameters/limit")
    assert (ids.style, ids.explode) == ("pipeDelimited", False)
    assert found["list_pets"].returns == {"type": "array", "items": {"$ref": "#/$defs/Pet"}}
    assert found["add_pet"].arguments["required"] == ["name"]  # type: ignore[index]
    assert found["add_photo"].body is not None
    assert found["add_photo"].body.media[0].type == "multipart/form-data"
    assert found["add_photo"].arguments["properties"]["photo"]["format"] == "binary"  # type: ignore[index]
    assert found["add_photo"].returns == {"type": "string", "format": "artifact"}
    assert found["add_pet"].security == ((("key", ()),),)
    assert api.schemes == {
        "key": {"type": "http", "scheme": "basic"},
        "o": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://api.test/t", "scopes": {}}}},
    }


def test_each_mistake_costs_its_operation_and_says_where() -> None:
    good = {"operationId": "good", "responses": OK}
    bad_style = {"name": "q", "in": "query", "style": "matrix", "schema": {}}
    paths = {
        "/good": {"get": good},
        "/style": {"get": {"operationId": "style", "parameters": [bad_style], "responses": OK}},
        "/missing/{id}": {"get": {"operationId": "missing", "parameters": [{"name": "other", "in": "path"}], "responses": OK}},
        "/gone": {"get": {"operationId": "gone", "parameters": [{"$ref": "#/components/parameters/no"}], "responses": OK}},
        "/deep": {"get": {"operationId": "deep", "parameters": [{"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Broken"}}], "responses": OK}},
        "/loop": {"get": {"operationId": "loop", "parameters": [{"$ref": "#/components/parameters/a"}], "responses": OK}},
        "/body": {"post": {"operationId": "body", "requestBody": {"content": {}}, "responses": OK}},
        "/policy": {"get": {"operationId": "policy", "x-isolith-policy": "maybe", "responses": OK}},
        "/security": {"get": {"operationId": "security", "security": [{"key": "x"}], "responses": OK}},
        "/odd": {"get": 5, "put": {"operationId": "odd", "parameters": "none", "responses": OK}},
        "item": {"get": {"operationId": "no_slash", "responses": OK}},
        "/server": {"get": {"operationId": "server", "servers": [{"url": "ftp://a.test"}], "responses": OK}},
        "/item": 7,
    }  # fmt: skip
    components = {
        "parameters": {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}},
        "schemas": {"Broken": {"properties": {"x": {"$ref": "#/components/schemas/Nowhere"}}}},
    }
    api = compiled(written(a_document(paths, components=components)))
    assert list(operations(api)) == ["good"]
    told = {
        "style": "#/paths/~1style/get/parameters/0 has `style: matrix`",
        "missing": "`{id}` in the path",
        "gone": "`$ref` to `#/components/parameters/no` at #/paths/~1gone/get/parameters/0 leads nowhere",
        "deep": "at #/components/schemas/Broken/properties/x leads nowhere",
        "loop": "leads in a circle",
        "body": "has no media type",
        "policy": "`x-isolith-policy`",
        "security": "#/paths/~1security/get/security/0",
        "GET /odd": "#/paths/~1odd/get should be a mapping",
        "odd": "#/paths/~1odd/put/parameters should be a list",
        "server": "only http and https",
        "item": "the path at #/paths/item is there with a slash as well",
        "/item": "#/paths/~1item should be a mapping",
    }
    assert api.excluded.keys() == told.keys()
    for name, part in told.items():
        assert part in api.excluded[name], name


def test_a_broken_answer_costs_nothing_but_its_type() -> None:
    answers = {
        "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/No"}}}},
        "404": {"$ref": "#/no"},
    }
    api = compiled(written(a_document({"/a": {"get": {"operationId": "a", "responses": answers}}})))
    assert api.excluded == {}
    assert api.definitions["missing_No"] == {}


def test_circular_and_deep_schemas_stay_references() -> None:
    deep: dict[str, object] = {"type": "string"}
    for _ in range(150):
        deep = {"type": "array", "items": deep}
    schemas = {
        "Node": {
            "properties": {
                "next": {"$ref": "#/components/schemas/Node"},
                "all": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
            }
        },
        "Deep": deep,
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}
    too_deep = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Deep"}}}}
    paths = {
        "/a": {"post": {"operationId": "a", "requestBody": body, "responses": OK}},
        "/b": {"post": {"operationId": "b", "requestBody": too_deep, "responses": OK}},
    }
    api = compiled(written(a_document(paths, components={"schemas": schemas})))
    assert list(operations(api)) == ["a"]
    assert api.uses["Node"] == ("Node",)
    assert "nested deeper than 100 levels" in api.excluded["b"]


# ---------------------------------------------------------------------------------------------------------- servers


def test_variables_of_servers() -> None:
    server = {
        "url": "https://{region}.api.test/{version}",
        "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}, "version": {"default": "v1"}},
    }
    tree = a_document({"/a": {"get": {"operationId": "a", "responses": OK}}})
    tree["servers"] = [server]
    assert compiled(written(tree)).operations[0].servers == ("https://eu.api.test/v1",)
    us = Whereabouts(variables={"region": "us"})
    assert compiled(written(tree), where=us).operations[0].servers == ("https://us.api.test/v1",)
    wrong = Whereabouts(variables={"region": "mars"})
    assert "is one of eu, us; mars was given" in compiled(written(tree), where=wrong).excluded["a"]


@pytest.mark.parametrize("url", ["http://[]", "//[x]/a", "http://[::1"])
def test_a_server_that_is_no_address_costs_its_operations_only(url: str) -> None:
    tree = a_document({"/a": {"get": {"operationId": "a", "responses": OK, "servers": [{"url": url}]}}})
    assert "is no address" in compiled(written(tree)).excluded["a"]


@pytest.mark.parametrize("version", ["4.0.0", "1.2", 5, None])
def test_what_is_of_no_known_version_says_so(version: object) -> None:
    tree: dict[str, object] = {"openapi": version} if version else {}
    with pytest.raises(DocumentError, match="supported" if version else "neither `openapi` nor `swagger`"):
        compiled(written(tree))


# ------------------------------------------------------------------------------------------------------- status


def test_a_document_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.json"

    def write(*names: str) -> None:
        paths = {f"/{name}": {"get": {"operationId": name, "responses": OK}} for name in names}
        path.write_bytes(
            written(a_document({**paths, "/x": {"get": {"operationId": "wrong", "parameters": 5, "responses": OK}}}))
        )

    async def within() -> None:
        write("one", "two")
        connector = OpenApi(path)
        assert connector.status().state == "not started"
        await connector.start()
        status = connector.status()
        assert (status.connector, status.state, status.tools) == ("shop", "ready", 2)
        assert status.excluded[0].startswith("wrong: #/paths/~1x/get/parameters should be a list")
        write("two", "three")
        again = await connector.reconnect()
        assert (again.ok, again.added, again.removed) == (True, ("three",), ("one",))
        path.write_bytes(b"[]")
        failed = await connector.reconnect()
        assert (failed.ok, failed.tools) == (False, 2)
        assert "holds a list" in str(failed.reason)
        assert set(connector.methods) == {"two", "three"}
        await connector.aclose()

    asyncio.run(within())
