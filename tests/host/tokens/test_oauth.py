"""Access tokens of an authorization server: which open something, and what is asked of it meanwhile."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from tests.authorization_server import CLIENT, Issuer, issuer

from isolith.errors import UsageError
from isolith.tokens.access import Access
from isolith.tokens.authorization_server import AuthorizationServer, Introspection, issuer_origin
from isolith.tokens.errors import NotJudged
from isolith.tokens.oauth import OAuthVerifier
from isolith.tokens.verifier import access_of
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio

HERE = "https://mcp.example.com/mcp"


@pytest.fixture
async def known() -> AsyncIterator[Issuer]:
    async with issuer() as made:
        yield made


@pytest.fixture
async def server(known: Issuer) -> AsyncIterator[AuthorizationServer]:
    made = AuthorizationServer(known.url)
    yield made
    await made.aclose()


async def test_the_subject_is_the_principal_and_scopes_are_ours(known: Issuer, server: AuthorizationServer) -> None:
    verifier = OAuthVerifier(server, HERE)
    token = known.token(HERE, "execute email", "auth0|ada")
    found = await verifier.verify_token(token)
    assert found is not None
    assert access_of(found) == Access("auth0|ada", frozenset({"execute"}))
    assert (found.client_id, found.resource) == ("an-app", HERE)
    assert token not in repr(found)  # whoever logs this has no token
    lists = await verifier.verify_token(known.token(["https://other.example", f"{HERE}/"], ["approve"]))
    assert lists is not None
    assert lists.scopes == ["approve"]
    admin = await verifier.verify_token(known.token(HERE, "admin"))
    assert admin is not None
    assert admin.scopes == ["admin", "approve", "execute"]
    assert known.asked == ["/.well-known/oauth-authorization-server", "/jwks"]  # once


async def test_tokens_that_open_nothing(known: Issuer, server: AuthorizationServer) -> None:
    verifier = OAuthVerifier(server, HERE)
    past = int(time.time()) - 120
    good = known.token(HERE)
    header, body, signature = good.split(".")
    key: Any = known.public_key()
    claims = jwt.decode(good, options={"verify_signature": False})
    shared = jwt.encode(claims, b"a secret that everybody has, long enough to be one", "HS256", {"kid": "first"})
    for name, token in {
        "for another resource": known.token("https://other.example"),
        "over": known.token(HERE, exp=past),
        "not yet": known.token(HERE, nbf=past + 10_000),
        "without an end": known.token(HERE, exp=None),
        "of another issuer": known.token(HERE, iss="https://login.example.com"),
        "of nobody": known.token(HERE, subject=""),
        "of a name with a line in it": known.token(HERE, subject="ada\nroot"),
        "bound to a key": known.token(HERE, cnf={"jkt": "x"}),
        "with another signature": f"{header}.{body}.{signature[:-8]}AAAAAAAA",
        "with another body": f"{header}.{known.token(HERE, subject='root').split('.')[1]}.{signature}",
        "signed by no one": jwt.encode(claims, "", "none", {"kid": "first"}),
        "signed with a secret": shared,
        "signed with the public key": jwt.encode(claims, key["n"].encode(), "HS256", {"kid": "first"}),
        "no token": "x",
        "nothing": "..",
        "nested": f"{'W1tb' * 1_500}.e30.x",
    }.items():
        assert await verifier.verify_token(token) is None, name
    assert await verifier.verify_token(good) is not None


async def test_a_key_that_turned_is_asked_for_now_and_then(known: Issuer) -> None:
    now = 0.0
    server = AuthorizationServer(known.url, lambda: now)
    verifier = OAuthVerifier(server, HERE)
    old = known.token(HERE)
    assert await verifier.verify_token(old) is not None
    known.turn_key()
    new = known.token(HERE)
    assert await verifier.verify_token(new) is None  # it was asked just now
    now = 31
    assert await verifier.verify_token(new) is not None
    assert await verifier.verify_token(old) is None
    assert known.asked.count("/jwks") == 2
    known.down, now = True, 4_000
    assert await verifier.verify_token(new) is not None  # what is known goes on to count
    await server.aclose()


async def test_a_server_that_is_down_is_said_and_not_asked_all_the_time(known: Issuer) -> None:
    now = 0.0
    server = AuthorizationServer(known.url, lambda: now)
    verifier = OAuthVerifier(server, HERE)
    token = known.token(HERE)
    known.down = True
    for _ in range(3):
        with pytest.raises(NotJudged, match="ask again in 5 s"):
            await verifier.verify_token(token)
    asked = len(known.asked)
    known.down = False
    with pytest.raises(NotJudged):
        await verifier.verify_token(token)
    assert len(known.asked) == asked
    now = 6
    assert await verifier.verify_token(token) is not None
    await server.aclose()


async def test_tokens_that_say_nothing_are_asked_about_each_time() -> None:
    async with issuer(opaque=True) as known:
        server = AuthorizationServer(known.url)
        verifier = OAuthVerifier(server, HERE, Introspection(CLIENT[0], Secret.literal(CLIENT[1])))
        token = known.token(HERE, "execute approve")
        for _ in range(2):
            found = await verifier.verify_token(token)
            assert found is not None
            assert access_of(found) == Access("ada", frozenset({"execute", "approve"}))
        known.revoked.add(token)
        assert await verifier.verify_token(token) is None
        past = int(time.time()) - 120
        for wrong in (known.token("https://other.example"), known.token(HERE, exp=past), "unknown"):
            assert await verifier.verify_token(wrong) is None
        stranger = OAuthVerifier(server, HERE, Introspection("isolith", Secret.literal("another secret of isolith")))
        with pytest.raises(NotJudged):
            await stranger.verify_token(token)
        await server.aclose()


@pytest.mark.parametrize("url", ["http://login.example.com", "login.example.com", "https://a/?q=1", "ftp://a", ""])
def test_what_is_no_issuer(url: str) -> None:
    with pytest.raises(UsageError):
        issuer_origin(url)
    assert issuer_origin("https://login.example.com/tenant") == "https://login.example.com"
