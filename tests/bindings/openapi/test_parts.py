"""Parts by position, parts in parts and parts in a style: the examples of OpenAPI 3.2, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.bindings.openapi.bench import compiled, operations
from tests.bindings.openapi.exchanges import body, post, refused, run, sent
from tests.bindings.openapi.taken_apart import found_in, signature

from isolith_bindings.schema.stubs import Subject, stub

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Server

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
    assert "body: _Sequence[Any] | _Set[Any]" in told


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
