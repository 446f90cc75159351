"""Names of operations and arguments: how they read, and that what would be alike is told apart loudly."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled

from isolith_bindings.openapi import OpenApi
from isolith_bindings.openapi.arguments import argument_names
from isolith_bindings.openapi.naming import Wanted, name_all


def wanted(*given: tuple[str, str | None, str | None]) -> list[Wanted]:
    """From `GET /path`, operationId and tag."""
    return [Wanted(key, key.partition(" ")[0], key.partition(" ")[2], name, tag) for key, name, tag in given]


@pytest.mark.parametrize(
    ("key", "given", "name"),
    [
        ("GET /a", "issues/list-for-repo", "issues.list_for_repo"),
        ("GET /a", "compute.instances.aggregatedList", "compute.instances.aggregated_list"),
        ("GET /a", "getUserByName", "get_user_by_name"),
        ("GET /a", "list_items", "list_items"),
        ("GET /items/{item_id}", "read_item_items__item_id__get", "read_item"),
        ("GET /users/{id}/posts", None, "get_users_id_posts"),
        ("POST /a-b/{c}.json", None, "post_a_b_c_json"),
        ("GET /", None, "get"),
        ("GET /a", "GET /users/{id}", "get_users_id"),
        ("GET /a", "import", "import_"),
        ("GET /a", "größe", "größe"),
        ("GET /a", "2fa", "_2fa"),
    ],
)
def test_names_without_tags(key: str, given: str | None, name: str) -> None:
    assert name_all(wanted((key, given, "t"))).names == {key: name}


def test_a_large_document_is_divided_by_its_tags() -> None:
    many = [(f"GET /x{number}", f"listX{number}", "VPCs") for number in range(20)]
    more: list[tuple[str, str | None, str | None]] = [
        ("GET /pods", "listCoreV1NamespacedPod", "core_v1"),
        ("GET /tasks", "tasks_list", "Tasks"),
        ("GET /t", "getTasks", "Tasks"),
        ("GET /none", "ping", None),
        ("GET /long", "longOne", "A tag that tells a whole story and more"),
        ("GET /issues", "issues/list", "anything"),
    ]
    names = name_all(wanted(*many, *more)).names
    assert names["GET /x7"] == "vpcs.list_x7"
    assert [names[key] for key, _, _ in more] == [
        "core_v1.list_namespaced_pod",
        "tasks.list",
        "tasks.get_tasks",
        "ping",
        "long_one",
        "issues.list",
    ]


def test_what_would_be_alike_takes_a_longer_name_and_says_so() -> None:
    found = name_all(wanted(("GET /a", "listItems", None), ("GET /b", "list_items", None), ("GET /c", "other", None)))
    assert found.names == {"GET /a": "get_a", "GET /b": "get_b", "GET /c": "other"}
    assert found.notes.keys() == {"GET /a", "GET /b"}
    assert found.notes["GET /a"] == "`list_items` would be the name of other operations as well: it is `get_a`"


def test_what_is_alike_whatever_it_is_called_is_not_there() -> None:
    found = name_all(wanted(("GET /a-b", None, None), ("GET /a_b", None, None)))
    assert found.names == {}
    assert "it would be called `get_a_b`, as is GET /a_b" in found.excluded["GET /a-b"]


def test_a_method_and_a_group_of_one_name() -> None:
    found = name_all(wanted(("GET /issues", "issues", None), ("GET /i", "issues/list", None)))
    assert found.names == {"GET /issues": "get_issues", "GET /i": "issues.list"}


def test_an_id_that_is_used_twice_names_nothing() -> None:
    same = {"operationId": "same", "responses": OK}
    api = compiled(json.dumps(a_document({"/a": {"get": same}, "/b": {"get": same}})).encode())
    assert {operation.id: operation.name for operation in api.operations} == {"GET /a": "get_a", "GET /b": "get_b"}


def test_an_id_that_is_used_twice_is_told() -> None:
    same, own = ({"operationId": name, "responses": OK} for name in ("same", "own"))
    connector = OpenApi(a_document({"/a": {"get": same}, "/b": {"get": same}, "/c": {"get": own}}), name="api")
    asyncio.run(connector.start())
    assert connector.status().problems == (
        "GET /a: its operationId `same` is that of GET /b as well: it is `get_a`",
        "GET /b: its operationId `same` is that of GET /a as well: it is `get_b`",
    )


def test_an_id_that_is_used_often_names_one_other_and_counts_the_rest() -> None:
    same = {"operationId": "same", "responses": OK}
    api = compiled(json.dumps(a_document({f"/{name}": {"get": same} for name in "abc"})).encode())
    assert api.notes["GET /b"] == "its operationId `same` is that of GET /a and of 1 more as well: it is `get_b`"


def test_names_of_arguments() -> None:
    found = argument_names(
        [
            ("query", "type"),
            ("query", "class"),
            ("header", "X-Id"),
            ("path", "id"),
            ("query", "id"),
            ("body", "path_id"),
        ]
    )
    assert found == {
        ("query", "type"): "type",
        ("query", "class"): "class_",
        ("header", "X-Id"): "X_Id",
        ("path", "id"): "path_id_2",
        ("query", "id"): "query_id",
        ("body", "path_id"): "path_id",
    }
    assert len(set(argument_names([("query", "a-b"), ("query", "a_b")]).values())) == 2
