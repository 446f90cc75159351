from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.bindings.egress.loopback import Handler, Pauses, Seen, answer, client, loopback, nobody

from isolith_bindings.egress import Limits, RateLimit, Request, Response, Retries, rate_limit
from isolith_bindings.errors import CallError


def in_turn(*answers: bytes) -> Handler:
    """Each answer once, the last one for ever; an empty one closes the connection."""
    left = list(answers)
    return lambda _seen, _writer: left.pop(0) if len(left) > 1 else left[0]


async def sent(
    handler: Handler, request: Request, *, attempts: int = 3
) -> tuple[Response | CallError, list[Seen], list[float]]:
    pauses = Pauses()
    retries = Retries(attempts=attempts, pause=pauses)
    async with loopback(handler) as server, client(server.url(), retries=retries) as egress:
        there = replace(request, url=server.url())
        try:
            return await egress.send(there), server.seen, pauses.taken
        except CallError as error:
            return error, server.seen, pauses.taken


OK, BUSY, LIMITED, SOON = answer(200), answer(503), answer(429), answer(429, b"", "Retry-After: 2")
GET, POST = Request("GET", ""), Request("POST", "", content=b"x")
PAID = Request("POST", "", (("Idempotency-Key", "k"),), b"x")


@pytest.mark.parametrize(
    ("request_", "answers", "status", "requests", "pauses"),
    [
        (GET, [OK], 200, 1, []),
        (GET, [BUSY, OK], 200, 2, [0.5]),
        (GET, [BUSY, BUSY, OK], 200, 3, [0.5, 1.0]),
        (GET, [BUSY], 503, 3, [0.5, 1.0]),
        (GET, [answer(502), OK], 200, 2, [0.5]),
        (GET, [answer(504), OK], 200, 2, [0.5]),
        (GET, [answer(500)], 500, 1, []),
        (GET, [answer(404)], 404, 1, []),
        (GET, [answer(403)], 403, 1, []),
        (Request("DELETE", ""), [BUSY, OK], 200, 2, [0.5]),
        (Request("PUT", "", content=b"x"), [BUSY, OK], 200, 2, [0.5]),
        (POST, [BUSY], 503, 1, []),
        (POST, [answer(503, b"", "Retry-After: 1")], 503, 1, []),
        (POST, [answer(502)], 502, 1, []),
        (POST, [LIMITED], 429, 1, []),
        (POST, [SOON, OK], 200, 2, [2.0]),
        (Request("PATCH", "", content=b"x"), [BUSY], 503, 1, []),
        (PAID, [BUSY, OK], 200, 2, [0.5]),
        (Request("POST", "", content=b"x", idempotent=True), [BUSY, OK], 200, 2, [0.5]),
        (Request("GET", "", idempotent=False), [BUSY], 503, 1, []),
        (GET, [SOON, OK], 200, 2, [2.0]),
        (GET, [answer(429, b"", "Retry-After: 0"), OK], 200, 2, [0.0]),
        (GET, [answer(429, b"", "Retry-After: 3600")], 429, 1, []),
        (GET, [answer(503, b"", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"), OK], 200, 2, [0.0]),
        (GET, [answer(503, b"", "Retry-After: soon"), OK], 200, 2, [0.5]),
        (GET, [answer(503, b"", "Retry-After: -5"), OK], 200, 2, [0.5]),
        (GET, [answer(403, b"", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 3"), OK], 200, 2, [3.0]),
        (GET, [answer(403, b"", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 99999999999")], 403, 1, []),
        (GET, [answer(403, b"", "X-RateLimit-Remaining: 5", "X-RateLimit-Reset: 3")], 403, 1, []),
    ],
)
def test_what_is_sent_again_and_when(
    request_: Request, answers: list[bytes], status: int, requests: int, pauses: list[float]
) -> None:
    response, seen, taken = asyncio.run(sent(in_turn(*answers), request_))
    assert isinstance(response, Response)
    assert (response.status, len(seen), taken) == (status, requests, pauses)
    assert (response.attempts, response.waited_s) == (requests, sum(pauses))
    assert {(each.method, each.body) for each in seen} == {(request_.method, request_.content)}


@pytest.mark.parametrize(("request_", "requests"), [(GET, 2), (PAID, 2), (POST, 1), (Request("PATCH", ""), 1)])
def test_after_a_broken_connection_only_what_is_safe_is_sent_again(request_: Request, requests: int) -> None:
    response, seen, _ = asyncio.run(sent(in_turn(b"Connection: close", OK), request_))
    assert len(seen) == requests
    assert isinstance(response, Response if requests == 2 else CallError)


def test_what_was_never_sent_is_tried_again_whatever_it_is() -> None:
    async def main() -> tuple[CallError, list[float]]:
        pauses = Pauses()
        with nobody() as port:
            async with client(f"http://127.0.0.1:{port}", retries=Retries(pause=pauses)) as egress:
                with pytest.raises(CallError) as caught:
                    await egress.send(Request("POST", f"http://127.0.0.1:{port}/", content=b"x"))
                return caught.value, pauses.taken

    error, taken = asyncio.run(main())
    assert error.retriable
    assert taken == [0.5, 1.0]


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (in_turn(SOON, OK), "answered 429 (come back in 2 s): sent again in 2 s"),
        (
            in_turn(answer(429, b"", "RateLimit-Remaining: 0", "RateLimit-Limit: 60", "RateLimit-Reset: 3"), OK),
            "answered 429 (0 of 60 requests are left, come back in 3 s): sent again in 3 s",
        ),
        (in_turn(BUSY, OK), "answered 503: sent again in 0.5 s"),
        (in_turn(b"", OK), "gave no answer: sent again in 0.5 s"),
    ],
)
def test_each_pause_is_told_before_it_begins(handler: Handler, told: str) -> None:
    async def main() -> None:
        lines: list[str] = []

        async def pause(wait_s: float) -> None:
            lines.append(f"waited {wait_s:g} s")

        async with loopback(handler) as server, client(server.url(), retries=Retries(pause=pause)) as egress:
            response = await egress.send(Request("GET", server.url()), tell=lines.append)
            assert (response.status, response.attempts) == (200, 2)
            assert len(lines) == 2
            assert lines[0].startswith("http://")
            assert lines[0].endswith(told)
            assert lines[1].startswith("waited ")

    asyncio.run(main())


def test_pauses_are_within_the_time_of_the_call() -> None:
    async def main() -> CallError:
        handler, limits = in_turn(answer(503, b"", "Retry-After: 9")), Limits(total_s=0.3)
        async with loopback(handler) as server, client(server.url(), retries=Retries(), limits=limits) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("GET", server.url()))
            return caught.value

    assert asyncio.run(main()).kind == "tool_timeout"


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected", "said"),
    [
        ({}, RateLimit(), ""),
        ({"X-RateLimit-Remaining": "12", "X-RateLimit-Limit": "60"}, RateLimit(12, 60), "12 of 60 requests are left"),
        (
            {"ratelimit-remaining": "0", "ratelimit-reset": "30"},
            RateLimit(0, None, 30.0),
            "0 requests are left, come back in 30 s",
        ),
        (
            {"X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "1700000090"},
            RateLimit(0, None, 90.0),
            "0 requests are left, come back in 90 s",
        ),
        ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1700000090"}, RateLimit(5), "5 requests are left"),
        ({"Retry-After": "120"}, RateLimit(again_in_s=120.0), "come back in 120 s"),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:50 GMT"}, RateLimit(again_in_s=30.0), "come back in 30 s"),
        (
            {"RateLimit-Limit": "100, 100;w=60", "RateLimit-Remaining": "7;x=1"},
            RateLimit(7, 100),
            "7 of 100 requests are left",
        ),
        ({"Retry-After": "2.5"}, RateLimit(again_in_s=2.5), "come back in 3 s"),
        (
            {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000090.5", "X-RateLimit-Reset-After": "1.25"},
            RateLimit(0, None, 1.25),
            "0 requests are left, come back in 2 s",
        ),
        (
            {"RateLimit": '"day";r=9;t=7000, "burst";r=0;t=4', "RateLimit-Policy": '"burst";q=5;w=10'},
            RateLimit(0, None, 4.0),
            "0 requests are left, come back in 4 s",
        ),
        ({"RateLimit": '"day";r=9'}, RateLimit(9), "9 requests are left"),
        (
            {"RateLimit": "limit=100, remaining=0, reset=30"},
            RateLimit(0, 100, 30.0),
            "0 of 100 requests are left, come back in 30 s",
        ),
        ({"RateLimit": "r=1.5;t=x, remaining=, ;;"}, RateLimit(1), "1 requests are left"),
        ({"Retry-After": "1.2.3", "RateLimit": "r=" + "9" * 13}, RateLimit(), ""),
        ({"Retry-After": "9" * 400, "X-RateLimit-Remaining": "\u00b2", "X-RateLimit-Limit": "-1"}, RateLimit(), ""),
        ({"Retry-After": "Fri, 99 Foo 99999 99:99:99 GMT"}, RateLimit(), ""),
    ],
)
def test_what_a_server_says_of_its_limit(headers: dict[str, str], expected: RateLimit, said: str) -> None:
    response = Response(429, tuple(headers.items()), b"", truncated=False, url="")
    assert rate_limit(response, NOW) == expected
    assert str(expected) == said
