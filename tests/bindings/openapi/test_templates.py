"""Paths as templates: what fills them in, and mistakes in them whose meaning is plain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled, operations
from tests.bindings.openapi.exchanges import JSON_ANY, a, get, refused, sent

if TYPE_CHECKING:
    from isolith_bindings.openapi.model import Api


def api_of(document: object) -> Api:
    return compiled(json.dumps(document).encode())


def test_a_part_of_the_path_that_is_declared_nowhere_is_text() -> None:
    document = get(a("id", "path"), path="/users/{id}/posts/{post-id}")
    assert sent(document, "read", id="7", post_id=3).path == "/users/7/posts/3"
    assert sent(document, "read", id="7", post_id="a/b").path == "/users/7/posts/a%2Fb"
    assert "`post_id` (path parameter `post-id` of GET" in refused(document, "read", id="7").message
    assert "expected string or integer" in refused(document, "read", id="7", post_id=["x"]).message
    assert api_of(document).notes == {"read": "`{post-id}` of its path is declared nowhere: it is taken for text"}


def test_a_parameter_that_has_no_place_in_the_path_is_left_out() -> None:
    document = get(a("id", "path"), a("other", "path"), path="/users/{id}")
    assert sent(document, "read", id="7").path == "/users/7"
    assert api_of(document).notes == {"read": "its path has no `{other}`: that parameter is left out"}


@pytest.mark.parametrize(
    ("in_path", "declared"), [("userId", "user_id"), ("user-id", "UserID"), ("+file", "file"), ("größe", "Größe")]
)
def test_a_part_of_the_path_may_be_spelt_otherwise(in_path: str, declared: str) -> None:
    document = get(a(declared, "path", {"type": "integer"}), path=f"/users/{{{in_path}}}")
    (argument,) = api_of(document).operations[0].parameters
    assert (argument.name, argument.schema) == (in_path, {"type": "integer"})
    assert sent(document, "read", **{argument.argument: 7}).path == "/users/7"
    assert api_of(document).notes == {"read": f"`{declared}` is what its path calls `{{{in_path}}}`"}


@pytest.mark.parametrize("declared", [["b"], ["b", "c"], ["日"]])
def test_which_part_of_the_path_is_meant_is_not_guessed(declared: list[str]) -> None:
    api = api_of(get(*(a(name, "path") for name in declared), path="/users/{本}"))
    assert "`{本}` in the path at #/paths/~1users~1{本}/get has no parameter `in: path`" in api.excluded["read"]
    assert f"the path parameter `{declared[0]}` does not stand in the path" in api.excluded["read"]


@pytest.mark.parametrize(
    ("path", "parameters", "arguments", "target"),
    [
        ("/a?kind=x%20y&z", [], {}, "/a?kind=x%20y&z="),
        ("/a?term={term}&n=2", [a("term")], {"term": "b&c"}, "/a?n=2&term=b%26c"),
        ("/a?q={term}", [a("term", "path", {"type": "integer"})], {"q": 3}, "/a?q=3"),
        ("/a?q={term}", [], {"q": "x"}, "/a?q=x"),
        ("/a?kind=x", [a("kind")], {"kind": "y"}, "/a?kind=y"),
        ("/a?kind=x", [a("kind")], {}, "/a?kind=x"),
        ("/a/{id}?q={q}", [a("id", "path"), a("q")], {"id": "1", "q": "2"}, "/a/1?q=2"),
        ("/a?x=1#part", [], {}, "/a?x=1"),
        ("/a#part?x=1", [], {}, "/a"),
    ],
)
def test_a_query_in_the_path_is_sent_as_one(
    path: str, parameters: list[dict[str, object]], arguments: dict[str, object], target: str
) -> None:
    document = get(*parameters, path=path)
    name = next(iter(operations(api_of(document))))
    assert sent(document, name, **arguments).target == target


def test_a_query_in_the_path_that_cannot_be_filled_in_costs_its_operation() -> None:
    assert "`q=a{term}`, which cannot be filled in" in api_of(get(path="/a?q=a{term}")).excluded["read"]


def test_a_path_without_its_slash_and_a_method_in_capitals_are_there() -> None:
    document = a_document({"users": {"GET": {"operationId": "read", "responses": JSON_ANY}}, "/b": {"Post": {"operationId": "make", "responses": OK}}})  # fmt: skip
    assert sent(document, "read").target == "/users"
    assert sent(document, "make").method == "POST"
    assert list(api_of(document).notes) == ["read"]
    assert "is taken for `/users`" in api_of(document).notes["read"]
