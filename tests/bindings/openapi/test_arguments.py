"""Arguments: what is sent for which ones, and what is refused before anything is."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal

import pytest
from tests.bindings.openapi.bench import OK, a_document
from tests.bindings.openapi.exchanges import a, body, get, refused, sent


def test_every_part_of_a_request() -> None:
    document = get(
        a("id", "path", required=True), a("q"), a("X-Trace", "header"), a("crumb", "cookie"), path="/things/{id}/parts"
    )
    got = sent(document, "read", id="a/b", q="c d", X_Trace="t", crumb="x y")
    assert got.target == "/things/a%2Fb/parts?q=c%20d"
    assert (got.header("x-trace"), got.header("cookie")) == ("t", "crumb=x%20y")
    assert got.header("accept") == "application/json, */*;q=0.1"


def test_what_the_document_calls_it_is_understood_too() -> None:
    document = get(a("X-Trace", "header"), a("filter[name]"), a("class"))
    got = sent(document, "read", **{"X-Trace": "t", "filter[name]": "n", "class_": "c"})
    assert got.header("x-trace") == "t"
    assert got.query == "filter%5Bname%5D=n&class=c"


def test_clashes_say_where_they_belong() -> None:
    document = a_document(
        {
            "/things/{id}": {
                "parameters": [a("id", "path", required=True), a("id")],
                "put": {
                    "operationId": "put",
                    "requestBody": body("application/json", {"type": "object", "properties": {"id": {}, "type": {}}}),
                    "responses": OK,
                },
            }
        }
    )
    got = sent(document, "put", path_id="p", query_id="q", body_id="b", type="t")
    assert got.target == "/things/p?id=q"
    assert json.loads(got.body) == {"id": "b", "type": "t"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sise": 3}, "read (GET /things, #/paths/~1things/get) takes no argument `sise`, did you mean `size`?"),
        ({"size": 51}, "`size` (query parameter `size` of GET /things, #/paths/~1things/get/parameters/0): "),
        ({"size": "x"}, "expected integer, was given 'x'"),
        ({"state": "shut"}, "'open'"),
        (
            {"tags": ["a", 1]},
            "`tags[1]` (query parameter `tags` of GET /things, #/paths/~1things/get/parameters/2): expected string",
        ),
        ({"size": 3, "Size": 4}, "read (GET /things, #/paths/~1things/get) takes no argument `Size`"),
    ],
)
def test_errors_say_which_parameter_where_and_what_is_allowed(arguments: dict[str, object], message: str) -> None:
    document = get(
        a("size", schema={"type": "integer", "maximum": 50}),
        a("state", schema={"enum": ["open", "closed"]}),
        a("tags", schema={"type": "array", "items": {"type": "string"}}),
    )
    error = refused(document, "read", **arguments)
    assert message in error.message
    assert error.hint == "it takes `size`?, `state`?, `tags`?"


def test_several_problems_are_told_at_once() -> None:
    document = get(a("one", required=True), a("two", schema={"type": "integer"}))
    error = refused(document, "read", two="x")
    assert "`one` (query parameter `one` of GET /things, #/paths/~1things/get/parameters/0) is missing" in error.message
    assert "`two` (query parameter `two`" in error.message


def test_none_leaves_an_optional_parameter_out() -> None:
    assert sent(get(a("q")), "read", q=None).target == "/things"
    assert "`q`" in refused(get(a("q", required=True)), "read", q=None).message


@pytest.mark.parametrize("value", ["", ".", "..", "a/../b", "%2e%2e", "..\\x", "%252e%252e/x"])
def test_a_path_stays_the_path_of_its_operation(value: str) -> None:
    error = refused(get(a("id", "path", required=True), path="/things/{id}"), "read", id=value)
    assert "`id` (path parameter `id` of GET /things/{id}, " in error.message


@pytest.mark.parametrize(
    "value", ["https://evil.test/x", "//evil.test", "a?b=c", "a#b", "@evil.test", "\r\nHost: evil.test"]
)
def test_a_value_in_the_path_is_a_value(value: str) -> None:
    got = sent(get(a("id", "path", required=True), path="/things/{id}/end"), "read", id=value)
    assert got.path.startswith("/things/")
    assert got.path.endswith("/end")
    assert got.path.count("/") == 3
    assert got.query == ""


def test_a_header_of_two_lines_is_refused() -> None:
    error = refused(get(a("X-A", "header")), "read", X_A="a\r\nX-B: c")
    assert "`X_A` (header parameter `X-A` of GET /things" in error.message


def test_values_of_python_are_written_as_documents_expect_them() -> None:
    names = ("when", "day", "id", "amount", "count", "some", "flag", "raw")
    got = sent(
        get(*(a(name, schema={}) for name in names)),
        "read",
        when=dt.datetime(2025, 11, 29, 12, 30, tzinfo=dt.UTC),
        day=dt.date(2025, 11, 29),
        id=uuid.UUID(int=7),
        amount=Decimal("1.50"),
        count=Decimal(7),
        some=("a", "b"),
        flag=True,
        raw=b"\x00\xff",
    )
    assert got.query == (
        "when=2025-11-29T12%3A30%3A00%2B00%3A00&day=2025-11-29&id=00000000-0000-0000-0000-000000000007"
        "&amount=1.5&count=7&some=a&some=b&flag=true&raw=AP8%3D"
    )


@pytest.mark.parametrize(
    "value",
    [1 << 20_000, [1 << 20_000], {"a": 1 << 20_000}, {1 << 20_000: "a"}, Decimal("sNaN")],
    ids=["alone", "in a list", "in a mapping", "as a key", "signal"],
)
def test_a_number_that_cannot_be_written_is_refused(value: object) -> None:
    """It was a bug of ours, to whoever reads the outcome."""
    document = get(a("any", schema={}), a("path", "path", required=True, schema={}), path="/things/{path}")
    for arguments in ({"any": "a", "path": value}, {"any": value, "path": "b"}):
        message = str(refused(document, "read", **arguments))
        assert "<int of 20,001 bits>" in message or "sNaN" in message
