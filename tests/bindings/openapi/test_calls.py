"""Calls: what is sent for which arguments, what comes back for which answer, and what is refused before anything is."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import uuid
from collections.abc import Awaitable, Callable
from decimal import Decimal
from email.parser import BytesParser
from typing import Any

import pytest
from tests.bindings.openapi.bench import OK, Client, a_document, connected
from tests.bindings.openapi.loopback import Got, Reply, Server

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import ApiKey, OpenApi
from isolith_bindings.secrets import Secret

JSON_ANY: dict[str, object] = {"200": {"content": {"application/json": {}}}}


def body(media: str, schema: object, *, required: bool = True, **more: object) -> dict[str, object]:
    return {"required": required, "content": {media: {"schema": schema, **more}}}


def post(request_body: object, **more: object) -> dict[str, object]:
    return a_document(
        {"/things": {"post": {"operationId": "make", "requestBody": request_body, "responses": JSON_ANY, **more}}}
    )


def get(*parameters: object, path: str = "/things", **more: object) -> dict[str, object]:
    return a_document(
        {path: {"get": {"operationId": "read", "parameters": list(parameters), "responses": JSON_ANY, **more}}}
    )


def run(
    source: object,
    use: Callable[[Client, Server], Awaitable[None]],
    answer: Callable[[Got], Reply] | None = None,
    **options: Any,  # noqa: ANN401 - those of OpenApi
) -> None:
    async def within() -> None:
        async with connected(source, answer or (lambda _: Reply.of({})), **options) as (client, server):
            await use(client, server)

    asyncio.run(within())


def sent(source: object, name: str, **arguments: object) -> Got:
    """The request of one call."""
    found: list[Got] = []

    async def use(client: Client, server: Server) -> None:
        await client.call(name, **arguments)
        found.append(server.last)

    run(source, use)
    return found[0]


def refused(source: object, name: str, **arguments: object) -> CallError:
    """The error of one call, with which nothing was sent."""
    found: list[CallError] = []

    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError) as caught:
            await client.call(name, **arguments)
        assert server.got == []
        found.append(caught.value)

    run(source, use)
    assert found[0].kind == "invalid_arguments"
    return found[0]


# ------------------------------------------------------------------------------------------------------- arguments


def a(name: str, where: str = "query", schema: object | None = None, **more: object) -> dict[str, object]:
    return {"name": name, "in": where, "schema": {"type": "string"} if schema is None else schema, **more}


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


# --------------------------------------------------------------------------------------------------------- bodies


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


def parts_of(got: Got) -> dict[str, tuple[str | None, str, bytes]]:
    """By name: the file name, the media type and the content of each part."""
    head = f"Content-Type: {got.header('content-type')}\r\n\r\n".encode()
    message = BytesParser().parsebytes(head + got.body)
    found: dict[str, tuple[str | None, str, bytes]] = {}
    for part in message.get_payload():
        assert not isinstance(part, str)
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        found[str(name)] = (part.get_filename(), part.get_content_type(), content)
    return found


def test_multipart_with_files_of_every_kind() -> None:
    schema = {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "kept": {"type": "string", "format": "binary"},
            "text": {"type": "string", "format": "binary"},
            "note": {"type": "string"},
            "data": {"type": "object"},
            "many": {"type": "array", "items": {"type": "string", "format": "binary"}},
        },
    }
    document = post(body("multipart/form-data", schema, encoding={"text": {"contentType": "text/csv"}}))

    async def use(client: Client, server: Server) -> None:
        kept = client.artifacts.keep(b"\x89PNG", mime="image/png", name='a"b\r\n.png')
        await client.call("make", file=b"\x00\r\n--", kept=kept, text="a,b", note="ü", data={"a": [1]})
        first = server.last
        assert parts_of(first) == {
            "file": ("file", "application/octet-stream", b"\x00\r\n--"),
            "kept": ("a%22b%0D%0A.png", "image/png", b"\x89PNG"),
            "text": ("text", "text/csv", b"a,b"),
            "note": (None, "text/plain", "ü".encode()),
            "data": (None, "application/json", b'{"a":[1]}'),
        }
        await client.call("make", many=[b"1", b"2"])
        assert server.last.body.count(b'; name="many"') == 2
        await client.call("make", file=b"\x00\r\n--", kept=kept, text="a,b", note="ü", data={"a": [1]})
        assert server.last.body == first.body

    run(document, use)


def test_a_part_has_the_headers_to_which_the_document_gives_a_value() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    headers = {
        "X-Kind": {"schema": {"const": "note"}},
        "X-One": {"schema": {"enum": ["only"]}},
        "X-Usual": {"$ref": "#/components/headers/Usual"},
        "X-Free": {"schema": {"type": "string"}},
        "Content-Type": {"schema": {"const": "text/html"}},
    }
    document = post(body("multipart/form-data", schema, encoding={"note": {"headers": headers}}))
    usual = {"schema": {"type": "integer", "default": 7}}
    got = sent({**document, "components": {"headers": {"Usual": usual}}}, "make", note="a")
    head = got.body.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    assert head == [b'Content-Disposition: form-data; name="note"', b"X-Kind: note", b"X-One: only", b"X-Usual: 7"]


def test_a_header_of_a_part_is_no_other_part() -> None:
    schema = {"type": "object", "properties": {"note": {"type": "string"}}}
    headers = {"X-A": {"schema": {"const": "a\r\n\r\nsmuggled"}}}
    document = post(body("multipart/form-data", schema, encoding={"note": {"headers": headers}}))
    assert "is nothing that the head of a part may hold" in refused(document, "make", note="a").message


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
        ("image/*", {}, b"\x00", "application/octet-stream", b"\x00"),
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


# -------------------------------------------------------------------------------------------------------- answers


def answered(document: object, reply: Reply, name: str = "read", **options: object) -> tuple[object, Client]:
    found: list[tuple[object, Client]] = []

    async def use(client: Client, _server: Server) -> None:
        found.append((await client.call(name), client))

    run(document, use, lambda _: reply, **options)
    return found[0]


@pytest.mark.parametrize(
    ("content_type", "content", "value"),
    [
        ("application/json", b'{"a": [1]}', {"a": [1]}),
        ("application/problem+json; charset=utf-8", b"[]", []),
        ("text/plain; charset=latin-1", b"\xfc", "ü"),
        ("text/html", b"<p>", "<p>"),
        ("application/x-ndjson", b'{"a":1}\n\n2\n', [{"a": 1}, 2]),
        ("application/x-www-form-urlencoded", b"a=1&b=", {"a": "1", "b": ""}),
        ("text/plain; charset=nonsense", b"a", "a"),
        ("application/json", b"", None),
    ],
)  # fmt: skip
def test_answers_by_their_media_type(content_type: str, content: bytes, value: object) -> None:
    assert answered(get(), Reply(content, headers=(("content-type", content_type),)))[0] == value


def test_an_empty_answer_is_none() -> None:
    assert answered(get(), Reply(status=204))[0] is None


def test_bytes_are_kept_as_an_artifact() -> None:
    headers = (("content-type", "image/png"), ("content-disposition", 'attachment; filename="../../etc/a b.png"'))
    value, client = answered(get(), Reply(b"\x89PNG", headers=headers))
    assert isinstance(value, ArtifactRef)
    assert (value.mime, value.size, value.name, client.artifacts.read(value)) == ("image/png", 4, "a b.png", b"\x89PNG")


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "image/png"])
def test_an_answer_that_is_too_long_is_an_error_with_its_beginning(content_type: str) -> None:
    reply = Reply(b"[" + b"1," * 600 + b"1]", headers=(("content-type", content_type),))

    async def use(client: Client, _server: Server) -> None:
        with pytest.raises(CallError, match="is longer than the 1,000 bytes that are read") as caught:
            await client.call("read")
        kept = caught.value.data
        assert isinstance(kept, ArtifactRef)
        assert (caught.value.kind, kept.mime, kept.size) == ("invalid_result", content_type, 1000)
        assert client.artifacts.read(kept) == reply.content[:1000]
        assert "ask for less" in str(caught.value.hint)

    run(get(), use, lambda _: reply, limits=Limits(body_bytes=1000))


def test_what_says_it_is_json_and_is_not_keeps_its_text() -> None:
    with pytest.raises(CallError, match="says it is application/json and is not") as caught:
        answered(get(), Reply(b"<html>", headers=(("content-type", "application/json"),)))
    assert (caught.value.kind, caught.value.data) == ("invalid_result", "<html>")


TYPED = {"200": {"content": {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}}}


def test_answers_are_believed_unless_they_are_to_be_checked() -> None:
    document = get(responses=TYPED)
    assert answered(document, Reply.of(["x"]))[0] == ["x"]
    assert answered(document, Reply.of([1]), strict_responses=True)[0] == [1]
    for reply, told in [
        (Reply.of(["x"]), "expected integer"),
        (Reply.of([1], 201), "status 201 is not in the document"),
        (
            Reply(b"x", headers=(("content-type", "text/plain"),)),
            "text/plain was answered; documented: application/json",
        ),
    ]:
        with pytest.raises(CallError, match=told) as caught:
            answered(document, reply, strict_responses=True)
        assert caught.value.kind == "invalid_result"
        assert caught.value.data == (json.loads(reply.content) if reply.status == 201 or reply.content != b"x" else "x")


def test_a_script_chooses_what_is_answered() -> None:
    answers = {
        "200": {
            "content": {"application/json": {"schema": {"type": "object"}}, "text/csv": {"schema": {"type": "string"}}}
        }
    }
    assert sent(get(responses=answers), "read", accept="text/csv").header("accept") == "text/csv"
    assert "accept" in refused(get(responses=answers), "read", accept="text/html").message


def test_raw_is_the_answer_as_it_came() -> None:
    async def use(client: Client, _server: Server) -> None:
        found = await client.call("read", "raw")
        assert (found["status"], found["body"], found["headers"]["x-a"]) == (201, {"b": 1}, "c")

    run(get(), use, lambda _: Reply.of({"b": 1}, 201, x_a="c"))


def test_what_is_no_success_is_an_error() -> None:
    with pytest.raises(CallError) as caught:
        answered(get(), Reply.of({"message": "no such thing"}, 404))
    assert caught.value.kind == "tool_error"
    assert isinstance(caught.value.data, dict)
    assert caught.value.data["status"] == 404
    assert caught.value.data["body"] == {"message": "no such thing"}


# ---------------------------------------------------------------------------------------------------- credentials


SCHEMES = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}


def test_without_the_credential_nothing_is_sent() -> None:
    document = {**get(security=[{"key": []}]), "components": SCHEMES}

    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError) as caught:
            await client.call("read")
        assert (caught.value.kind, server.got) == ("tool_unavailable", [])
        assert str(caught.value.hint).endswith("takes a secret from the environment: ISOLITH_TOKEN_API")

    run(document, use)


def test_the_credential_is_sent_and_shown_nowhere() -> None:
    secret = Secret(lambda: "very-secret-key", "the tests")
    document = {**post(body("application/json", {"type": "object"}), security=[{"key": []}]), "components": SCHEMES}

    async def use(client: Client, server: Server) -> None:
        await client.call("make", body={"a": 1})
        assert server.last.header("x-key") == "very-secret-key"
        method = client.connector.methods["make"]
        assert callable(method.preview)
        shown = method.preview(body={"a": 1})
        assert (
            shown
            == f'POST {server.url}/things\nAccept: application/json, */*;q=0.1\nContent-Type: application/json\nX-Key: [secret]\n\n{{"a":1}}'
        )
        assert "very-secret" not in f"{client.connector!r}{vars(client.connector)}"

    run(document, use, auth={"key": secret})


def test_a_scheme_that_is_not_there_is_named() -> None:
    source = {**get(), "components": SCHEMES}
    connector = OpenApi(source, name="api", auth={"kee": ApiKey("X", Secret.env("NO_SUCH"))})
    asyncio.run(connector.start())
    assert connector.status().state == "failed"
    assert connector.unavailable == "api: auth for `kee`: the security schemes of the document are: key"


# -------------------------------------------------------------------------------------------------- what methods say


def test_what_http_says_of_a_method_is_told() -> None:
    methods: dict[str, dict[str, object]] = {
        verb: {"operationId": verb, "tags": ["t"], "responses": OK} for verb in ("get", "put", "post", "delete", "head")
    }
    methods["delete"] |= {
        "deprecated": True,
        "x-isolith-policy": "deny",
        "summary": "Remove it",
        "description": "For good.",
    }

    async def use(client: Client, _server: Server) -> None:
        found = client.connector.methods
        told = {
            name: (m.annotations.read_only, m.annotations.destructive, m.idempotent, m.preview is None)
            for name, m in found.items()
        }
        assert told == {
            "get": (True, False, True, True),
            "head": (True, False, True, True),
            "put": (False, None, True, False),
            "post": (False, False, False, False),
            "delete": (False, True, True, False),
        }
        delete = found["delete"]
        assert (delete.deprecated, delete.policy, delete.tags) == (True, "deny", ("t",))
        assert delete.description == "Remove it\n\nFor good."
        assert await client.call("head") is not None

    run(a_document({"/things": methods}), use)


def test_a_document_without_an_address_asks_for_one() -> None:
    source = get()
    del source["servers"]

    async def call() -> None:
        connector = OpenApi(source, name="api")
        await connector.start()
        await Client(connector).call("read")

    with pytest.raises(CallError, match="does not say on which host") as caught:
        asyncio.run(call())
    assert str(caught.value.hint).startswith("give the connector its address: `server='https://...'` in a program;")
    assert str(caught.value.hint).endswith('`[connectors.api]`, `openapi = "api.json"`, `server = "https://..."`')
