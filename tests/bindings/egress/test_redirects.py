from __future__ import annotations

import asyncio

import pytest
from tests.bindings.egress.loopback import Loopback, Names, always, client, loopback

from isolith_bindings.egress import Attachment, Limits, Refused, Request, Response
from isolith_bindings.secrets import remember

CANARY = "canary-7c1e-redirected"
CARRIED = Attachment(
    (("Authorization", f"Bearer {CANARY}"), ("X-Api-Key", CANARY)), (("key", CANARY),), (("sid", CANARY),)
)


def sent(request: Request, server: Loopback) -> Request:
    return Request(request.method, server.url("/start"), request.headers, request.content, request.cookies, CARRIED)


async def between(status: int, request: Request, target: str = "/end") -> tuple[Response, Loopback, Loopback]:
    """A redirect from one allowed origin to another."""
    async with loopback() as first, loopback() as second:
        first.paths["/start"] = always(status, b"", f"Location: {second.url(target, host='other.test')}")
        async with client(first.url(), second.url(host="other.test")) as egress:
            return await egress.send(sent(request, first)), first, second


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_credential_goes_to_another_origin(status: int) -> None:
    headers = (("Accept", "text/x"), ("X-Session", "of the caller"), ("Cookie2", "c"), ("User-Agent", "me"))
    response, first, second = asyncio.run(between(status, Request("GET", "", headers, cookies=(("c", "1"),))))
    assert (response.status, response.url) == (200, second.url("/end", host="other.test"))
    assert CANARY in str(first.seen)
    assert CANARY not in str(second.seen)
    assert sorted(name.lower() for name, _ in second.seen[0].headers) == [
        "accept",
        "accept-encoding",
        "host",
        "user-agent",
    ]
    assert second.seen[0].target == "/end"


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_body_goes_to_another_origin(status: int, method: str) -> None:
    with pytest.raises(Refused, match="its body is not sent there"):
        asyncio.run(between(status, Request(method, "", content=b"private")))


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"),
        (307, "POST", "POST"), (308, "PATCH", "PATCH"), (302, "GET", "GET"),
    ],
)  # fmt: skip
def test_within_an_origin_a_redirect_is_followed_as_http_says(status: int, method: str, then: str) -> None:
    async def main() -> Loopback:
        async with loopback() as server, client(server.url()) as egress:
            server.paths["/start"] = always(status, b"", "Location: end?x=1#fragment")
            content = b"" if method in {"GET", "HEAD"} else b"body"
            await egress.send(sent(Request(method, "", (("Content-Type", "text/plain"),), content), server))
            return server

    second = asyncio.run(main()).seen[1]
    assert (second.method, second.target) == (then, f"/end?x=1&key={CANARY}")
    assert second.header("authorization") == f"Bearer {CANARY}"
    assert second.body == (b"body" if then == method and then not in {"GET", "HEAD"} else b"")
    assert (second.header("content-type") is None) == (then == "GET" and method not in {"GET", "HEAD"})


TARGETS = {
    "another host": "http://evil.test/",
    "another port": "http://127.0.0.1:1/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "another scheme": "file:///etc/passwd",
    "script": "javascript:alert(1)",
    "user information": "http://user@127.0.0.1/",
    "upward": "/a/%2e%2e/b",
    "header": "/x\tX-Evil:1",
    "host relative": "//evil.test/x",
    "backslash": "/\\evil.test/x",
    "not a URL": "http://[::1",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_redirect_elsewhere_is_refused(target: str) -> None:
    async def main() -> None:
        names = Names()
        async with loopback() as server, client(server.url(), names=names) as egress:
            server.paths["/start"] = always(302, b"", f"Location: {target}")
            with pytest.raises(Refused):
                await egress.send(sent(Request("GET", ""), server))
            assert len(server.seen) == 1
        assert set(names.asked) == {"127.0.0.1"}

    asyncio.run(main())


def test_a_redirect_that_would_tell_the_credential_is_refused() -> None:
    remember(CANARY)
    with pytest.raises(Refused, match="would carry a credential") as caught:
        asyncio.run(between(302, Request("GET", ""), f"/end?key={CANARY}"))
    assert CANARY not in str(caught.value)


def test_a_name_of_an_allowed_redirect_is_resolved_and_checked_too() -> None:
    async def main() -> None:
        async with loopback() as server:
            names = Names({"inside.test": [["10.0.0.1"]]})
            async with client(server.url(), "http://inside.test", names=names) as egress:
                server.paths["/start"] = always(302, b"", "Location: http://inside.test/")
                with pytest.raises(Refused, match="leads to a private"):
                    await egress.send(sent(Request("GET", ""), server))

    asyncio.run(main())


def test_from_https_to_http_is_refused() -> None:
    from isolith_bindings.egress.redirects import onward

    response = Response(302, (("Location", "http://api.test/"),), b"", truncated=False, url="https://api.test/")
    with pytest.raises(Refused, match="which is not encrypted"):
        onward(Request("GET", "https://api.test/"), response)


def test_a_circle_ends() -> None:
    async def main() -> int:
        async with loopback(always(302, b"", "Location: /again")) as server:
            async with client(server.url(), limits=Limits(redirects=3)) as egress:
                with pytest.raises(Refused, match="redirected more than 3 times"):
                    await egress.send(Request("GET", server.url()))
            return len(server.seen)

    assert asyncio.run(main()) == 4


@pytest.mark.parametrize(
    ("status", "headers"), [(302, ()), (304, ("Location: /x",)), (300, ("Location: /x",)), (201, ("Location: /x",))]
)
def test_what_is_no_redirect_is_an_answer(status: int, headers: tuple[str, ...]) -> None:
    async def main() -> tuple[int, int]:
        async with loopback(always(status, b"", *headers)) as server, client(server.url()) as egress:
            return (await egress.send(Request("GET", server.url()))).status, len(server.seen)

    assert asyncio.run(main()) == (status, 1)
