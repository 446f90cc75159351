"""A server that answers with everything it was told, in every place it can: nothing of the credential comes back."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import logging
import traceback
from urllib.parse import quote

import pytest
from tests.bindings.egress.loopback import Handler, Names, Pauses, Seen, answer, client, loopback

from isolith_bindings.egress import Destinations, Egress, Limits, Request, Retries
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.auth import Auth
from isolith_bindings.openapi.credentials import ApiKey, Basic, Credential, OAuthClient
from isolith_bindings.openapi.exchange import send, shown
from isolith_bindings.openapi.plan import RequestPlan
from isolith_bindings.openapi.requirements import Wallet
from isolith_bindings.secrets import Secret

CANARY = "canary-d00d+/=&%-credential"
FRAGMENTS = (
    "canary-d00d",
    base64.b64encode(CANARY.encode()).decode()[:16],
    base64.b64encode(b"me:" + CANARY.encode()).decode()[4:20],
)
JSON = "Content-Type: application/json"


def told(seen: Seen) -> str:
    """All of a request in one line, as far as a header can carry it."""
    return f"{seen.target} {seen.headers!r} {seen.body!r}"


def echo_json(seen: Seen, _writer: object) -> bytes:
    body = {"message": f"no {told(seen)}", "error": dict(seen.headers), "url": seen.target}
    return answer(400, json.dumps(body).encode(), JSON)


def echo_encoded(seen: Seen, _writer: object) -> bytes:
    return answer(500, gzip.compress(told(seen).encode()), "Content-Encoding: gzip", "Content-Type: text/plain")


PLACES: dict[str, Handler] = {
    "json": echo_json,
    "gzip": echo_encoded,
    "success": lambda seen, _: answer(200, told(seen).encode(), f"X-Echo: {told(seen)}", "Content-Type: text/plain"),
    "cut": lambda seen, _: answer(200, b"x" * 990 + told(seen).encode(), "Content-Type: text/plain"),
    "url encoded": lambda seen, _: answer(
        401, quote(told(seen)).encode(), f"WWW-Authenticate: Bearer realm={quote(told(seen))}"
    ),
    "location": lambda seen, _: answer(302, b"", f"Location: http://other.test{seen.target}&{quote(told(seen))}"),
    "location of nobody": lambda seen, _: answer(302, b"", f"Location: {told(seen)}"),
    "status line": lambda seen, _: f"HTTP/1.1 {told(seen)}\r\n\r\nConnection: close".encode("latin-1"),
    "no HTTP": lambda seen, _: f"{told(seen)}\r\n\r\nConnection: close".encode("latin-1"),
    "bad header": lambda seen, _: f"HTTP/1.1 200 OK\r\n{told(seen)}\r\n\r\nConnection: close".encode("latin-1"),
    "encoding": lambda seen, _: answer(200, b"x", f"Content-Encoding: {told(seen)}"),
    "rate limit": lambda seen, _: answer(
        429, told(seen).encode(), f"X-RateLimit-Resource: {told(seen)}", "Retry-After: 9999"
    ),
    "media type": lambda seen, _: answer(400, b"x", f"Content-Type: {told(seen)}"),
    "silence": lambda _seen, _: b"Connection: close",
}
SECRET = Secret.literal(CANARY)
CREDENTIALS: dict[str, Credential] = {
    "bearer": SECRET,
    "basic": Basic("me", SECRET),
    "query": ApiKey("key", SECRET, "query"),
    "cookie": ApiKey("sid", Secret.literal("canary-d00d-cookie"), "cookie"),
    "header": ApiKey("X-Key", SECRET, prefix="Key "),
}


async def texts(handler: Handler, given: Credential) -> str:
    """Everything that anybody could see of one call."""
    limits, retries = Limits(body_bytes=1000, total_s=10), Retries(pause=Pauses())
    async with (
        loopback(handler) as server,
        client(server.url(), "http://other.test", limits=limits, retries=retries) as egress,
    ):
        auth = Auth.over(egress, Wallet(default=given), Destinations.parse([server.url()]))
        plan = RequestPlan("things.list", "GET", server.url(""), "/things", (("q", "1"),))
        seen: list[object] = [auth, given, plan, shown(plan, auth), await auth.attach(plan), egress]
        try:
            response = await send(plan, egress, auth, 10)
            seen += [response, response.content, response.headers]
        except CallError as error:
            seen += [error, error.message, error.data, error.hint, *traceback.format_exception(error)]
        assert server.seen
        assert any(
            fragment in told(server.seen[0]) or fragment in quote(told(server.seen[0])) for fragment in FRAGMENTS
        )
        return "\n".join(f"{each} {each!r}" for each in seen)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("credential", CREDENTIALS)
def test_nothing_of_a_credential_comes_back(place: str, credential: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        text = asyncio.run(texts(PLACES[place], CREDENTIALS[credential]))
    assert [fragment for fragment in FRAGMENTS if fragment in text] == []
    assert [fragment for fragment in FRAGMENTS if fragment in caplog.text] == []


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_an_oauth_client_comes_back(place: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> str:
        retries = Retries(pause=Pauses())
        async with (
            loopback(PLACES[place]) as server,
            client(server.url(), "http://other.test", retries=retries) as egress,
        ):
            given = OAuthClient(
                "id", SECRET, server.url("/token?q=1"), refresh_token=Secret.literal("canary-d00d-refresh")
            )
            auth = Auth.over(egress, Wallet(default=given), Destinations.parse([server.url()]))
            with pytest.raises(CallError) as caught:
                await send(RequestPlan("things.list", "GET", server.url(""), "/things"), egress, auth, 10)
            error = caught.value
            return f"{given!r} {auth!r} {error.message} {error.data!r} {error.hint} {''.join(traceback.format_exception(error))}"

    with caplog.at_level(logging.DEBUG):
        text = asyncio.run(main())
    assert [fragment for fragment in FRAGMENTS if fragment in text] == []
    assert [fragment for fragment in FRAGMENTS if fragment in caplog.text] == []


@pytest.mark.parametrize("bad", ["line\nbreak", "caf\u00e9\u2603", "nul\x00"])
def test_a_credential_that_cannot_be_sent_is_not_shown(bad: str) -> None:
    value = f"canary-d00d-{bad}"

    async def main() -> str:
        async with client("http://api.test", names=Names()) as egress:
            return await failing(egress, value)

    text = asyncio.run(main())
    assert "canary-d00d" not in text


async def failing(egress: Egress, value: str) -> str:
    auth = Auth.over(
        egress, Wallet(default=Secret.of(lambda: value)), Destinations.parse(["http://api.test"]), cleartext=True
    )
    with pytest.raises(CallError) as caught:
        await send(RequestPlan("things.list", "GET", "http://api.test", "/things"), egress, auth, 10)
    return "".join(traceback.format_exception(caught.value))


def test_a_request_shows_its_names_only() -> None:
    from isolith_bindings.egress import Attachment

    carried = Attachment((("Authorization", CANARY),), (("key", CANARY),), (("sid", CANARY),), secrets=(CANARY,))
    text = repr(Request("POST", "https://api.test", attachment=carried, content=CANARY.encode()))
    assert "canary" not in text
    assert "Attachment(Authorization, key, sid)" in text
