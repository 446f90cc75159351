"""What OpenAPI 3.2 has beside parts and streams: each feature does what it says, or is refused with its place."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from tests.bindings.openapi.bench import OK, Client, a_document, compiled, operations
from tests.bindings.openapi.exchanges import a, answered, body, get, post, refused, run, sent
from tests.bindings.openapi.loopback import Reply, Server

from isolith_bindings.errors import CallError
from isolith_bindings.openapi import OAuthClient
from isolith_bindings.openapi.plan import RequestPlan
from isolith_bindings.openapi.requirements import Wallet, alternatives
from isolith_bindings.openapi.schemes import Scheme, read_schemes
from isolith_bindings.secrets import Secret


def excluded(document: object) -> dict[str, str]:
    return dict(compiled(json.dumps(document).encode()).excluded)


# ------------------------------------------------------------------------------------------------- methods and paths


def test_query_reads_and_a_method_of_ones_own_does_not() -> None:
    paths = {
        "/things": {
            "query": {
                "operationId": "ask",
                "requestBody": body("application/json", {"type": "array"}),
                "responses": OK,
            },
            "additionalOperations": {"LINK": {"operationId": "link", "parameters": [a("to")], "responses": OK}},
        }
    }

    async def use(client: Client, server: Server) -> None:
        await client.call("ask", body=[1])
        assert (server.last.method, server.last.target, server.last.body) == ("QUERY", "/things", b"[1]")
        await client.call("link", to="x")
        assert (server.last.method, server.last.target) == ("LINK", "/things?to=x")
        methods = client.connector.methods
        assert (methods["ask"].annotations.read_only, methods["ask"].idempotent) == (True, True)
        assert (methods["link"].annotations.read_only, methods["link"].idempotent) == (False, False)

    run(a_document(paths, "3.2.0"), use)


def test_a_method_stands_in_its_own_field_only() -> None:
    item = {
        "post": {"operationId": "make", "responses": OK},
        "additionalOperations": {"POST": {"operationId": "other", "responses": OK}},
    }
    document = a_document({"/a": item}, "3.2.0")
    assert list(operations(compiled(json.dumps(document).encode()))) == ["make"]
    assert "has a field of its own, `post`" in excluded(document)["additionalOperations POST /a"]


# ------------------------------------------------------------------------------------------------- the whole query


@pytest.mark.parametrize(
    ("media", "value", "query"),
    [
        # The specification's examples.
        ("application/x-www-form-urlencoded", {"foo": "a + b", "bar": True}, "foo=a+%2B+b&bar=true"),
        (
            "application/json",
            {"numbers": [1, 2], "flag": None},
            "%7B%22numbers%22%3A%5B1%2C2%5D%2C%22flag%22%3Anull%7D",
        ),
        ("application/jsonpath", "$.a.b[1:1]", "%24.a.b%5B1%3A1%5D"),
        # And what could end it.
        ("application/json", "a", "%22a%22"),
        ("text/plain", "a#b&c d\r\n", "a%23b%26c%20d%0D%0A"),
        ("application/x-www-form-urlencoded", {"a#": "b&c#\r\n"}, "a%23=b%26c%23%0D%0A"),
    ],
)
def test_a_parameter_is_the_whole_query(media: str, value: object, query: str) -> None:
    whole = {"name": "all", "in": "querystring", "required": True, "content": {media: {"schema": {}}}}
    assert sent(get(whole), "read", all=value).query == query


def test_the_form_of_a_whole_query_has_encodings() -> None:
    content = {"schema": {"type": "object"}, "encoding": {"deep": {"style": "deepObject"}, "one": {"explode": False}}}
    whole = {"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded": content}}
    got = sent(get(whole), "read", all={"deep": {"a": 1}, "one": [1, 2], "more": [1, 2]})
    assert got.query == "deep%5Ba%5D=1&one=1,2&more=1&more=2"
    assert sent(get(whole), "read").query == ""


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ([a("q")], "cannot stand beside #/paths/~1things/get/parameters/1"),
        ([{"name": "more", "in": "querystring", "content": {"text/plain": {}}}], "cannot stand beside"),
    ],
)
def test_a_whole_query_stands_alone(others: list[object], told: str) -> None:
    whole = {"name": "all", "in": "querystring", "content": {"text/plain": {}}}
    assert told in excluded(get(whole, *others))["read"]
    bare = {"name": "all", "in": "querystring", "schema": {"type": "object"}}
    assert "has no `content`" in excluded(get(bare))["read"]


# ------------------------------------------------------------------------------------------------- values in parameters


@pytest.mark.parametrize(
    ("place", "media", "value", "text"),
    [
        ("query", "application/json", {"lat": 40.6, "long": -73.9}, "v=%7B%22lat%22%3A40.6%2C%22long%22%3A-73.9%7D"),
        ("query", "text/plain", "a b", "v=a%20b"),
        ("header", "text/plain", "a; b=c", "a; b=c"),
        ("header", "application/json", {"a": 1}, '{"a":1}'),
        ("header", "application/json", "a", '"a"'),
        ("cookie", "text/plain", "a b", "v=a%20b"),
    ],
)
def test_a_parameter_may_be_written_in_a_media_type(place: str, media: str, value: object, text: str) -> None:
    got = sent(get({"name": "v", "in": place, "content": {media: {"schema": {}}}}), "read", v=value)
    assert {"query": got.query, "header": got.header("v"), "cookie": got.header("cookie")}[place] == text


def test_cookies_are_sent_as_they_are_given() -> None:
    """The specification's example of `style: cookie`, and of the percent-encoding that `form` has."""
    schema = {"type": "object", "properties": {"greeting": {"type": "string"}, "code": {"type": "integer"}}}
    plain = {"name": "cookie", "in": "cookie", "style": "cookie", "schema": schema}
    got = sent(get(plain), "read", cookie={"greeting": "Hello%2C%20world!", "code": 42})
    assert got.header("cookie") == "greeting=Hello%2C%20world!; code=42"
    got = sent(get(a("greeting", "cookie")), "read", greeting="Hello, world!")
    assert got.header("cookie") == "greeting=Hello%2C%20world%21"
    assert "without blanks" in refused(get(plain), "read", cookie={"greeting": "a; admin=1"}).message
    listed = a("c", "cookie", {"type": "array"}, style="cookie", explode=False)
    assert "without `explode`" in refused(get(listed), "read", c=["a", "b"]).message


def test_reserved_characters_pass_wherever_something_is_percent_encoded() -> None:
    document = get(
        {"name": "p", "in": "path", "required": True, "schema": {}, "allowReserved": True},
        a("q", allowReserved=True),
        a("c", "cookie", allowReserved=True),
        path="/things/{p}",
    )
    got = sent(document, "read", p="a:b/c%2F?", q="a/b?c&d%20#", c="a/b;c")
    assert got.target == "/things/a:b%2Fc%2F%3F?q=a/b?c%26d%20%23"
    assert got.header("cookie") == "c=a/b%3Bc"
    assert "another operation" in refused(document, "read", p="%2e%2e").message
    encoding = {"u": {"allowReserved": True}, "v": {"allowReserved": False}}
    schema = {"type": "object", "properties": {"u": {"type": "string"}, "v": {"type": "string"}}}
    form = post(body("application/x-www-form-urlencoded", schema, encoding=encoding))
    assert sent(form, "make", u="http://a/b?c=d&e f", v="a/b").body == b"u=http://a/b?c%3Dd%26e+f&v=a%2Fb"


@pytest.mark.parametrize(
    ("properties", "encoding", "value", "written"),
    [
        # The example of JSON in a form, and its `id` as JSON.
        (
            {"id": {"type": "string"}, "address": {"type": "object"}},
            {},
            {"id": "f81d4fae", "address": {"street": "123 Example Dr.", "zip": "99999+1234"}},
            "id=f81d4fae&address=%7B%22street%22%3A%22123+Example+Dr.%22%2C%22zip%22%3A%2299999%2B1234%22%7D",
        ),
        ({"id": {}}, {"id": {"contentType": "application/json"}}, {"id": "f81d4fae"}, "id=%22f81d4fae%22"),
        ({"many": {}}, {}, {"many": [{"a": 1}, {"b": 2}]}, "many=%7B%22a%22%3A1%7D&many=%7B%22b%22%3A2%7D"),
        ({"many": {}}, {"many": {"contentType": "text/plain"}}, {"many": ["a", "b"]}, "many=a&many=b"),
    ],
)
def test_forms_are_written_as_the_examples_have_it(
    properties: object, encoding: object, value: dict[str, object], written: str
) -> None:
    schema = {"type": "object", "properties": properties}
    document = post(body("application/x-www-form-urlencoded", schema, required=True) | {})
    media = document["paths"]["/things"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]  # type: ignore[index]
    media["encoding"] = encoding
    assert sent(document, "make", **value).body.decode() == written


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("base64", "+/8="), ("base64url", "-_8="), ("base16", "FBFF"), ("base32", "7P7Q===="), (None, "+/8=")],
)
def test_bytes_are_text_as_their_schema_has_them_encoded(encoding: str | None, text: str) -> None:
    icon: dict[str, object] = (
        {"type": "string"} if encoding is None else {"type": "string", "contentEncoding": encoding}
    )
    schema = {
        "type": "object",
        "properties": {"icon": {"$ref": "#/components/schemas/Icon"}, "more": {"type": "array", "items": icon}},
    }
    shared = {"components": {"schemas": {"Icon": icon}}}
    value = b"\xfb\xff"
    got = sent(post(body("application/json", schema)) | shared, "make", icon=value, more=[value])
    assert json.loads(got.body) == {"icon": text, "more": [text]}
    form = sent(post(body("application/x-www-form-urlencoded", schema)) | shared, "make", icon=value)
    assert form.body.decode() == f"icon={quote(text, safe='')}"
    lines = sent(
        post({"required": True, "content": {"application/jsonl": {"itemSchema": schema}}}) | shared,
        "make",
        body=[{"icon": value}],
    )
    assert json.loads(lines.body) == {"icon": text}
    assert sent(get(a("q", schema=icon)), "read", q=value).query == f"q={quote(text, safe='')}"


def test_bytes_in_an_encoding_that_is_not_known_are_not_sent() -> None:
    icon = {"type": "object", "properties": {"icon": {"type": "string", "contentEncoding": "quoted-printable"}}}
    assert (
        "`contentEncoding: quoted-printable`"
        in refused(post(body("application/json", icon)), "make", icon=b"a").message
    )
    assert json.loads(sent(post(body("application/json", icon)), "make", icon="=41").body) == {"icon": "=41"}


# ------------------------------------------------------------------------------------------------- schemas and names


def test_a_default_mapping_hides_no_alternative() -> None:
    """A discriminator is a hint for who reads; the alternatives decide, with a default or without."""
    pet = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Other"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "Cat"}, "defaultMapping": "Other"},
    }
    cat = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
    }
    other = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
        "not": {"required": ["lives"]},
    }
    document = post(body("application/json", pet)) | {"components": {"schemas": {"Cat": cat, "Other": other}}}
    assert json.loads(sent(document, "make", body={"kind": "cat", "lives": 9}).body) == {"kind": "cat", "lives": 9}
    assert json.loads(sent(document, "make", body={"name": "x"}).body) == {"name": "x"}
    assert "body" in refused(document, "make", body={"lives": 9}).message


def test_a_tag_that_is_a_badge_divides_nothing() -> None:
    tags = [
        {"name": "beta", "kind": "badge"},
        {"name": "pets", "kind": "nav", "parent": "animals", "summary": "Pets"},
        {"name": "animals", "kind": "nav"},
        {"name": "partners", "kind": "audience"},
    ]
    paths = {
        f"/pets/{number}": {"get": {"operationId": f"one{number}", "tags": ["beta", "pets"], "responses": OK}}
        for number in range(20)
    }
    paths["/all"] = {"get": {"operationId": "all", "tags": ["animals"], "responses": OK}}
    paths["/us"] = {"get": {"operationId": "us", "tags": ["partners"], "responses": OK}}
    names = operations(compiled(json.dumps(a_document(paths, "3.2.0", tags=tags)).encode()))
    assert {"pets.one0", "animals.all", "partners.us"} <= set(names)
    assert not [name for name in names if name.startswith("beta")]


def test_what_only_people_read_changes_nothing() -> None:
    """The name of a server, the summary of an answer, and the two kinds of values that an example has."""
    example = {"usual": {"dataValue": {"$ref": "#/nowhere"}, "serializedValue": "q=1", "summary": "as it is"}}
    query = a("q", examples=example)
    answer = {"summary": "done", "content": {"application/json": {"schema": {"type": "object"}, "examples": example}}}
    document = get(query, responses={"200": answer}) | {"openapi": "3.2.0"}
    document["servers"] = [{"url": "https://api.test", "name": "live"}, {"url": "https://other.test", "name": "tried"}]
    assert excluded(document) == {}
    assert sent(document, "read", q="x").query == "q=x"
    assert answered(document, Reply.of({"a": 1}), strict_responses=True)[0] == {"a": 1}


# ------------------------------------------------------------------------------------------------- credentials


def secured(security: object, **schemes: object) -> dict[str, object]:
    return get(security=security) | {"openapi": "3.2.0", "components": {"securitySchemes": schemes}}


BEARER = {"type": "http", "scheme": "bearer"}


def test_a_flow_for_devices_renews_its_token_like_any_other() -> None:
    flow = {
        "deviceAuthorizationUrl": "https://a.test/d",
        "tokenUrl": "https://a.test/t",
        "refreshUrl": "https://a.test/r",
    }
    told = {
        "o": {
            "type": "oauth2",
            "oauth2MetadataUrl": "https://a.test/m",
            "flows": {"deviceAuthorization": {**flow, "scopes": {}}},
        }
    }
    assert read_schemes(told)["o"] == Scheme("o", "oauth2", "header", "", "https://a.test/t", "https://a.test/r")


def test_metadata_alone_are_no_token_endpoint_and_that_is_said() -> None:
    """Nothing is fetched from an address that is not the one where tokens are given."""
    scheme = {"type": "oauth2", "oauth2MetadataUrl": "https://a.test/m", "flows": {}}

    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError, match="o: OAuthClient needs a token_url, the document has none"):
            await client.call("read")
        assert server.got == []

    run(secured([{"o": []}], o=scheme), use, auth=OAuthClient("id", Secret.env("PATH")))


def test_a_deprecated_scheme_is_the_last_that_is_taken() -> None:
    schemes = read_schemes({"old": {**BEARER, "deprecated": True}, "new": BEARER})
    assert (schemes["old"].deprecated, schemes["new"].deprecated) == (True, False)
    wallet = Wallet(schemes, default=Secret.env("PATH"))
    plan = RequestPlan("x", "GET", "https://api.test", "/", security=((), (("old", ()),), (("new", ()),)))
    assert [[use.scheme.name for use in uses] for uses in alternatives(plan, wallet)] == [["new"], ["old"], []]


def test_a_scheme_may_be_named_by_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "canary-of-the-tests")
    seen: list[str | None] = []

    async def use(client: Client, server: Server) -> None:
        await client.call("read")
        seen.append(server.last.header("authorization"))

    run(secured([{"#/components/securitySchemes/key": []}], key=BEARER), use, auth=Secret.env("CANARY"))
    assert seen == ["Bearer canary-of-the-tests"]


def test_an_address_that_leads_to_no_scheme_fails_before_the_call() -> None:
    async def use(client: Client, server: Server) -> None:
        with pytest.raises(CallError, match="a scheme that the document does not define"):
            await client.call("read")
        assert server.got == []

    run(secured([{"#/components/securitySchemes/nowhere": []}], key=BEARER), use, auth=Secret.env("PATH"))
