"""Bodies of requests: fields as arguments, forms, text and bytes, and which media type is sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.exchanges import body, post, refused, run, sent

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Server


def test_the_fields_of_a_closed_object_are_arguments() -> None:
    schema = {
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string"},
            "labels": {"type": "array", "items": {"type": "string"}},
            "id": {"type": "integer", "readOnly": True},
        },
    }
    got = sent(post(body("application/json", schema)), "make", title="ü", labels=["a"])
    assert (got.header("content-type"), json.loads(got.body)) == ("application/json", {"title": "ü", "labels": ["a"]})
    missing = "`title` (body field `title` of POST /things, #/paths/~1things/post/requestBody) is missing"
    assert missing in refused(post(body("application/json", schema)), "make", labels=[]).message
    assert "no argument `id`" in refused(post(body("application/json", schema)), "make", title="a", id=3).message


def test_an_optional_body_is_left_out_where_nothing_is_given() -> None:
    schema = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}, "text": {}}}
    document = post(body("application/json", schema, required=False))
    got = sent(document, "make")
    assert (got.body, got.header("content-type"), got.header("content-length")) == (b"", None, "0")
    assert "`title` is missing" in refused(document, "make", text="x").message


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"oneOf": [{"type": "object"}, {"type": "array"}]},
        {"type": ["object", "null"], "properties": {"a": {}}},
        {"type": "array", "items": {}},
        {"type": "string"},
    ],
)
def test_any_other_body_is_one_argument(schema: dict[str, object]) -> None:
    document = post(body("application/json", schema))
    value: object = {"array": [1], "string": "s"}.get(str(schema.get("type")), {"a": 1})
    got = sent(document, "make", body=value)
    assert json.loads(got.body) == value


def test_fields_that_go_together_are_checked_together() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {}, "b": {}, "c": {}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    assert "body of POST /things" in refused(post(body("application/json", schema)), "make", c=1).message
    assert json.loads(sent(post(body("application/json", schema)), "make", b=1).body) == {"b": 1}


def test_composed_objects_are_put_together() -> None:
    schema = {
        "allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {}}},
            {"properties": {"b": {"type": "integer"}}},
        ]
    }
    assert json.loads(sent(post(body("application/json", schema)), "make", a=1, b=2).body) == {"a": 1, "b": 2}


def test_a_form() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "tags": {"type": "array"},
            "deep": {"type": "object"},
            "more": {"type": "object"},
            "csv": {"type": "array"},
        },
    }
    encoding = {"deep": {"style": "deepObject", "explode": True}, "csv": {"style": "form", "explode": False}}
    document = post(body("application/x-www-form-urlencoded", schema, encoding=encoding))
    got = sent(
        document, "make", a="b c&d", tags=["x", "y"], deep={"k": {"l": "v"}, "m": [1, 2]}, more={"j": 1}, csv=[1, 2]
    )
    assert got.header("content-type") == "application/x-www-form-urlencoded"
    assert got.body == (
        b"a=b+c%26d&tags=x&tags=y&deep%5Bk%5D%5Bl%5D=v&deep%5Bm%5D%5B%5D=1&deep%5Bm%5D%5B%5D=2&more=%7B%22j%22%3A1%7D&csv=1,2"
    )


@pytest.mark.parametrize("media", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_none_leaves_a_field_out_of_a_form_which_has_no_null_and_is_null_where_the_field_is_json(media: str) -> None:
    """FastAPI calls each optional field of a form nullable, and takes the text `null` for a value."""
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {"type": "object", "properties": dict.fromkeys(("a", "b", "styled", "data"), optional)}
    encoding = {"styled": {"style": "form"}, "data": {"contentType": "application/json"}}
    document = post(body(media, schema, encoding=encoding))
    written = sent(document, "make", a="x", b=None, styled=None, data=None).body.decode()
    names = re.findall(r'name="(.*?)"', written) or [pair.partition("=")[0] for pair in written.split("&")]
    assert names == ["a", "data"]
    assert written.count("null") == 1


@pytest.mark.parametrize(
    ("media", "schema", "value", "content_type", "content"),
    [
        ("text/plain", {"type": "string"}, "ü", "text/plain; charset=utf-8", "ü".encode()),
        ("application/xml", {"type": "object"}, "<a/>", "application/xml; charset=utf-8", b"<a/>"),
        ("application/octet-stream", {}, b"\x00", "application/octet-stream", b"\x00"),
        ("application/octet-stream", {"type": "string", "format": "binary"}, "text", "application/octet-stream", b"text"),
        ("application/x-ndjson", {}, [{"a": 1}, 2], "application/x-ndjson", b'{"a":1}\n2\n'),
        ("application/vnd.api+json", {"type": "array"}, [1], "application/vnd.api+json", b"[1]"),
        ("*/*", {"type": "array"}, [1], "application/json", b"[1]"),
    ],
)  # fmt: skip
def test_bodies_of_other_kinds(media: str, schema: object, value: object, content_type: str, content: bytes) -> None:
    got = sent(post(body(media, schema)), "make", body=value)
    assert (got.header("content-type"), got.body) == (content_type, content)


def test_an_artifact_as_a_body_says_its_own_type() -> None:
    async def use(client: Client, server: Server) -> None:
        await client.call("make", body=client.artifacts.keep(b"\x89PNG", mime="image/png"))
        assert (server.last.header("content-type"), server.last.body) == ("image/png", b"\x89PNG")

    run(post(body("image/*", {})), use)


def test_the_media_type_is_chosen_where_it_matters() -> None:
    content = {"application/json": {"schema": {"type": "object"}}, "text/csv": {"schema": {"type": "string"}}}
    document = post({"required": True, "content": content})
    assert sent(document, "make", body={"a": 1}).header("content-type") == "application/json"
    assert sent(document, "make", body="a,b", content_type="text/csv").body == b"a,b"
    assert "body of POST" in refused(document, "make", body={"a": 1}, content_type="text/csv").message
    assert "text/html" in refused(document, "make", body="a", content_type="text/html").message
    same = post(
        {
            "required": True,
            "content": {media: {"schema": {"type": "object"}} for media in ("application/xml", "application/json")},
        }
    )
    assert sent(same, "make", body={"a": 1}).header("content-type") == "application/json"
