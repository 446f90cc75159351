"""Tokens from a real endpoint on loopback: how they are asked for, kept, renewed, and what is refused."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import pytest
from tests.bindings.egress.loopback import Loopback, Seen, always, answer, client, loopback

from isolith_bindings.egress import Destinations, Egress
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.auth import Auth
from isolith_bindings.openapi.credentials import OAuthClient
from isolith_bindings.openapi.exchange import send
from isolith_bindings.openapi.oauth import Tokens
from isolith_bindings.openapi.plan import RequestPlan
from isolith_bindings.openapi.requirements import Wallet
from isolith_bindings.openapi.schemes import Scheme
from isolith_bindings.secrets import MASK, Secret, redact

SECRET = Secret.literal("canary-66ce-client&secret")
REFRESH = Secret.literal("canary-21fa-refresh-token")


@dataclass
class Issuer:
    """Gives a new token each time, and an API that takes the newest only."""

    extra: dict[str, object] = field(default_factory=dict[str, object])
    tokens: list[str] = field(default_factory=list[str])
    asked: list[Seen] = field(default_factory=list[Seen])
    revoked: set[str] = field(default_factory=set[str])

    def token(self, seen: Seen, _writer: object) -> bytes:
        self.asked.append(seen)
        self.tokens.append(f"canary-token-{len(self.tokens)}-{id(self)}")
        told = {"access_token": self.tokens[-1], "token_type": "Bearer", **self.extra}
        return answer(200, json.dumps(told).encode(), "Content-Type: application/json")

    def api(self, seen: Seen, _writer: object) -> bytes:
        token = (seen.header("authorization") or "").removeprefix("Bearer ")
        known = token in self.tokens and token not in self.revoked
        return answer(200 if known else 401, b"{}", "Content-Type: application/json")

    def form(self, number: int = -1) -> dict[str, list[str]]:
        return parse_qs(self.asked[number].body.decode())


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def issuing(issuer: Issuer) -> AsyncGenerator[tuple[Loopback, Egress]]:
    async with loopback(issuer.api) as bench, client(bench.url()) as egress:
        bench.paths["/oauth/token"] = issuer.token
        yield bench, egress


def auth_of(bench: Loopback, egress: Egress, given: OAuthClient, clock: Clock | None = None) -> Auth:
    wallet = Wallet({"o": Scheme("o", "oauth2", "header", "", "/oauth/token")}, {"o": given})
    return Auth(wallet, Destinations.parse([bench.url()]), Tokens(egress, clock or Clock()))


def plan_of(bench: Loopback, *scopes: str, method: str = "GET") -> RequestPlan:
    return RequestPlan("things.list", method, bench.url(""), "/things", security=((("o", scopes),),))


def test_client_credentials_once_for_many_calls() -> None:
    issuer = Issuer({"expires_in": 3600})

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id:1", SECRET, fields=(("audience", "a b"),)))
            await asyncio.gather(*[send(plan_of(bench, "read", "write"), egress, auth, 10) for _ in range(5)])

    asyncio.run(main())
    assert len(issuer.asked) == 1
    assert issuer.form() == {"grant_type": ["client_credentials"], "scope": ["read write"], "audience": ["a b"]}
    told = base64.b64decode((issuer.asked[0].header("authorization") or "").removeprefix("Basic ")).decode()
    assert told == "id%3A1:canary-66ce-client%26secret"
    assert redact(issuer.tokens[0]) == MASK


def test_a_client_in_the_form_and_scopes_of_its_own() -> None:
    issuer = Issuer()

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", SECRET, scopes=("all",), client_in="body"))
            await send(plan_of(bench, "read"), egress, auth, 10)

    asyncio.run(main())
    assert issuer.form() == {
        "grant_type": ["client_credentials"],
        "scope": ["all"],
        "client_id": ["id"],
        "client_secret": ["canary-66ce-client&secret"],
    }
    assert issuer.asked[0].header("authorization") is None


@pytest.mark.parametrize("lasts", [100, 100.0, "100"])
def test_a_token_is_renewed_before_its_end(lasts: object) -> None:
    issuer, clock = Issuer({"expires_in": lasts}), Clock()

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", SECRET), clock)
            for moment in (0.0, 69.0, 71.0, 140.0, 142.0):
                clock.now = moment
                await send(plan_of(bench), egress, auth, 10)

    asyncio.run(main())
    assert len(issuer.asked) == 3


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_token_that_is_refused_is_renewed_once(method: str) -> None:
    issuer = Issuer()

    async def main() -> list[Seen]:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", SECRET))
            await send(plan_of(bench, method=method), egress, auth, 10)
            issuer.revoked.add(issuer.tokens[0])
            await asyncio.gather(*[send(plan_of(bench, method=method), egress, auth, 10) for _ in range(3)])
            return [seen for seen in bench.seen if seen.target == "/things"]

    seen = asyncio.run(main())
    assert len(issuer.asked) == 2
    assert len(seen) == 1 + 3 * 2


def test_a_token_that_is_always_refused_ends() -> None:
    issuer = Issuer()

    async def main() -> CallError:
        async with issuing(issuer) as (bench, egress):
            bench.handler = always(401, b'{"message": "no"}', "Content-Type: application/json")
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench), egress, auth_of(bench, egress, OAuthClient("id", SECRET)), 10)
            assert len([seen for seen in bench.seen if seen.target == "/things"]) == 2
            return caught.value

    error = asyncio.run(main())
    assert error.message == "things.list (GET /things) was answered 401 Unauthorized: no"
    assert len(issuer.asked) == 2


def test_a_refresh_token_is_asked_for_all_that_it_was_granted() -> None:
    """RFC 6749, 6: authlib's own example gives the next one no more than was asked for, and what then wants more fails."""
    issuer = Issuer({"refresh_token": "canary-next-refresh", "expires_in": 3600})

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", refresh_token=REFRESH))
            for scope in ("read", "write"):
                await send(plan_of(bench, scope), egress, auth, 10)
            fewer = auth_of(bench, egress, OAuthClient("id", refresh_token=REFRESH, scopes=("read",)))
            await send(plan_of(bench, "write"), egress, fewer, 10)

    asyncio.run(main())
    assert [form.get("scope") for form in map(issuer.form, range(len(issuer.asked)))] == [None, ["read"]]


def test_a_refresh_token_that_rotates() -> None:
    issuer = Issuer({"refresh_token": "canary-rotated-refresh", "expires_in": 1})

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", refresh_token=REFRESH))
            for _ in range(2):
                await send(plan_of(bench), egress, auth, 10)

    asyncio.run(main())
    assert issuer.form(0) == {
        "grant_type": ["refresh_token"],
        "refresh_token": ["canary-21fa-refresh-token"],
        "client_id": ["id"],
    }
    assert issuer.form(1)["refresh_token"] == ["canary-rotated-refresh"]
    assert redact("canary-rotated-refresh") == MASK


def test_scopes_have_tokens_of_their_own() -> None:
    issuer = Issuer()

    async def main() -> None:
        async with issuing(issuer) as (bench, egress):
            auth = auth_of(bench, egress, OAuthClient("id", SECRET))
            for scopes in (("read",), ("write",), ("read",)):
                await send(plan_of(bench, *scopes), egress, auth, 10)

    asyncio.run(main())
    assert [issuer.form(number)["scope"] for number in range(2)] == [["read"], ["write"]]
    assert len(issuer.asked) == 2


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            400,
            b'{"error": "invalid_client", "error_description": "your canary-66ce-client&secret is wrong"}',
            "it answered 400 invalid_client",
        ),
        (500, b"<html>canary-66ce-client&secret</html>", "it answered 500"),
        (400, b'{"error": "canary-66ce-client&secret"}', f"it answered 400 {MASK}"),
        (200, b"{}", "its answer holds no access_token"),
        (200, b"[]", "its answer holds no access_token"),
        (200, b"not json", "its answer holds no access_token"),
        (200, b"[" * 100_000, "its answer holds no access_token"),
        (200, b'{"access_token": 7}', "its answer holds no access_token"),
        (200, b'{"access_token": "a\\r\\nX-Evil: 1"}', "its answer holds no access_token"),
        (200, b'{"access_token": "fine-token", "token_type": "mac"}', "its token is of a type other than bearer"),
    ],
)
def test_no_token_no_call(status: int, body: bytes, said: str) -> None:
    async def main() -> CallError:
        async with issuing(Issuer()) as (bench, egress):
            bench.paths["/oauth/token"] = always(status, body)
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench), egress, auth_of(bench, egress, OAuthClient("id", SECRET)), 10)
            assert [seen.target for seen in bench.seen] == ["/oauth/token"]
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "tool_unavailable"
    assert error.message.endswith(f": {said}")
    assert "canary" not in f"{error!r} {error.data} {error.hint}"


def test_the_client_is_not_told_to_a_host_that_the_document_names() -> None:
    async def main() -> CallError:
        async with loopback() as bench, client(bench.url()) as egress:
            scheme = Scheme("o", "oauth2", "header", "", "https://evil.test/token")
            wallet = Wallet({"o": scheme}, {"o": OAuthClient("id", SECRET)})
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench), egress, Auth.over(egress, wallet, Destinations.parse([bench.url()])), 10)
            assert bench.seen == []
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "denied"
    assert "https://evil.test is not a host that this connector may reach" in error.message


def test_a_client_without_an_endpoint() -> None:
    async def main() -> CallError:
        async with loopback() as bench, client(bench.url()) as egress:
            wallet = Wallet({"o": Scheme("o", "oauth2")}, {"o": OAuthClient("id", SECRET)})
            with pytest.raises(CallError) as caught:
                await send(plan_of(bench), egress, Auth.over(egress, wallet, Destinations.parse([bench.url()])), 10)
            return caught.value

    assert asyncio.run(main()).message == "o: OAuthClient needs a token_url, the document has none"
