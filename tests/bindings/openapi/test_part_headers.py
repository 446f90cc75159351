"""Headers of parts: given by a script, by the document, and those that are not sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

import pytest
from tests.bindings.openapi.bench import compiled, operations
from tests.bindings.openapi.exchanges import body, post, refused, run, sent
from tests.bindings.openapi.taken_apart import found_in, signature

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Server

# The specification calls this `Ordered Multipart With Required Header`.
LOCATION = {"required": True, "schema": {"type": "string", "format": "uri"}}
RELATED = body(
    "multipart/related; type=text/html",
    {"prefixItems": [{"type": "string"}], "items": {"anyOf": [{"type": "string"}, {}]}},
    prefixEncoding=[{"contentType": "text/html", "headers": {"Content-ID": {"schema": False}, "Content-Location": LOCATION}}],
    itemEncoding={"contentType": "text/css,text/javascript,image/*", "headers": {"Content-Location": LOCATION}},
)  # fmt: skip


def located(content: object, where: object) -> dict[str, object]:
    return {"content": content, "headers": {"Content-Location": where}}


def test_parts_have_the_headers_that_a_script_gives_them() -> None:
    page, style = "http://a.test/", "http://a.test/a.css"

    async def use(client: Client, server: Server) -> None:
        picture = client.artifacts.keep(b"GIF", mime="image/gif")
        await client.call(
            "make", body=[located("<p>", page), located("p {}", style), located(picture, "http://a.test/b")]
        )
        assert str(server.last.header("content-type")).startswith("multipart/related; type=text/html; boundary=")
        assert found_in(server.last) == [
            ({"content-type": "text/html; charset=utf-8", "content-location": page}, b"<p>"),
            ({"content-type": "text/css; charset=utf-8", "content-location": style}, b"p {}"),
            ({"content-type": "image/gif", "content-location": "http://a.test/b"}, b"GIF"),
        ]

    run(post(RELATED), use)


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("<p>", "expected object"),
        ({"content": "<p>"}, "headers"),
        ({"content": "<p>", "headers": {}}, "Content-Location"),
        (located("<p>", 3), "expected string"),
        ({"content": "<p>", "headers": {"Content-Location": "http://a.test", "Content-ID": "x"}}, "Content-ID"),
        ({"content": "<p>", "headers": {"Content-Location": "http://a.test", "X-Other": "x"}}, "X-Other"),
        (located("<p>", "http://a.test\r\nX-Evil: 1"), "Content-Location"),
        (located("<p>", "http://a.test/\r\n\r\n--smuggled"), "Content-Location"),
        (located("<p>", "http://a.test/ü"), "Content-Location"),
    ],
)  # fmt: skip
def test_a_part_whose_headers_do_not_fit_is_not_sent(part: object, told: str) -> None:
    assert told in refused(post(RELATED), "make", body=[part]).message


NOTED = body(
    "multipart/form-data",
    {
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "meta": {"type": "object"},
            "plain": {"type": "string"},
        },
    },
    encoding={
        "note": {
            "headers": {
                "X-Kind": {"schema": {"enum": ["draft", "final"]}},
                "X-Usual": {"$ref": "#/components/headers/Usual"},
                "X-Fixed": {"schema": {"const": 1}},
                "X-Codes": {"schema": {"type": "array", "items": {"type": "integer"}}},
                "X-Object": {"explode": True, "schema": {"type": "object"}},
                "X-Text": {"content": {"text/plain": {"schema": {"type": "string"}}}},
                "X-Json": {"content": {"application/json": {"schema": {"type": "object"}}}},
            }
        },
        "files": {"headers": {"X-Number": {"required": True, "schema": {"type": "integer", "minimum": 1}}}},
        "meta": {"contentType": "application/xml"},
    },
)
COMPONENTS = {"headers": {"Usual": {"description": "which", "schema": {"type": "integer", "default": 7}}}}


def test_a_part_with_a_name_may_have_headers() -> None:
    document = post(NOTED) | {"components": COMPONENTS}
    headers = {
        "X-Kind": "final", "X-Usual": 8, "X-Codes": [1, 2], "X-Object": {"a": 1, "b": "c"}, "X-Text": "as is", "X-Json": {"a": [1]},
    }  # fmt: skip
    got = sent(
        document,
        "make",
        note={"content": "n", "headers": headers},
        files=[{"content": b"1", "headers": {"X-Number": 1}}],
    )
    (note, _), (file, content) = found_in(got)
    assert {name: value for name, value in note.items() if name.startswith("x-")} == {
        "x-kind": "final", "x-usual": "8", "x-fixed": "1", "x-codes": "1,2", "x-object": "a=1,b=c", "x-text": "as is", "x-json": '{"a":[1]}',
    }  # fmt: skip
    assert (file["x-number"], content) == ("1", b"1")
    # Without headers of its own the content stands alone, with those that the document gives.
    (bare, _) = found_in(sent(document, "make", note="n"))[0]
    assert {name: value for name, value in bare.items() if name.startswith("x-")} == {"x-usual": "7", "x-fixed": "1"}


def test_what_can_be_given_is_in_the_signature() -> None:
    document = post(NOTED) | {"components": COMPONENTS}
    assert "note: str | MakeArgumentsNote = ..., files: list[MakeArgumentsFile] = ..., meta: str = ..." in signature(
        document
    )
    arguments = operations(compiled(json.dumps(document).encode()))["make"].arguments
    assert isinstance(arguments, dict)
    note = cast("dict[str, dict[str, object]]", arguments["properties"])["note"]
    whole = cast("list[dict[str, object]]", note["anyOf"])[1]
    headers = cast("dict[str, dict[str, object]]", whole["properties"])["headers"]
    assert list(cast("dict[str, object]", headers["properties"])) == [
        "X-Kind", "X-Usual", "X-Codes", "X-Object", "X-Text", "X-Json",
    ]  # fmt: skip
    assert cast("dict[str, dict[str, object]]", headers["properties"])["X-Usual"]["description"] == "which"


def test_a_part_of_any_type_shows_that_it_may_have_headers() -> None:
    encoding = {"any": {"headers": {"X-A": {"schema": {"type": "string"}}}}}
    document = post(body("multipart/form-data", {"type": "object", "properties": {"any": {}}}, encoding=encoding))
    assert "any: Artifact | bytes | str | MakeArgumentsAny = ..." in signature(document)
    (head, content) = found_in(sent(document, "make", any={"content": {"a": 1}, "headers": {"X-A": "x"}}))[0]
    assert (head["content-type"], head["x-a"], content) == ("application/json", "x", b'{"a":1}')


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"note": {"content": "n", "headers": {"X-Kind": "other"}}}, "note"),
        ({"note": {"content": "n", "headers": {"X-Fixed": 2}}}, "note"),
        ({"note": {"content": 5, "headers": {}}}, "note"),
        ({"files": [b"1"]}, "`files[0]`"),
        ({"files": [{"content": b"1", "headers": {"X-Number": 0}}]}, "X-Number"),
        ({"files": [{"content": b"1", "headers": {"X-Number": True}}]}, "X-Number"),
        ({"note": {"content": "n", "headers": {"X-Text": "a\r\nX-Evil: 1"}}}, "the header `X-Text` of a part"),
        ({"note": {"content": "n", "headers": {"X-Codes": ["1\r\n\r\n--x"]}}}, "note"),
        ({"meta": {"a": 1}}, "expected string"),
    ],
)
def test_headers_of_parts_are_checked_before_anything_is_sent(arguments: dict[str, object], told: str) -> None:
    assert told in refused(post(NOTED) | {"components": COMPONENTS}, "make", **arguments).message


def test_a_body_that_is_one_argument_has_parts_with_headers_too() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}, "additionalProperties": True}
    encoding = {"note": {"headers": {"X-A": {"schema": {"type": "string", "maxLength": 3}}}}}
    document = post(body("multipart/form-data", schema, encoding=encoding))
    got = sent(document, "make", body={"note": {"content": "n", "headers": {"X-A": "abc"}}, "more": "m"})
    assert [head.get("x-a") for head, _ in found_in(got)] == ["abc", None]
    refused(document, "make", body={"note": {"content": "n", "headers": {"X-A": "abcd"}}})
    composed = post(body("multipart/form-data", {"oneOf": [{**schema, "required": ["note"]}]}, encoding=encoding))
    got = sent(composed, "make", body={"note": {"content": "n", "headers": {"X-A": "abc"}}})
    assert [head.get("x-a") for head, _ in found_in(got)] == ["abc"]


def test_a_part_that_holds_what_looks_like_headers_is_said_to_be_the_content() -> None:
    inner = {"type": "object", "properties": {"content": {}, "headers": {}}, "required": ["content", "headers"]}
    encoding = {"a": {"headers": {"X-A": {"schema": {"type": "string"}}}}, "b": {}}
    schema = {"type": "object", "properties": {"a": inner, "b": inner}}
    document = post(body("multipart/form-data", schema, encoding=encoding))
    value = {"content": 1, "headers": 2}
    got = sent(document, "make", a={"content": value, "headers": {"X-A": "x"}}, b=value)
    assert [content for _, content in found_in(got)] == [b'{"content":1,"headers":2}'] * 2
