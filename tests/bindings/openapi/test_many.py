"""Many documents: published examples in every version, a large one of Swagger 2.0, and what chance makes of one."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bindings.openapi import registry
from tests.bindings.openapi.bench import OK, a_document, compiled

from isolith_bindings.openapi import DocumentError
from isolith_bindings.openapi.checking import properties_of, required_of
from isolith_bindings.openapi.servers import Whereabouts
from isolith_bindings.openapi.signatures import Signatures

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Api

UNLIKE = {"3.1/json/parameters-style.json"}
"""A GET of the one is a POST of the other."""
WHERE = Whereabouts(replaced=True)


def examples() -> list[str]:
    """The names of the published examples that are there in JSON and in YAML."""
    as_json = registry.members(registry.EXAMPLES, ".json")
    as_yaml = set(registry.members(registry.EXAMPLES, ".yaml"))
    twins = [name for name in as_json if name.replace("json", "yaml") in as_yaml]
    return [name for name in twins if name.startswith(("2.", "3."))]


def outline(api: Api) -> dict[str, tuple[object, ...]]:
    """What can be called, and with what."""
    return {
        operation.name: (operation.key, list(properties_of(operation)), required_of(operation), operation.accept)
        for operation in api.operations
    }


def test_published_examples_are_the_same_in_json_and_yaml() -> None:
    names = examples()
    assert len(names) > 50
    as_json = registry.documents(registry.EXAMPLES, names)
    as_yaml = registry.documents(registry.EXAMPLES, [name.replace("json", "yaml") for name in names])
    excluded: dict[str, dict[str, str]] = {}
    operations = 0
    for name, first, second in zip(names, as_json, as_yaml, strict=True):
        api = compiled(first.read_bytes(), where=WHERE)
        # Their words are not always the same, what they say is.
        assert name in UNLIKE or outline(compiled(second.read_bytes(), where=WHERE)) == outline(api), name
        operations += len(api.operations)
        if api.excluded:
            excluded[name] = dict(api.excluded)
    print(f"{len(names)} documents, {operations} operations, excluded: {excluded}")
    assert operations > 500
    assert len(excluded) <= 3


@pytest.mark.slow
def test_kubernetes_in_swagger_2_0() -> None:
    api = compiled(registry.document(*registry.KUBERNETES_2).read_bytes(), where=WHERE)
    names = {operation.name: operation for operation in api.operations}
    print(f"{len(names)} operations, {len(api.excluded)} excluded, {len(api.notes)} notes")
    assert len(names) > 800
    assert api.excluded == {}
    create = names["core_v1.create_namespaced_pod"]
    assert create.key == "POST /api/v1/namespaces/{namespace}/pods"
    assert create.returns is not None


WHOLE = a_document(
    {
        "/things/{id}": {
            "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}],
            "get": {
                "operationId": "getThing",
                "tags": ["things"],
                "parameters": [{"name": "q", "in": "query", "style": "form", "explode": False, "schema": {"$ref": "#/components/schemas/Q"}}],
                "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}, "default": {"$ref": "#/components/responses/E"}},
                "security": [{"key": ["scope"]}],
            },
            "post": {
                "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {"$ref": "#/components/schemas/Thing"}, "encoding": {"name": {"contentType": "text/plain"}}}}},
                "responses": OK,
                "servers": [{"url": "https://{a}.test", "variables": {"a": {"default": "b", "enum": ["b"]}}}],
            },
        },
        "/parts": {
            "query": {
                "parameters": [{"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object"}, "encoding": {"a": {"style": "deepObject"}}}}}],
                "requestBody": {"content": {"multipart/mixed": {"schema": {"type": "array", "prefixItems": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}], "items": {"$ref": "#/components/schemas/Q"}}, "prefixEncoding": [{"headers": {"X-A": {"required": True, "schema": {"type": "integer", "default": 1}}}}, {"contentType": "multipart/mixed", "itemEncoding": {"contentType": "text/csv"}}], "itemEncoding": {"headers": {"X-B": {"$ref": "#/components/headers/H"}}}}}},
                "responses": {"200": {"content": {"text/event-stream": {"itemSchema": {"$ref": "#/components/schemas/Thing"}}, "multipart/mixed": {"itemSchema": {}, "schema": {"type": "array"}, "itemEncoding": {"headers": {"X-C": {"content": {"text/plain": {}}}}}}}}},
                "security": [{"#/components/securitySchemes/key": []}],
            },
            "additionalOperations": {"COPY": {"responses": OK, "tags": ["t"]}},
        },
        "/mended/{someId}?a=1&b={b}": {
            "GET": {
                "parameters": [{"name": "some_id", "in": "Path", "type": "integer"}, {"name": "f", "in": "query", "allowEmptyValue": True, "schema": {"$ref": "#/components/schemas/Q", "nullable": True}}],
                "responses": {"200": {"content": {"multipart/form-data": {"schema": {"$ref": "#/components/schemas/Thing"}, "encoding": {"name": {"headers": {"X-A": {"schema": {"type": "integer"}}}}}}}}},
            },
        },
    },
    tags=[{"name": "t", "kind": "badge"}],
    components={
        "schemas": {
            "Q": {"type": ["array", "null"], "items": {"enum": ["a", "b"]}, "minItems": 1},
            "Thing": {"allOf": [{"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 5}, "next": {"$ref": "#/components/schemas/Thing"}}}]},
        },
        "headers": {"H": {"schema": {"enum": ["a", "b"]}}},
        "responses": {"E": {"description": "no", "content": {"text/plain": {}}}},
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X"}},
    },
)  # fmt: skip


OLD: dict[str, Any] = {
    "swagger": "2.0",
    "host": "https://api.test",
    "basePath": "v1",
    "schemes": ["HTTPS"],
    "paths": {
        "/things/{l}": {
            "post": {
                "consumes": ["multipart/form-data"],
                "produces": ["multipart/mixed"],
                "parameters": [
                    {"name": "l", "in": "path", "required": True, "type": "array", "collectionFormat": "pipes", "items": {"type": "array", "collectionFormat": "ssv", "items": {"type": "integer"}}},
                    {"name": "f", "in": "formData", "type": "array", "collectionFormat": "multi", "items": {"type": "array", "items": {"type": "string"}}},
                    {"name": "s", "in": "query", "schema": {"type": "integer"}},
                ],
                "responses": {"200": {"schema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "file", "readOnly": True}}}}},
            }
        }
    },
}  # fmt: skip


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Where something can be put in place of what is there."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return (
        [path, *(place for key, value in inner for place in places(value, (*path, key)))]
        if path
        else [place for key, value in inner for place in places(value, (key,))]
    )


REFERENCES = [
    {"$ref": text} for text in ("#", "#/", "#/paths", "#/components/schemas/Thing", "#/nowhere", "x.json", "#a", "%")
]
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300), st.text(max_size=5), st.sampled_from(REFERENCES),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=2),
    st.dictionaries(st.sampled_from(["type", "name", "in", "content", "properties", "x", "$ref"]), st.one_of(st.text(max_size=4), st.integers(), st.none(), st.lists(st.integers(), max_size=1)), max_size=2),
)  # fmt: skip


def changed(whole: dict[str, Any], changes: list[tuple[tuple[Any, ...], object]]) -> dict[str, Any]:
    tree: Any = copy.deepcopy(whole)
    for path, value in changes:
        node = tree
        for key in path[:-1]:
            node = (
                node[key]
                if (isinstance(node, dict) and key in node) or (isinstance(node, list) and key in range(len(node)))
                else {}
            )
        if isinstance(node, dict) or (isinstance(node, list) and path[-1] in range(len(node))):
            node[path[-1]] = copy.deepcopy(value)  # the same value may be drawn twice, and go into itself
    return cast("dict[str, Any]", tree)


def with_mistakes(whole: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    places_and_values = st.tuples(st.sampled_from(places(whole)), ODD)
    return st.lists(places_and_values, min_size=1, max_size=3).map(lambda changes: changed(whole, changes))


@pytest.mark.parametrize("whole", [WHOLE, OLD])
def test_before_chance_changes_them_nothing_is_wrong_with_them(whole: dict[str, Any]) -> None:
    assert compiled(json.dumps(whole).encode()).excluded == {}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(with_mistakes(WHOLE) | with_mistakes(OLD), st.sampled_from(["3.0.3", "3.1.0", "3.2.0"]))
def test_whatever_is_wrong_with_a_document_it_is_said(tree: dict[str, Any], version: str) -> None:
    tree = {**tree, "openapi": version} if "openapi" in tree else tree
    try:
        api = compiled(json.dumps(tree).encode())
    except DocumentError:
        return
    signatures = Signatures(api)
    assert all(signatures.of(operation).startswith("async def ") for operation in api.operations)
    assert all(reason for reason in api.excluded.values())
    assert len({operation.name for operation in api.operations}) == len(api.operations)
