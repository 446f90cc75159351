"""Parts by position, parts with headers and parts in parts: the examples of OpenAPI 3.2 and 3.1, and what is refused."""

from __future__ import annotations

import json
from email.message import Message
from email.parser import BytesParser
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.bindings.openapi.bench import compiled, operations
from tests.bindings.openapi.exchanges import body, post, refused, run, sent

from isolith_bindings.schema.stubs import Subject, stub

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Got, Server

Found = tuple[dict[str, str], object]


def parts_of(content: bytes, media: str | None) -> list[Found]:
    """What the standard library finds in a body: headers in lower case, and contents; nested ones as lists."""
    message = BytesParser().parsebytes(f"Content-Type: {media}\r\n\r\n".encode() + content)
    assert message.is_multipart()
    assert message.defects == []
    return [_part(part) for part in cast("list[Message]", message.get_payload())]


def _part(part: Message) -> Found:
    headers = {name.lower(): str(value) for name, value in part.items()}
    if part.is_multipart():
        return headers, [_part(each) for each in cast("list[Message]", part.get_payload())]
    return headers, part.get_payload(decode=True)


def found_in(got: Got) -> list[Found]:
    return parts_of(got.body, got.header("content-type"))


def signature(document: dict[str, object]) -> str:
    found: list[str] = []

    async def use(client: Client, _server: Server) -> None:
        found.append(client.connector.methods["make"].signature)

    run(document, use)
    return found[0]


# The specification calls this `Ordered, Unnamed Multipart`.
ORDERED = body(
    "multipart/mixed",
    {"type": "array", "prefixItems": [{"type": "object", "properties": {"author": {"type": "string"}}}, {}]},
    prefixEncoding=[{}, {"contentType": "image/*"}],
)


def test_parts_without_names_are_sent_in_their_order() -> None:
    async def use(client: Client, server: Server) -> None:
        picture = client.artifacts.keep(b"\x89PNG\r\n--", mime="image/png", name="me.png")
        await client.call("make", body=[{"author": "Ada"}, picture])
        assert str(server.last.header("content-type")).startswith("multipart/mixed; boundary=")
        assert found_in(server.last) == [
            ({"content-type": "application/json"}, b'{"author":"Ada"}'),
            ({"content-type": "image/png"}, b"\x89PNG\r\n--"),
        ]
        first = server.last.body
        await client.call("make", body=[{"author": "Ada"}, picture])
        assert server.last.body == first
        await client.call("make", body=[{"author": "Ada"}])
        assert len(found_in(server.last)) == 1

    run(post(ORDERED), use)
    assert "body: tuple[MakeArgumentsBodyItem, Artifact | bytes | str" in signature(post(ORDERED))
    assert "expected string" in refused(post(ORDERED), "make", body=[{"author": 1}]).message


def test_what_the_types_of_parts_are_where_nothing_is_said() -> None:
    """The table of default types of 3.2, "Encoding Object"."""
    kinds: tuple[dict[str, object], ...] = (
        {},
        {"type": "string", "contentEncoding": "base64"},
        {"type": "string"},
        {"type": "number"},
    )
    schema = {"type": "array", "prefixItems": [*kinds, {"type": "boolean"}, {"type": "object"}, {"type": "array"}]}
    got = sent(post(body("multipart/mixed", schema)), "make", body=["a", "YQ==", "ü", 1.5, True, {"a": 1}, [1, "b"]])
    text = {"content-type": "text/plain; charset=utf-8"}
    assert found_in(got) == [
        ({"content-type": "application/octet-stream"}, b"a"),
        ({"content-type": "application/octet-stream", "content-transfer-encoding": "base64"}, b"a"),
        (text, "ü".encode()),
        (text, b"1.5"),
        (text, b"true"),
        ({"content-type": "application/json"}, b'{"a":1}'),
        ({"content-type": "application/json"}, b'[1,"b"]'),
    ]


def test_bytes_are_encoded_as_the_schema_of_their_part_says() -> None:
    schema = {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}}
    got = sent(post(body("multipart/mixed", schema)), "make", body=[b"\x00\xff"])
    assert b"\r\n\r\nAP8=\r\n" in got.body
    other = {"type": "array", "items": {"type": "string", "contentEncoding": "quoted-printable"}}
    assert "give text that is" in refused(post(body("multipart/mixed", other)), "make", body=[b"\x00"]).message


def test_a_checker_is_told_that_a_list_is_taken_where_parts_have_an_order() -> None:
    arguments = operations(compiled(json.dumps(post(ORDERED)).encode()))["make"].arguments
    assert isinstance(arguments, dict)
    told = stub(Subject("api.make", arguments, None, lenient=True)).text
    assert "body: tuple[ApiMakeArgumentsBodyItem, Artifact | bytes | str, *tuple[Any, ...]] | list[Any]" in told


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


def test_multipart_related_says_the_type_of_its_root() -> None:
    document = post(body("multipart/related", {"type": "array", "items": {"type": "string"}}))
    assert str(sent(document, "make", body=["a"]).header("content-type")).startswith(
        'multipart/related; type="text/plain"; boundary='
    )


# The specification calls this `Nested multipart/mixed`.
NESTED = body(
    "multipart/mixed",
    {
        "type": "array",
        "prefixItems": [
            {"type": "array"},
            {"type": "array", "prefixItems": [{"type": "object"}, {"type": "string"}, {}]},
        ],
    },
    prefixEncoding=[
        {},
        {"contentType": "multipart/mixed", "prefixEncoding": [{"contentType": "application/xml"}, {}, {"contentType": "image/png"}]},
    ],
)  # fmt: skip


def test_multipart_in_multipart() -> None:
    async def use(client: Client, server: Server) -> None:
        await client.call("make", body=[[1, 2], ["<a/>", "text", b"\x89PNG"]])
        first, (head, inner) = found_in(server.last)
        assert first == ({"content-type": "application/json"}, b"[1,2]")
        assert head["content-type"].startswith("multipart/mixed; boundary=")
        assert inner == [
            ({"content-type": "application/xml; charset=utf-8"}, b"<a/>"),
            ({"content-type": "text/plain; charset=utf-8"}, b"text"),
            ({"content-type": "image/png"}, b"\x89PNG"),
        ]

    run(post(NESTED), use)
    assert "`body[1][0]`" in refused(post(NESTED), "make", body=[[], [{"a": 1}, "b", b""]]).message


def test_a_field_of_a_form_may_be_multipart_itself() -> None:
    schema = {"type": "object", "properties": {"files": {"type": "array", "items": {"type": "string"}}, "n": {}}}
    encoding = {"files": {"contentType": "multipart/mixed", "itemEncoding": {"contentType": "text/csv"}}}
    got = sent(post(body("multipart/form-data", schema, encoding=encoding)), "make", files=["a", "b"], n=1)
    (head, files), (_, number) = found_in(got)
    assert head["content-disposition"] == 'form-data; name="files"'
    csv = {"content-type": "text/csv; charset=utf-8"}
    assert (files, number) == ([(csv, b"a"), (csv, b"b")], b"1")


def test_data_that_has_no_form_in_the_type_of_its_part_says_so() -> None:
    media = {"multipart/mixed": {"itemEncoding": {"contentType": "application/xml"}}}
    document = post({"required": True, "content": media})
    assert "a part of application/xml is given as text" in refused(document, "make", body=[{"a": 1}]).message
    assert sent(document, "make", body=["<a/>"]).body.count(b"\r\n\r\n<a/>\r\n") == 1


def test_a_stream_of_parts_is_any_number_of_them() -> None:
    """The example "Streaming Multipart"."""
    pictures = {"multipart/mixed": {"itemSchema": {}, "itemEncoding": {"contentType": "image/jpg"}}}
    document = post({"required": True, "content": pictures})
    assert "body: list[Artifact | bytes | str]" in signature(document)
    got = sent(document, "make", body=[b"1", b"2"])
    assert found_in(got) == [({"content-type": "image/jpg"}, b"1"), ({"content-type": "image/jpg"}, b"2")]
    assert found_in(sent(document, "make", body=[b"1"])) == [({"content-type": "image/jpg"}, b"1")]


def test_a_form_may_be_a_list_that_keeps_its_order() -> None:
    """Since 3.2 the parts of a form may be positional as well, each a mapping of its name to its value."""
    pair = {"type": "object", "properties": {"a": {"type": "string"}, "f": {"type": "string", "format": "binary"}}}
    document = post(body("multipart/form-data", {"type": "array", "items": pair}))
    got = sent(document, "make", body=[{"a": "1"}, {"f": b"x"}, {"a": "2"}])
    assert [(head["content-disposition"], content) for head, content in found_in(got)] == [
        ('form-data; name="a"', b"1"),
        ('form-data; name="f"; filename="f"', b"x"),
        ('form-data; name="a"', b"2"),
    ]
    assert "a mapping of one name" in refused(document, "make", body=[{"a": "1", "f": b"x"}]).message


# ------------------------------------------------------------------------------------------------ parts with names

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


def test_a_style_makes_parts_without_anything_encoded() -> None:
    properties = {name: {"type": "array"} for name in ("many", "one", "piped")} | {"deep": {"type": "object"}}
    encoding = {
        "many": {"explode": True}, "one": {"style": "form", "explode": False}, "piped": {"style": "pipeDelimited"},
        "deep": {"style": "deepObject"},
    }  # fmt: skip
    document = post(body("multipart/form-data", {"type": "object", "properties": properties}, encoding=encoding))
    got = sent(document, "make", many=["a b", "c&d"], one=["e", "f"], piped=["g", "h"], deep={"k": "ü"})
    assert [(head["content-disposition"], content) for head, content in found_in(got)] == [
        ('form-data; name="many"', b"a b"),
        ('form-data; name="many"', b"c&d"),
        ('form-data; name="one"', b"e,f"),
        ('form-data; name="piped"', b"g|h"),
        ('form-data; name="deep[k]"', "ü".encode()),
    ]


@pytest.mark.parametrize(
    ("media", "told"),
    [
        ({"encoding": {"a": {}}, "itemEncoding": {}}, "only one can be"),
        ({"encoding": {"a": {}}, "prefixEncoding": [{}]}, "only one can be"),
        ({"prefixEncoding": {}}, "should be a list"),
        ({"itemEncoding": []}, "should be a mapping"),
        ({"itemEncoding": {"headers": {"X-A": {"style": "form", "schema": {}}}}}, "`style: form`"),
        ({"itemEncoding": {"headers": {"X-A": {"schema": {"$ref": "#/nowhere"}}}}}, "leads nowhere"),
    ],
)
def test_an_encoding_that_cannot_be_meant_costs_its_operation(media: dict[str, Any], told: str) -> None:
    schema = {"type": "object" if "encoding" in media else "array"}
    api = compiled(json.dumps(post(body("multipart/mixed", schema, **media))).encode())
    assert list(api.excluded) == ["make"]
    assert told in api.excluded["make"]


def test_a_style_is_for_forms_only_and_one_that_is_none_is_said() -> None:
    schema, encoding = {"type": "object", "properties": {"a": {"type": "array"}}}, {"a": {"style": "nonsense"}}
    for media in ("multipart/form-data", "application/x-www-form-urlencoded"):
        api = compiled(json.dumps(post(body(media, schema, encoding=encoding))).encode())
        assert "`style: 'nonsense'`" in api.excluded["make"]
    got = sent(post(body("multipart/mixed", schema, encoding=encoding)), "make", a=[1, 2])
    assert [content for _, content in found_in(got)] == [b"1", b"2"]


def test_an_encoding_is_for_forms_and_multipart_only() -> None:
    """In any other media type it is to be ignored."""
    document = post(body("application/json", {"type": "array"}, itemEncoding={"headers": {"X": {"style": "no"}}}))
    assert sent(document, "make", body=[1]).body == b"[1]"
