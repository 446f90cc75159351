"""Multipart answers whose parts the document has by their names: what httpx and the standard library write, as data."""

from __future__ import annotations

import json
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.bindings.openapi.bench import a_document, compiled
from tests.bindings.openapi.exchanges import MIXED, answered, get, reply, result_of

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.signatures import Signatures

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Reply

FORM = "multipart/form-data"
PROPERTIES: dict[str, object] = {
    "meta": {"$ref": "#/components/schemas/Meta"},
    "file": {"type": "string", "format": "binary"},
    "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
    "tags": {"type": "array", "items": {"type": "string"}},
    "count": {"type": "integer"},
    "note": {"type": "string"},
}
META = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
Files = list[tuple[str, tuple[str | None, bytes, str]]]


def document(schema: object, media: str = FORM, version: str = "3.1.0", **more: object) -> dict[str, object]:
    answers = {"200": {"content": {media: {"schema": schema, **more}}}}
    components = {"schemas": {"Meta": META, "Parts": {"type": "object", "properties": PROPERTIES}}}
    return get(responses=answers, openapi=version) | {"components": components}


PARTS = {"$ref": "#/components/schemas/Parts"}


def form(files: Files) -> Reply:
    """A form as httpx writes it."""
    request = httpx.Request("POST", "http://a.test", files=files)
    return reply(request.headers["content-type"], request.read())


def read_back(found: tuple[object, Client]) -> Any:  # noqa: ANN401 - as the document says
    """The value, with the content, the media type and the name of each artifact in its place."""
    value, client = found

    def shown(each: object) -> object:
        if isinstance(each, ArtifactRef):
            return client.artifacts.read(each), each.mime, each.name
        if isinstance(each, list):
            return [shown(one) for one in each]
        return {name: shown(one) for name, one in each.items()} if isinstance(each, dict) else each

    return shown(value)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_parts_with_names_are_a_mapping(version: str) -> None:
    files: Files = [
        ("meta", (None, b'{"id": 7}', "application/json")),
        ("file", ("../été.png", b"\x89PNG\r\n--", "image/png")),
        ("files", ("a.csv", b"a,b", "text/csv")),
        ("files", ("b", b"\0", "application/octet-stream")),
        ("tags", (None, b"only", "text/plain")),
        ("count", (None, b"3", "text/plain")),
        ("note", (None, "ü".encode(), "text/plain; charset=utf-8")),
        ("more", (None, b"[1]", "application/json")),
    ]
    assert read_back(answered(document(PARTS, version=version), form(files), strict_responses=True)) == {
        "meta": {"id": 7},
        "file": (b"\x89PNG\r\n--", "image/png", "été.png"),
        "files": [(b"a,b", "text/csv", "a.csv"), (b"\0", "application/octet-stream", "b")],
        "tags": ["only"],
        "count": 3,
        "note": "ü",
        "more": [1],
    }


@pytest.mark.parametrize("media", ["multipart/mixed", "multipart/related", "multipart/form-data", "multipart/*"])
def test_any_multipart_has_names_that_its_parts_say(media: str) -> None:
    """As the standard library writes a mail."""
    message = EmailMessage()
    message.set_content("n")
    message.make_mixed()
    message.add_attachment(b"\xff", "image", "gif", filename="a.gif", disposition="form-data")
    message.add_attachment(b'{"id": 1}', "application", "json", disposition="form-data")
    first, second, third = message.iter_parts()
    first["Content-Disposition"] = 'inline; name="note"'
    second.set_param("name", "file", header="content-disposition")
    third.set_param("name", "meta", header="content-disposition")
    content = message.as_bytes().partition(b"\n\n")[2]
    boundary = message.get_boundary()
    told = f'{media.replace("*", "mixed")}; boundary="{boundary}"'
    assert read_back(answered(document(PARTS, media), reply(told, content), strict_responses=True)) == {
        "note": "n\n",
        "file": (b"\xff", "image/gif", "a.gif"),
        "meta": {"id": 1},
    }


def part(name: str, content: str, *heads: str) -> str:
    return "\r\n".join([f'--b\r\nContent-Disposition: form-data; name="{name}"', *heads, "", content, ""])


def raw(*parts: str, end: str = "--b--\r\n") -> Reply:
    return reply('multipart/form-data; boundary="b"', "".join(parts) + end)


@pytest.mark.parametrize(
    ("schema", "content", "value"),
    [
        ({"type": "integer"}, "7", 7),
        ({"type": "integer"}, "7.5", "7.5"),
        ({"type": "integer"}, "true", "true"),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "true", True),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": ["integer", "string"]}, "7", "7"),
        ({"type": "string"}, "7", "7"),
        ({}, "7", "7"),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": "object", "properties": {}}, '{"a": 1}', {"a": 1}),
        ({"type": "array", "items": {"type": "integer"}}, "7", [7]),
        ({"type": "array", "items": {"type": "object"}}, "{}", [{}]),
    ],
)
def test_a_part_that_does_not_say_what_it_is_is_what_the_document_says(
    schema: object, content: str, value: object
) -> None:
    said = document({"type": "object", "properties": {"a": schema}})
    assert answered(said, raw(part("a", content)))[0] == {"a": value}


def test_a_list_may_be_one_part_of_json() -> None:
    said = document({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}})
    json_part = part("a", "[1, 2]", "Content-Type: application/json")
    assert answered(said, raw(json_part), strict_responses=True)[0] == {"a": [1, 2]}
    lists = document({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array"}}}})
    assert answered(lists, raw(json_part), strict_responses=True)[0] == {"a": [[1, 2]]}


def test_nothing_is_lost_of_a_name_that_comes_more_often_than_the_document_says() -> None:
    said = document({"type": "object", "properties": {"a": {"type": "string"}}})
    answer = raw(part("a", "1"), part("a", "2"), part("x", "3"), part("x", "4"))
    assert answered(said, answer)[0] == {"a": ["1", "2"], "x": ["3", "4"]}
    with pytest.raises(CallError, match="`a`: expected string, was given a list") as caught:
        answered(said, answer, strict_responses=True)
    assert (caught.value.kind, caught.value.data) == ("invalid_result", {"a": ["1", "2"], "x": ["3", "4"]})


def test_how_each_part_is_written_is_said_by_its_encoding() -> None:
    schema = {"type": "object", "properties": {"page": {}, "data": {"type": "object"}, "pair": {"type": "array"}}}
    encoding = {
        "page": {"contentType": "text/html", "headers": {"X-Number": {"schema": {"type": "integer"}}}},
        "data": {"contentType": "application/octet-stream"},
        "pair": {"contentType": "multipart/mixed", "prefixEncoding": [{}, {}]},
    }
    said = document(schema, encoding=encoding)
    inner = '--i\r\nContent-Type: application/json\r\n\r\n{"n":1}\r\n--i\r\n\r\nx\r\n--i--'
    answer = raw(
        part("page", "<p>", "X-Number: 7", "X-Other: 8"),
        part("data", "{}"),
        part("pair", inner, "Content-Type: multipart/mixed; boundary=i"),
    )
    assert read_back(answered(said, answer, strict_responses=True)) == {
        "page": {"content": "<p>", "headers": {"X-Number": 7}},
        "data": (b"{}", "application/octet-stream", None),
        "pair": [{"n": 1}, "x"],
    }


def test_a_mapping_of_files_by_any_name() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "string", "format": "binary"}}
    answer = raw(part("a", "1"), part("%22b", "2", "Content-Type: text/plain"))
    assert read_back(answered(document(schema), answer)) == {
        "a": (b"1", "application/octet-stream", None),
        '"b': (b"2", "text/plain", None),
    }
    assert result_of(document(schema)) == "dict[str, Artifact | bytes]"


def test_composed_schemas_have_names_too() -> None:
    composed = {"allOf": [PARTS, {"type": "object", "properties": {"extra": {"type": "integer"}}}]}
    answer = raw(part("count", "1"), part("extra", "2"), part("file", "x"))
    assert read_back(answered(document(composed), answer, strict_responses=True)) == {
        "count": 1,
        "extra": 2,
        "file": (b"x", "application/octet-stream", None),
    }


def test_what_is_returned_is_in_the_signature() -> None:
    api = compiled(json.dumps(document(PARTS)).encode())
    assert Signatures(api).of(api.operations[0]).endswith(" -> ReadResult")
    returns = api.operations[0].returns
    assert isinstance(returns, dict)
    shown = returns["properties"]
    assert isinstance(shown, dict)
    artifact = {"type": "string", "format": "artifact"}
    assert shown == {
        **PROPERTIES,
        "meta": shown["meta"],
        "file": artifact,
        "files": {"type": "array", "items": artifact},
    }
    plain = {"type": "object", "properties": {"n": {"type": "integer"}, "f": {"type": "string", "format": "binary"}}}
    assert result_of(document({"type": "array", "items": {}})) == "list[Any]"
    assert result_of(document(plain)) == "ReadResult"


@pytest.mark.parametrize("schema", [{"type": "object"}, {}, None, {"type": "string", "format": "binary"}])
def test_where_the_document_has_no_names_the_answer_is_one_file(schema: object) -> None:
    said = document({} if schema is None else schema)
    answer = raw(part("a", "1"))
    assert read_back(answered(said, answer)) == (answer.content, FORM, None)
    assert result_of(said) == "Artifact | bytes"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (raw(part("a", "1"), end=""), "its last boundary is missing"),
        (raw("nothing", end=""), "there is no boundary in it"),
        (reply(FORM, part("a", "1")), "its Content-Type says no boundary"),
        (raw(part("note", "n"), "--b\r\nContent-Type: image/png\r\n\r\n\x89\r\n"), "part 1 has no name"),
        (raw("--b\r\nContent-Disposition: attachment; filename=a\r\n\r\n1\r\n"), "part 0 has no name"),
        (raw(part("meta", "{", "Content-Type: application/json")), "the part `meta` says it is application/json and is not: "),
        (raw(part("meta", "[" * 100_000, "Content-Type: application/json")), "nested too deeply"),
        (raw(part("meta", "[" * 1500 + "]" * 1500, "Content-Type: application/json")), "nested too deeply"),
        (raw(part("note", "*", "Content-Transfer-Encoding: base64") + part("note", "a", "Content-Transfer-Encoding: base64")), "is not"),
    ],
)  # fmt: skip
def test_what_cannot_be_told_apart_is_kept_as_it_came(answer: Reply, told: str) -> None:
    with pytest.raises(CallError, match=told) as caught:
        answered(document(PARTS), answer)
    assert caught.value.kind == "invalid_result"
    kept = caught.value.data
    assert isinstance(kept, ArtifactRef)
    assert (kept.mime, kept.size) == (FORM, len(answer.content))


def test_a_promise_that_a_part_does_not_keep_is_said_with_its_place() -> None:
    answer = raw(part("meta", '{"id": "x"}', "Content-Type: application/json"), part("count", "many"))
    value = {"meta": {"id": "x"}, "count": "many"}
    assert answered(document(PARTS), answer)[0] == value
    with pytest.raises(CallError, match=r"`meta.id`: expected integer.*`count`: expected integer") as caught:
        answered(document(PARTS), answer, strict_responses=True)
    assert (caught.value.kind, caught.value.data) == ("invalid_result", value)
    text_for_a_file = raw(part("file", "text", "Content-Type: text/plain"))
    assert read_back(answered(document(PARTS), text_for_a_file, strict_responses=True)) == {"file": (b"text", "text/plain", None)}  # fmt: skip


def test_a_long_one_is_an_artifact_that_says_so() -> None:
    answer = raw(part("note", "x" * 2000))
    limits = Limits(body_bytes=1000, answer_bytes=10_000)
    value = answered(document(PARTS), answer, limits=limits)[0]
    assert isinstance(value, dict)
    assert (value["truncated"], value["artifact"].size) == (True, len(answer.content))
    with pytest.raises(CallError, match="too long for a value"):
        answered(document(PARTS), answer, limits=limits, strict_responses=True)


def test_a_form_that_is_a_list_keeps_names_and_order() -> None:
    """Since 3.2 the parts of a form may be positional: each is a mapping of its name to its value."""
    pair = {"type": "object", "properties": {"a": {"type": "integer"}, "f": {"type": "string", "format": "binary"}}}
    said = document({"type": "array", "items": pair}, version="3.2.0")
    answer = raw(part("a", "1"), part("f", "x"), part("a", "2"))
    assert read_back(answered(said, answer, strict_responses=True)) == [
        {"a": 1},
        {"f": (b"x", "application/octet-stream", None)},
        {"a": 2},
    ]


def test_swagger_has_them_as_well() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "f": {"type": "file"}}}
    operation = {"operationId": "read", "produces": [FORM], "responses": {"200": {"schema": schema}}}
    said = {"swagger": "2.0", "info": {"title": "t", "version": "1"}, "paths": {"/things": {"get": operation}}}
    assert read_back(answered(said, raw(part("n", "1"), part("f", "x")), strict_responses=True)) == {
        "n": 1,
        "f": (b"x", "application/octet-stream", None),
    }


def test_schemas_that_lead_back_to_themselves_end() -> None:
    loop = {"allOf": [{"$ref": "#/components/schemas/Loop"}] * 20, "properties": {"a": {"type": "integer"}}}
    said = a_document(
        {"/a": {"get": {"operationId": "read", "responses": {"200": {"content": {FORM: {"schema": {"$ref": "#/components/schemas/Loop"}}}}}}}},
        components={"schemas": {"Loop": loop}},
    )  # fmt: skip
    assert answered(said, raw(part("a", "1")))[0] == {"a": 1}


def test_parts_without_names_in_a_list_go_on_as_before() -> None:
    said = get(responses={"200": {"content": {"multipart/mixed": {"schema": {"type": "array", "items": {}}}}}})
    assert answered(said, reply(MIXED, "--b\r\n\r\nx\r\n--b--"))[0] == ["x"]
