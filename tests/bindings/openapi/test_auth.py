"""Credentials on real requests: a server on loopback says what arrived."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, Unpack

import pytest
import trustme
from tests.bindings.egress.loopback import Seen, always, answer, client, loopback

from isolith_bindings.egress import Destinations, Egress
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.auth import Auth
from isolith_bindings.openapi.credentials import ApiKey, Basic, ClientCertificate, Credential, OAuthClient, token_urls
from isolith_bindings.openapi.exchange import send, shown
from isolith_bindings.openapi.plan import RequestPlan, Requirement
from isolith_bindings.openapi.requirements import Wallet, alternatives
from isolith_bindings.openapi.schemes import Scheme, read_schemes
from isolith_bindings.secrets import Secret

CANARY = "canary-3b9d-credential"
KEY = Secret.literal(CANARY)
MISSING = Secret.env("ISOLITH_TEST_NOT_SET")

SCHEMES: dict[str, object] = {
    "header": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "query": {"type": "apiKey", "in": "query", "name": "api key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "sid"},
    "basic": {"type": "http", "scheme": "Basic"},
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "digest": {"type": "http", "scheme": "digest"},
    "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/token", "scopes": {}}}},
    "connect": {"type": "openIdConnect", "openIdConnectUrl": "https://login.test/x"},
    "tls": {"type": "mutualTLS"},
    "broken": {"type": "apiKey", "in": "nowhere", "name": "x"},
    "nonsense": 7,
}


def needs(*alternatives: str) -> tuple[Requirement, ...]:
    """`a+b` needs both, the empty text nothing."""
    return tuple(tuple((name, ()) for name in text.split("+") if name) for text in alternatives)


class Parts(TypedDict, total=False):
    method: str
    headers: tuple[tuple[str, str], ...]
    query: tuple[tuple[str, str | None], ...]
    cookies: tuple[tuple[str, str], ...]
    body: bytes
    content_type: str


def plan_of(server: str, security: tuple[Requirement, ...] | None = None, **parts: Unpack[Parts]) -> RequestPlan:
    return replace(RequestPlan("things.list", "GET", server, "/things", security=security), **parts)


Given = Credential | Mapping[str, Credential] | None


def auth_of(egress: Egress, given: Given, *origins: str) -> Auth:
    schemes = read_schemes(SCHEMES)
    wallet = Wallet(schemes, given) if isinstance(given, Mapping) else Wallet(schemes, default=given)
    return Auth.over(egress, wallet, Destinations.parse(origins))


async def arrived(security: tuple[Requirement, ...] | None, given: Given, **parts: Unpack[Parts]) -> Seen:
    """What a call sent."""
    async with loopback() as bench, client(bench.url()) as egress:
        await send(plan_of(bench.url(""), security, **parts), egress, auth_of(egress, given, bench.url()), 10)
        return bench.seen[0]


def refused(security: tuple[Requirement, ...] | None, given: Given, **parts: Unpack[Parts]) -> CallError:
    """How a call failed that sent nothing."""

    async def main() -> CallError:
        async with loopback() as bench, client(bench.url()) as egress:
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench.url(""), security, **parts), egress, auth_of(egress, given, bench.url()), 10)
            assert bench.seen == []
            assert CANARY not in f"{caught.value!r} {caught.value.hint} {caught.value.data}"
            return caught.value

    return asyncio.run(main())


BASIC = "Basic " + base64.b64encode(f"me:{CANARY}".encode()).decode()


@pytest.mark.parametrize(
    ("security", "given", "target", "headers"),
    [
        (needs("header"), {"header": KEY}, "/things", {"x-key": CANARY}),
        (needs("query"), {"query": KEY}, f"/things?api%20key={CANARY}", {}),
        (needs("cookie"), {"cookie": KEY}, "/things", {"cookie": f"sid={CANARY}"}),
        (needs("basic"), {"basic": Basic("me", KEY)}, "/things", {"authorization": BASIC}),
        (
            needs("basic"),
            {"basic": Basic(KEY)},
            "/things",
            {"authorization": "Basic " + base64.b64encode(f"{CANARY}:".encode()).decode()},
        ),
        (needs("bearer"), {"bearer": KEY}, "/things", {"authorization": f"Bearer {CANARY}"}),
        (needs("oauth"), {"oauth": KEY}, "/things", {"authorization": f"Bearer {CANARY}"}),
        (needs("connect"), {"connect": KEY}, "/things", {"authorization": f"Bearer {CANARY}"}),
        (needs("bearer"), KEY, "/things", {"authorization": f"Bearer {CANARY}"}),
        (needs("header"), KEY, "/things", {"x-key": CANARY}),
        (
            needs("header+cookie"),
            {"header": KEY, "cookie": KEY},
            "/things",
            {"x-key": CANARY, "cookie": f"sid={CANARY}"},
        ),
        (needs("header+basic", "bearer"), {"bearer": KEY}, "/things", {"authorization": f"Bearer {CANARY}"}),
        (needs("", "bearer"), {"bearer": KEY}, "/things", {"authorization": f"Bearer {CANARY}"}),
        (
            needs("digest"),
            {"digest": ApiKey("Authorization", KEY, prefix="Digest ")},
            "/things",
            {"authorization": f"Digest {CANARY}"},
        ),
        (needs("header"), ApiKey("X-Other", KEY), "/things", {"x-other": CANARY, "x-key": None}),
        (needs("header"), ApiKey("k", KEY, "query"), f"/things?k={CANARY}", {}),
        (None, KEY, "/things", {"authorization": f"Bearer {CANARY}"}),
        (None, Basic("me", KEY), "/things", {"authorization": BASIC}),
        (None, ApiKey("X-Other", KEY), "/things", {"x-other": CANARY}),
        (None, None, "/things", {"authorization": None}),
        (None, {"bearer": KEY}, "/things", {"authorization": None}),
        ((), KEY, "/things", {"authorization": None}),
        (needs(""), None, "/things", {"authorization": None}),
        (needs("bearer", ""), {"header": KEY}, "/things", {"authorization": None, "x-key": None}),
        (needs("bearer", "header"), {"bearer": MISSING, "header": KEY}, "/things", {"x-key": CANARY}),
    ],
)
def test_a_credential_arrives_where_the_document_says(
    security: tuple[Requirement, ...] | None, given: Given, target: str, headers: dict[str, str | None]
) -> None:
    seen = asyncio.run(arrived(security, given))
    assert seen.target == target
    assert {name: seen.header(name) for name in headers} == headers


@pytest.mark.parametrize(
    ("security", "given", "said"),
    [
        (needs("bearer"), None, "(bearer: a Secret with the token, or an OAuthClient)"),
        (needs("basic"), KEY, "(basic: Basic(username, password))"),
        (needs("tls"), KEY, "(tls: a ClientCertificate)"),
        (needs("tls"), ApiKey("x", KEY), "(tls: a ClientCertificate)"),
        (
            needs("digest"),
            KEY,
            "(digest: an ApiKey that says where the secret goes (HTTP authentication by digest is not known here))",
        ),
        (needs("broken"), KEY, "an API key without a place and a name"),
        (needs("nonsense"), KEY, "the type 'None' is not known here"),
        (needs("undefined"), KEY, "a scheme that the document does not define"),
        (
            needs("header+basic", "tls"),
            {"header": KEY},
            "(basic: Basic(username, password)) or (tls: a ClientCertificate)",
        ),
        (needs("bearer"), {"header": KEY}, "bearer: a Secret with the token"),
    ],
)
def test_what_cannot_be_satisfied_is_not_sent(security: tuple[Requirement, ...], given: Given, said: str) -> None:
    error = refused(security, given)
    assert error.kind == "tool_unavailable"
    assert error.message.startswith("things.list (GET /things) was not sent")
    assert said in error.message
    assert not error.retriable


@pytest.mark.parametrize(("scheme", "named"), [("bearer", True), ("header", True), ("basic", False), ("tls", False)])
def test_a_variable_is_named_where_one_secret_is_enough(scheme: str, named: bool) -> None:
    wallet = Wallet(read_schemes(SCHEMES), owner="shop")
    with pytest.raises(CallError) as caught:
        alternatives(plan_of("https://api.test", needs(scheme)), wallet)
    assert ("ISOLITH_TOKEN_SHOP" in str(caught.value.hint)) is named


def test_a_secret_that_is_not_there_does_not_make_the_call_anonymous() -> None:
    error = refused(needs("bearer", ""), {"bearer": MISSING})
    assert (error.message, error.hint) == (
        "the environment variable ISOLITH_TEST_NOT_SET is not set",
        "export ISOLITH_TEST_NOT_SET=...",
    )


@pytest.mark.parametrize(
    ("security", "parts", "place"),
    [
        (needs("bearer"), {"headers": (("authorization", "Bearer mine"),)}, "header authorization"),
        (needs("header"), {"headers": (("X-KEY", "mine"),)}, "header x-key"),
        (needs("query"), {"query": (("api+key", "mine"),)}, "query parameter api key"),
        (needs("cookie"), {"cookies": (("sid", "mine"),)}, "cookie sid"),
    ],
)
def test_a_script_cannot_take_the_place_of_a_credential(
    security: tuple[Requirement, ...], parts: Parts, place: str
) -> None:
    error = refused(security, KEY, **parts)
    assert (error.kind, error.message) == (
        "invalid_arguments",
        f"the {place} carries the connector's own credential; leave that argument out",
    )


def test_two_credentials_for_one_place_are_refused() -> None:
    error = refused(needs("bearer+basic"), {"bearer": KEY, "basic": Basic("me", KEY)})
    assert error.message == "things.list (GET /things) was not sent: two credentials want the header authorization"


def test_a_credential_is_not_for_every_host_that_may_be_reached() -> None:
    async def main() -> CallError:
        async with loopback() as bench, client(bench.url()) as egress:
            auth = auth_of(egress, KEY, "api.test")
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench.url(""), needs("bearer")), egress, auth, 10)
            with pytest.raises(CallError):
                shown(plan_of(bench.url(""), needs("bearer")), auth)
            await send(plan_of(bench.url(""), ()), egress, auth, 10)
            assert [seen.header("authorization") for seen in bench.seen] == [None]
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "denied"
    assert "the connector's credentials are not for http://127.0.0.1:" in error.message


def test_no_credential_goes_over_an_open_line() -> None:
    async def main() -> None:
        async with loopback() as bench, client(bench.url(host="api.test")) as egress:
            auth = auth_of(egress, KEY, bench.url(host="api.test"))
            with pytest.raises(CallError, match="is not encrypted, and a credential belongs to it"):
                await send(plan_of(bench.url("", host="api.test"), needs("bearer")), egress, auth, 10)
            with pytest.raises(CallError, match="is not encrypted, and a credential belongs to it"):
                auth.require(plan_of(bench.url("", host="api.test"), needs("bearer")))
            assert bench.seen == []
            await send(
                plan_of(bench.url("", host="api.test"), needs("bearer")), egress, replace(auth, cleartext=True), 10
            )
            assert bench.seen[0].header("authorization") == f"Bearer {CANARY}"

    asyncio.run(main())


def test_what_a_server_repeats_of_a_credential_is_masked() -> None:
    def echo(seen: Seen, _writer: object) -> bytes:
        return answer(
            200 if seen.method == "GET" else 400, str(seen).encode(), f"X-Echo: {seen.header('authorization')}"
        )

    async def main() -> None:
        async with loopback(echo) as bench, client(bench.url()) as egress:
            for given in (KEY, Basic("me", KEY), ApiKey("k", KEY, "query")):
                auth = auth_of(egress, given, bench.url())
                response = await send(plan_of(bench.url("")), egress, auth, 10)
                with pytest.raises(CallError) as caught:
                    await send(plan_of(bench.url(""), method="POST"), egress, auth, 10)
                text = f"{response!r} {response.content!r} {caught.value} {caught.value.data}"
                assert "[secret]" in text
                assert CANARY not in text
                assert base64.b64encode(CANARY.encode()).decode()[4:20] not in text

    asyncio.run(main())


def test_a_name_that_is_no_secret_is_not_masked() -> None:
    async def main() -> bytes:
        async with loopback(always(200, b"ada@example.test wrote this")) as bench, client(bench.url()) as egress:
            auth = auth_of(egress, Basic("ada@example.test", KEY), bench.url())
            return (await send(plan_of(bench.url("")), egress, auth, 10)).content

    assert asyncio.run(main()) == b"ada@example.test wrote this"


def test_the_dry_run_shows_all_but_the_secrets() -> None:
    async def main() -> list[str]:
        async with client("https://api.test") as egress:
            plan = plan_of(
                "https://api.test/v1",
                headers=(("X-A", "1"),),
                query=(("q", "x"),),
                method="POST",
                body=b'{"a": 1}',
                content_type="application/json",
            )
            credentials: list[Credential] = [
                KEY,
                MISSING,
                Basic("me", MISSING),
                ApiKey("k", MISSING, "query"),
                ApiKey("sid", MISSING, "cookie"),
                OAuthClient("id", MISSING, "https://login.test/token"),
            ]
            return [shown(plan, auth_of(egress, given, "api.test")) for given in credentials]

    texts = asyncio.run(main())
    assert (
        texts[0]
        == 'POST https://api.test/v1/things?q=x\nX-A: 1\nContent-Type: application/json\nAuthorization: Bearer [secret]\n\n{"a": 1}'
    )
    assert texts[0] == texts[5]
    shown_missing = "[secret of env ISOLITH_TEST_NOT_SET]"
    assert f"Authorization: Bearer {shown_missing}" in texts[1]
    assert f"Authorization: Basic {shown_missing}" in texts[2]
    assert texts[3].startswith(f"POST https://api.test/v1/things?q=x&k={shown_missing}\n")
    assert f"Cookie: sid={shown_missing}" in texts[4]


@pytest.mark.parametrize(
    ("given", "security", "lacks"),
    [
        (MISSING, needs("bearer"), True),
        (Basic("me", MISSING), needs("basic"), True),
        (OAuthClient("id", MISSING, "https://login.test/token"), needs("oauth"), True),
        ({"bearer": MISSING}, needs("bearer", ""), True),
        ({"bearer": MISSING, "header": KEY}, needs("bearer", "header"), False),
        ({"bearer": KEY, "header": MISSING}, needs("bearer+header"), True),
        (KEY, needs("bearer"), False),
        (MISSING, needs(""), False),
        ({}, needs(""), False),
    ],
)
def test_what_is_missing_is_known_before_it_is_read(
    given: Given, security: tuple[Requirement, ...], lacks: bool
) -> None:
    async def main() -> None:
        async with client("https://api.test") as egress:
            auth_of(egress, given, "api.test").require(plan_of("https://api.test/v1", security))

    if lacks:
        with pytest.raises(CallError, match="the environment variable ISOLITH_TEST_NOT_SET is not set"):
            asyncio.run(main())
    else:
        asyncio.run(main())


def test_mutual_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority, people = trustme.CA(), trustme.CA()
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.verify_mode = ssl.CERT_REQUIRED
    authority.issue_cert("api.test").configure_cert(serving)
    people.configure_trust(serving)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    people.issue_cert("someone.test").private_key_and_cert_chain_pem.write_to_path(tmp_path / "mine.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))

    async def main() -> int:
        async with loopback(tls=serving) as bench:
            url = bench.url("", host="api.test")
            async with client(url) as egress:
                auth = auth_of(egress, {"tls": ClientCertificate(tmp_path / "mine.pem")}, url)
                await send(plan_of(url, needs("tls")), egress, auth, 10)
                response = await send(plan_of(url, needs("tls")), egress, auth, 10)
                with pytest.raises(CallError):
                    await send(plan_of(url, ()), egress, auth, 10)
                assert len(bench.seen) == 2
                return response.status

    assert asyncio.run(main()) == 200


def test_a_client_certificate_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("not a certificate")
    for name, why in (("bad.pem", "SSLError"), ("none.pem", "No such file or directory")):
        error = refused(needs("tls"), {"tls": ClientCertificate(tmp_path / name)})
        assert "cannot be used" in error.message
        assert why in error.message


def test_schemes_as_read() -> None:
    schemes = read_schemes(SCHEMES)
    assert schemes["oauth"] == Scheme("oauth", "oauth2", "header", "", "/token")
    assert {scheme.kind for name, scheme in schemes.items() if name in {"digest", "broken", "nonsense"}} == {"unknown"}
    flows: dict[str, object] = {
        "implicit": {"authorizationUrl": "https://a.test"},
        "authorizationCode": {"tokenUrl": "https://a.test/t", "refreshUrl": "https://a.test/r"},
    }
    assert read_schemes({"o": {"type": "oauth2", "flows": flows}})["o"] == Scheme(
        "o", "oauth2", "header", "", "https://a.test/t", "https://a.test/r"
    )
    assert read_schemes({"o": {"type": "oauth2", "flows": []}})["o"] == Scheme("o", "oauth2")


def test_token_endpoints_that_a_person_wrote() -> None:
    own = OAuthClient("id", KEY, "https://login.test/token")
    assert (
        token_urls(own) == token_urls({"a": own, "b": KEY, "c": OAuthClient("id", KEY)}) == ["https://login.test/token"]
    )
    assert token_urls(None) == token_urls(KEY) == []
