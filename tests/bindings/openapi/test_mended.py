"""Mistakes that people and models make in documents: where what is meant is plain it is done, and told."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.bindings.openapi.bench import OK, a_document, compiled
from tests.bindings.openapi.exchanges import (
    a,
    answered,
    body,
    get,
    post,
    refused,
    reply,
    result_of,
    run,
    sent,
)
from tests.bindings.openapi.loopback import Reply

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.openapi import DocumentError, OpenApi
from isolith_bindings.openapi.received import File
from isolith_bindings.openapi.servers import Whereabouts
from isolith_bindings.openapi.tree import read
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client
    from tests.bindings.openapi.loopback import Got, Server

    from isolith_bindings.openapi.model import Api

VERSIONS = ["3.0.3", "3.1.0"]


def api_of(document: object, where: Whereabouts | None = None) -> Api:
    return compiled(json.dumps(document).encode(), where=where)


# ------------------------------------------------------------------------------------------------------------ keys


@pytest.mark.parametrize(
    "text",
    [
        '{"openapi": "3.1.0", "paths": {"/a": {"get": {}}, "/a": {"post": {}}}}',
        "openapi: 3.1.0\npaths:\n  /a:\n    get: {}\n  /a:\n    post: {}\n",
        "{openapi: 3.1.0, paths: {/a: {get: {}}, /a: {post: {}}}}",
    ],
)
def test_a_key_that_stands_twice_is_told(text: str) -> None:
    api = compiled(text.encode())
    assert [each.key for each in api.operations] == ["POST /a"]
    assert api.notes == {"the document": "keys that stand twice in one mapping, of which the last counts: `/a`"}


def test_a_key_that_stands_twice_in_one_document_is_told_whatever_another_is_written_in() -> None:
    repeated: list[str] = []
    read(b'{"a": 1, "a": 2}', "one", repeated)
    read(b"{b: 1, b: 2}", "two", repeated)
    assert repeated == ["a", "b"]


def test_a_key_that_replaces_one_that_was_merged_stands_once() -> None:
    text = "openapi: 3.1.0\nx-base: &base {summary: a, deprecated: true}\npaths: {/a: {get: {<<: *base, summary: b}}}"
    api = compiled(text.encode())
    assert (api.operations[0].description, api.operations[0].deprecated, api.notes) == ("b", True, {})


# ------------------------------------------------------------------------------------------------------ parameters


@pytest.mark.parametrize("where", ["query", "header", "cookie"])
def test_a_parameter_without_a_name_is_left_out_where_it_need_not_be_sent(where: str) -> None:
    """Postman writes the empty row of its form as one."""
    api = api_of(get(a("", where), a("q")))
    assert [each.name for each in api.operations[0].parameters] == ["q"]
    told = "the parameter at #/paths/~1things/get/parameters/0 has no name, and need not be sent: it is left out"
    assert api.notes == {"read": told}
    needed = api_of(get(a("", where, required=True)))
    assert "has no `name`" in needed.excluded["read"]


@pytest.mark.parametrize(("required", "offered"), [(False, 1), (True, 0)])
def test_a_body_of_no_media_type_is_none_where_it_is_said_that_it_can_be_left_out(required: bool, offered: int) -> None:
    document = post({"content": {}, "required": required})
    assert len(api_of(document).operations) == offered
    if offered:
        assert sent(document, "make").body == b""


def test_the_place_of_a_parameter_may_be_in_capitals() -> None:
    assert sent(get(a("q", "Query")), "read", q="x").query == "q=x"
    swagger = {"name": "f", "in": "formdata", "type": "string"}
    operation = {"operationId": "read", "parameters": [swagger], "responses": OK}
    document = {"swagger": "2.0", "info": {}, "paths": {"/things": {"post": operation}}}
    assert sent(document, "read", f="x").body == b"f=x"
    assert "in OpenAPI 3 a body is `requestBody`" in api_of(get(a("b", "body"))).excluded["read"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_type_of_a_parameter_may_stand_beside_its_name(version: str) -> None:
    """As in Swagger 2.0; and the other way round."""
    document = get({"name": "n", "in": "query", "type": "array", "items": {"type": "integer"}}, openapi=version)
    assert sent(document, "read", n=[1, 2]).query == "n=1&n=2"
    assert "expected integer" in refused(document, "read", n=["a"]).message
    operation = {"operationId": "read", "parameters": [a("n", schema={"type": "integer"})], "responses": OK}
    old = {"swagger": "2.0", "info": {}, "paths": {"/things": {"get": operation}}}
    assert "expected integer" in refused(old, "read", n="a").message


def test_a_parameter_may_be_sent_empty_where_the_document_says_so() -> None:
    document = get(a("flag", schema={"type": "boolean"}, allowEmptyValue=True), a("n", schema={"type": "integer"}))
    assert sent(document, "read", flag="").query == "flag="
    assert sent(document, "read", flag=True).query == "flag=true"
    assert "`flag`" in refused(document, "read", flag="x").message
    assert "expected integer" in refused(document, "read", n="").message


def test_a_parameter_that_stands_twice_is_told() -> None:
    document = get(a("q"), a("q", schema={"type": "integer"}), a("q", "header"))
    assert sent(document, "read", query_q=3).query == "q=3"
    told = "the query parameter `q` stands twice in one list, of which the last counts"
    assert api_of(document).notes == {"read": told}
    around = {"parameters": [a("q")], "get": {"operationId": "read", "parameters": [a("q")], "responses": OK}}
    assert api_of(a_document({"/a": around})).notes == {}


def test_a_name_that_is_several_arguments_says_which() -> None:
    document = get(a("id", "path"), a("id"), path="/things/{id}")
    message = refused(document, "read", id="1").message
    assert message == "`id` is several things in GET /things/{id}, #/paths/~1things~1{id}/get: `path_id` or `query_id`"


def test_cookies_that_are_declared_as_a_header_stand_beside_others() -> None:
    document = get(a("Cookie", "header"), a("theme", "cookie"))
    assert sent(document, "read", Cookie="a=b; c=d=e", theme="x").header("cookie") == "a=b; c=d=e; theme=x"
    assert "cookies are written `name=value; other=value`" in refused(document, "read", Cookie="a").message
    scheme = {"key": {"type": "apiKey", "in": "cookie", "name": "sid"}}
    secured = {**document, "components": {"securitySchemes": scheme}, "security": [{"key": []}]}
    auth = Secret(lambda: "secret-of-the-tests", "the tests")
    assert asked(secured, auth, Cookie="a=b").header("cookie") == "a=b; sid=secret-of-the-tests"
    with pytest.raises(CallError, match="the cookie sid carries the connector's own credential"):
        asked(secured, auth, Cookie="sid=evil")


@pytest.mark.parametrize("text", [" a", "a ", "\ta", "a\t"])
def test_a_header_that_would_lose_a_blank_is_not_sent(text: str) -> None:
    assert "`X_A` (header parameter `X-A`" in refused(get(a("X-A", "header")), "read", X_A=text).message


# --------------------------------------------------------------------------------------------------------- bodies


def asked(document: object, auth: Secret | None, **arguments: object) -> Got:
    """The request of one call, with a credential; bytes that name a media type are given as an artifact of it."""
    found: list[Got] = []

    async def use(client: Client, server: Server) -> None:
        given = {
            key: client.artifacts.keep(value.content, mime=value.mime) if isinstance(value, File) else value
            for key, value in arguments.items()
        }
        await client.call(next(iter(client.connector.methods)), **given)
        found.append(server.last)

    run(document, use, auth=auth)
    return found[0]


@pytest.mark.parametrize(
    ("media", "schema", "arguments", "told"),
    [
        ("text/*", {"type": "string"}, {"body": "x"}, "text/plain; charset=utf-8"),
        ("application/*", {"type": "object", "properties": {"a": {}}}, {"a": 1}, "application/json"),
        ("*", {"type": "object", "properties": {"a": {}}}, {"a": 1}, "application/json"),
        ("*/*", {"type": "string", "format": "binary"}, {"body": b"x"}, "application/octet-stream"),
        ("image/*", {"type": "string", "format": "binary"}, {"body": File(b"x", "image/gif", None)}, "image/gif"),
        ("application/*", {"type": "string", "format": "binary"}, {"body": b"x"}, "application/octet-stream"),
    ],
)
def test_a_range_of_media_types_is_sent_as_one_of_them(
    media: str, schema: object, arguments: dict[str, object], told: str
) -> None:
    assert asked(post(body(media, schema)), None, **arguments).header("content-type") == told


def test_bytes_of_no_type_are_not_sent_where_the_document_wants_another() -> None:
    message = refused(post(body("image/*", {"type": "string", "format": "binary"})), "make", body=b"x").message
    assert "it is image/*, and what was given is application/octet-stream: give an artifact of its type" in message


def test_of_several_media_types_it_is_that_of_the_artifact() -> None:
    document = post({"required": True, "content": {"image/png": {}, "image/jpeg": {}, "application/pdf": {}}})
    for mime, told in (("image/jpeg", "image/jpeg"), ("application/pdf", "application/pdf"), ("text/css", "image/png")):
        assert asked(document, None, body=File(b"x", mime, None)).header("content-type") == told
    assert sent(document, "make", body=b"x").header("content-type") == "image/png"


# --------------------------------------------------------------------------------------------------------- schemas


def fields(version: str, **properties: object) -> dict[str, Any]:
    thing = {"Thing": {"type": "object", "properties": {"x": {"type": "integer"}}}}
    whole = post(body("application/json", {"type": "object", "properties": properties}))
    return {**whole, "openapi": version, "components": {"schemas": thing}}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"$ref": "#/components/schemas/Thing", "nullable": True},
        {"allOf": [{"$ref": "#/components/schemas/Thing"}], "nullable": True},
        {"type": ["string", None]},
        {"type": ["string", "null"]},
        {"type": "string", "enum": ["x"], "nullable": True},
        None,
    ],
)
def test_what_may_be_null_is_written_in_many_ways(version: str, schema: object) -> None:
    assert sent(fields(version, a=schema), "make", a=None).body == b'{"a":null}'


def test_what_is_no_type_in_a_list_of_them_says_nothing() -> None:
    assert sent(fields("3.1.0", a={"type": [{"x": 1}, 5, "integer", ["string"]]}), "make", a=1).body == b'{"a":1}'


@pytest.mark.parametrize("version", VERSIONS)
def test_what_may_not_be_null_is_refused_as_before(version: str) -> None:
    for schema in ({"type": "string"}, {"$ref": "#/components/schemas/Thing"}, {"type": "string", "nullable": False}):
        assert "was given None" in refused(fields(version, a=schema), "make", a=None).message
    nullable = {"$ref": "#/components/schemas/Thing", "nullable": True}
    assert "`a.x`" in refused(fields(version, a=nullable), "make", a={"x": "no"}).message


@pytest.mark.parametrize(
    ("pattern", "fits", "other"),
    [
        ("/^[a-z]+$/", "ab", "AB"),
        ("/^[a-z]+$/i", "AB", None),
        ("/[a-z]+$/", "ab", "AB"),
        ("^/[a-z]+/$", "/ab/", "ab"),
        ("/[a-z]+/", "/ab/", "ab"),
        ("(?i)^ab$", "AB", None),
        ("[", "x", None),
    ],
)
def test_a_pattern_may_be_written_as_in_a_program(pattern: str, fits: str, other: str | None) -> None:
    document = fields("3.1.0", a={"type": "string", "pattern": pattern})
    assert sent(document, "make", a=fits).body == json.dumps({"a": fits}, separators=(",", ":")).encode()
    if other is not None:
        assert "fits the pattern" in refused(document, "make", a=other).message


def test_several_forms_may_fit() -> None:
    """Real documents have examples that do; which one is meant, a discriminator says, or nothing."""
    cat = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}}  # fmt: skip
    dog = {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}, "bark": {"type": "string"}}}  # fmt: skip
    pet: dict[str, object] = {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}]}
    told = {"components": {"schemas": {"Cat": cat, "Dog": dog}}}
    discriminated = post(body("application/json", {**pet, "discriminator": {"propertyName": "kind"}})) | told
    assert json.loads(sent(discriminated, "make", body={"kind": "Cat"}).body) == {"kind": "Cat"}
    assert "body" in refused(discriminated, "make", body={"lives": 9}).message
    plain = post(body("application/json", pet)) | told
    assert json.loads(sent(plain, "make", body={"kind": "Cat"}).body) == {"kind": "Cat"}
    assert "fits none of 2 forms" in refused(plain, "make", body={"lives": 9}).message


def test_of_alternatives_that_only_say_what_is_required_one_fits() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    document = post(body("application/json", schema))
    assert sent(document, "make", body={"a": 1}).body == b'{"a":1}'
    assert "forms 1 and 2 fit" in refused(document, "make", body={"a": 1, "b": 2}).message


# --------------------------------------------------------------------------------------------------------- answers


def test_an_answer_of_which_nothing_is_said_may_be_anything() -> None:
    described = {"content": {"application/json": {"schema": {"type": "integer"}}}}
    results = {
        result_of(get(responses=answers)): answers
        for answers in (
            {"200": {"description": "fine"}},
            {"204": {"description": "none"}},
            {"204": described},
            {"200": described, "204": described},
            {"200": {"$ref": "#/components/responses/No"}},
        )
    }
    assert list(results) == ["Any", "None", "int | None"]
    assert result_of(get(responses={"200": {"$ref": "#/nowhere"}})) == "Any"
    assert result_of(get(responses={"200": described, "202": {"description": "later"}})) == "int | None"
    broken = get(responses={"200": {"$ref": "#/components/responses/No"}})
    assert answered(broken, Reply.of({"a": 1}), strict_responses=True)[0] == {"a": 1}


JSON_ONLY = {"200": {"content": {"application/json": {"schema": {"type": "object"}}}}}


@pytest.mark.parametrize("media", ["text/plain", "text/plain; charset=utf-8", "application/octet-stream"])
def test_json_that_is_called_something_else_is_json_where_the_document_has_nothing_else(media: str) -> None:
    assert answered(get(responses=JSON_ONLY), reply(media, '{"a": 1}'))[0] == {"a": 1}
    with pytest.raises(CallError, match="was answered; documented: application/json") as caught:
        answered(get(responses=JSON_ONLY), reply(media, '{"a": 1}'), strict_responses=True)
    assert caught.value.data == {"a": 1}
    several = {"200": {"content": {**JSON_ONLY["200"]["content"], "image/png": {}}}}
    for document, content in ((several, '{"a": 1}'), (JSON_ONLY, "{a}"), ({"200": {}}, '{"a": 1}')):
        value, _ = answered(get(responses=document), reply(media, content))
        assert value == content or isinstance(value, ArtifactRef)


FILE = {"200": {"content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}}
LINES: dict[str, object] = {"200": {"content": {"application/jsonl": {"itemSchema": {}}}}}
TEXT: dict[str, object] = {"200": {"content": {"text/csv": {}}}}


@pytest.mark.parametrize(
    ("answers", "media", "value"),
    [(TEXT, "text/csv", ""), (LINES, "application/jsonl", []), (JSON_ONLY, "application/json", None), (JSON_ONLY, "text/html", None)],
)  # fmt: skip
def test_an_empty_answer_is_an_empty_one_of_its_kind(answers: dict[str, object], media: str, value: object) -> None:
    assert answered(get(responses=answers), reply(media, ""))[0] == value
    assert answered(get(responses=answers), Reply(b""))[0] is None
    assert answered(get(responses={**answers, "204": {}}), Reply(status=204))[0] is None


def test_an_empty_file_is_a_file() -> None:
    value, client = answered(get(responses=FILE), reply("application/pdf", ""), strict_responses=True)
    assert isinstance(value, ArtifactRef)
    assert (value.mime, client.artifacts.read(value)) == ("application/pdf", b"")


def test_text_that_the_document_has_as_text_stays_text() -> None:
    both = {"200": {"content": {**JSON_ONLY["200"]["content"], "text/plain": {}}}}
    assert answered(get(responses=both), reply("text/plain", '{"a": 1}'))[0] == '{"a": 1}'
    assert answered(get(responses=JSON_ONLY), reply("text/html", "1"))[0] == "1"


# --------------------------------------------------------------------------------------------------------- servers


def addresses(document: dict[str, object], where: Whereabouts | None = None) -> tuple[str, ...] | str:
    paths = {"/a": {"get": {"operationId": "read", "responses": OK}}}
    api = api_of({"info": {}, "paths": paths, **document}, where)
    return api.operations[0].servers if api.operations else api.excluded["read"]


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ({"swagger": "2.0", "host": "https://api.test/", "basePath": "v1/"}, "https://api.test/v1"),
        ({"swagger": "2.0", "host": "http://api.test", "schemes": ["https"]}, "http://api.test"),
        ({"swagger": "2.0", "host": "api.test", "schemes": ["HTTP"]}, "http://api.test"),
        ({"swagger": "2.0", "host": "api.test:8080", "basePath": "/v1"}, "https://api.test:8080/v1"),
        ({"openapi": "3.1.0", "servers": [{"url": " https://api.test/v1/ "}]}, "https://api.test/v1"),
    ],
)
def test_addresses_are_written_in_many_ways(document: dict[str, object], found: str) -> None:
    assert addresses(document) == (found,)


def test_a_value_for_a_variable_that_no_server_has_is_refused() -> None:
    """It would go to the usual server in place of the one that was meant."""
    server = {"url": "https://{region}.api.test", "variables": {"region": {"default": "eu"}}}
    own = {"get": {"operationId": "read", "responses": OK, "servers": [{"url": "https://{zone}.test", "variables": {"zone": {"default": "a"}}}, 5]}}  # fmt: skip
    document = a_document({"/a": own, "/b": 5}, servers=[server])
    where = Whereabouts(variables={"region": "us", "regio": "us"})
    with pytest.raises(DocumentError, match="has `regio`: the variables of the servers are: `region`, `zone`"):
        api_of(document, where)
    document["paths"] = {"/a": own}
    assert api_of(document, Whereabouts(variables={"region": "us", "zone": "b"})).excluded == {
        "read": "#/paths/~1a/get/servers/1 should be a mapping"
    }

    async def started() -> str | None:
        connector = OpenApi(document, server_variables={"regio": "us"})
        await connector.start()
        return connector.unavailable

    assert "`server_variables` has `regio`" in str(asyncio.run(started()))


def test_a_variable_without_a_value_says_what_it_may_be() -> None:
    server = {"url": "https://{region}.api.test", "variables": {"region": {"enum": ["eu", "us"]}}}
    document: dict[str, object] = {"openapi": "3.1.0", "servers": [server]}
    assert addresses(document) == (
        "`{region}` of the server at #/servers/0 has no value: give `server_variables=`, one of eu, us"
    )
    assert addresses(document, Whereabouts(variables={"region": "eu"})) == ("https://eu.api.test",)
