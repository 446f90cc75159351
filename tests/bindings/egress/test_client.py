from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme
from tests.bindings.egress.loopback import Loopback, Names, Seen, always, client, loopback, nobody

from isolith_bindings.egress import Attachment, Limits, Refused, Request, Response
from isolith_bindings.errors import CallError


async def fetched(server: Loopback, request: Request | None = None) -> Response:
    async with client(server.url()) as egress:
        return await egress.send(request or Request("GET", server.url("/x?y=1")))


def test_a_request_and_its_answer() -> None:
    async def main() -> tuple[Response, Seen]:
        async with loopback(always(201, b"made", "X-Id: 7", "Set-Cookie: a=1", "Set-Cookie: b=2")) as server:
            request = Request("POST", server.url("/x?y=1"), (("Accept", "text/plain"),), b"body", cookies=(("k", "v"),))
            return await fetched(server, request), server.seen[0]

    response, seen = asyncio.run(main())
    assert (response.status, response.content, response.truncated, response.header("x-id")) == (
        201,
        b"made",
        False,
        "7",
    )
    assert response.all("set-cookie") == ["a=1", "b=2"]
    assert (seen.method, seen.target, seen.body) == ("POST", "/x?y=1", b"body")
    names = [name.lower() for name, _ in seen.headers]
    assert sorted(names) == ["accept", "accept-encoding", "content-length", "cookie", "host", "user-agent"]
    assert seen.header("cookie") == "k=v"


def test_credentials_go_where_they_belong() -> None:
    async def main() -> tuple[Response, Seen]:
        async with loopback() as server:
            attachment = Attachment((("Authorization", "Bearer t0ken"),), (("key", "k%26y"),), (("sid", "s3ssion"),))
            return await fetched(server, Request("GET", server.url("/x?y=1"), attachment=attachment)), server.seen[0]

    response, seen = asyncio.run(main())
    assert seen.target == "/x?y=1&key=k%26y"
    assert (seen.header("authorization"), seen.header("cookie")) == ("Bearer t0ken", "sid=s3ssion")
    assert "k%26y" not in response.url


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_an_answer_without_a_body_may_say_how_one_would_be_encoded(method: str, status: int) -> None:
    async def main() -> Response:
        async with loopback(always(status, b"", "Content-Encoding: gzip")) as server:
            return await fetched(server, Request(method, server.url()))

    response = asyncio.run(main())
    assert (response.status, response.content) == (status, b"")


def test_when_all_connections_are_taken_nothing_was_sent() -> None:
    async def main() -> CallError:
        async with loopback(silent) as server:
            limits = Limits(connections=1, total_s=300, idle_s=300)
            async with client(server.url(), limits=limits) as egress:
                taken = asyncio.create_task(egress.send(Request("GET", server.url())))
                while not server.seen:
                    await asyncio.sleep(0)
                with pytest.raises(CallError) as caught:
                    await egress.send(Request("POST", server.url()), total_s=0.2)
                taken.cancel()
                await asyncio.gather(taken, return_exceptions=True)
                assert len(server.seen) == 1
                return caught.value

    assert asyncio.run(main()).kind == "tool_timeout"


def test_connections_are_used_again() -> None:
    connections: list[object] = []

    def handler(seen: Seen, writer: asyncio.StreamWriter) -> bytes:
        connections.append(writer)
        return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    async def main() -> None:
        async with loopback(handler) as server, client(server.url()) as egress:
            for _ in range(3):
                await egress.send(Request("GET", server.url()))

    asyncio.run(main())
    assert len(connections) == 3
    assert len(set(map(id, connections))) == 1


@pytest.mark.parametrize(
    "url",
    ["http://other.test/", "https://127.0.0.1/", "http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data"],
)
def test_another_host_is_refused_before_anything_is_resolved(url: str) -> None:
    async def main() -> Names:
        names = Names()
        async with client("http://127.0.0.1:8000", names=names) as egress:
            with pytest.raises(
                Refused, match=r"is not a host that this connector may reach; allowed: http://127.0.0.1:8000"
            ):
                await egress.send(Request("GET", url))
        return names

    assert asyncio.run(main()).asked == []


INJECTED = [
    Request("GET", "http://a.test/", (("X-A", "1\r\nX-B: 2"),)),
    Request("GET", "http://a.test/", (("X-A", "1\nX-B: 2"),)),
    Request("GET", "http://a.test/", (("X-A", "1\x00"),)),
    Request("GET", "http://a.test/", (("X-A: 1\r\nX-B", "2"),)),
    Request("GET", "http://a.test/", (("X A", "2"),)),
    Request("GET", "http://a.test/", (("", "2"),)),
    Request("GET", "http://a.test/", (("X-A", "snow\u2603"),)),
    Request("GET", "http://a.test/", (("Host", "evil.test"),)),
    Request("POST", "http://a.test/", (("Content-Length", "0"),), b"GET /admin HTTP/1.1\r\n\r\n"),
    Request("POST", "http://a.test/", (("Transfer-Encoding", "chunked"),), b"0\r\n\r\n"),
    Request("GET", "http://a.test/", (("Connection", "Upgrade"),)),
    Request("GET", "http://a.test/", cookies=(("a", "1; admin=1"),)),
    Request("GET", "http://a.test/", cookies=(("a=1; b", "1"),)),
    Request("GET", "http://a.test/", cookies=(("a", "1\r\nX-B: 2"),)),
    Request("GET", "http://a.test/", attachment=Attachment((("X-A", "1\r\nX-B: 2"),))),
    Request("GET /admin HTTP/1.1\r\nX:", "http://a.test/"),
    Request("", "http://a.test/"),
    Request("GET", "http://a.test/ HTTP/1.1\r\nX-B: 2\r\n\r\n"),
    Request("GET", "http://a.test/?a=\r\nX-B:2"),
    Request("GET", "http://a.test/../admin"),
]


@pytest.mark.parametrize("request_", INJECTED, ids=range(len(INJECTED)))
def test_what_would_be_another_header_or_request_is_never_sent(request_: Request) -> None:
    async def main() -> Names:
        names = Names()
        async with client("http://a.test", names=names) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(request_)
        assert caught.value.kind == "invalid_arguments"
        return names

    assert asyncio.run(main()).asked == []


def test_a_body_that_is_too_long_is_not_sent() -> None:
    async def main() -> None:
        async with client("http://a.test", limits=Limits(request_bytes=10)) as egress:
            with pytest.raises(CallError, match="longer than 10 bytes"):
                await egress.send(Request("POST", "http://a.test/", content=b"x" * 11))

    asyncio.run(main())


async def dribble(seen: Seen, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def silent(seen: Seen, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("limits", [Limits(total_s=3), Limits(idle_s=3)], ids=["in all", "between bytes"])
def test_a_server_that_says_nothing_ends_as_a_timeout(limits: Limits) -> None:
    # Long enough for the request to be sent on a busy machine: one that was not may be tried again.
    async def main() -> CallError:
        async with loopback(silent) as server, client(server.url(), limits=limits) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("POST", server.url()))
            return caught.value

    error = asyncio.run(main())
    assert (error.kind, error.exception, error.retriable) == ("tool_timeout", "TimeoutError", False)


def test_a_server_that_never_ends_is_left_in_time() -> None:
    async def main() -> CallError:
        async with loopback(dribble) as server, client(server.url()) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("GET", server.url()), total_s=2)
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "tool_timeout"
    assert "gave no complete answer within 2 s" in error.message


def test_of_a_body_without_end_its_beginning_is_kept() -> None:
    async def endless(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            await writer.drain()

    async def main() -> Response:
        async with loopback(endless) as server, client(server.url(), limits=Limits(body_bytes=100_000)) as egress:
            return await egress.send(Request("GET", server.url()))

    response = asyncio.run(main())
    assert response.truncated
    assert response.content == b"x" * 100_000


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000,
    ],
    ids=["nothing", "another protocol", "cut", "no status", "negative", "two lengths", "bad chunk", "endless header"],
)  # fmt: skip
def test_what_is_not_http_is_an_error_of_the_server(raw: bytes) -> None:
    async def say(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    async def main() -> CallError:
        async with loopback(say) as server, client(server.url()) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("POST", server.url()))
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "tool_unavailable"
    assert error.hint == "the server may have acted on it: look before you repeat it"
    assert not error.retriable


def test_a_host_that_does_not_answer_is_unavailable() -> None:
    async def main() -> CallError:
        with nobody() as port:
            async with client(f"http://127.0.0.1:{port}") as egress:
                with pytest.raises(CallError) as caught:
                    await egress.send(Request("POST", f"http://127.0.0.1:{port}/"))
                return caught.value

    error = asyncio.run(main())
    assert (error.kind, error.exception, error.retriable) == ("tool_unavailable", "ConnectionError", True)
    assert "cannot connect" in error.message


def test_a_cancelled_call_lets_go_of_its_connection() -> None:
    async def main() -> None:
        arrived, gone = asyncio.Event(), asyncio.Event()

        async def handler(seen: Seen, writer: asyncio.StreamWriter) -> None:
            arrived.set()
            try:
                await dribble(seen, writer)
            finally:
                gone.set()

        async with loopback(handler) as server, client(server.url()) as egress:
            call = asyncio.create_task(egress.send(Request("GET", server.url())))
            await arrived.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            async with asyncio.timeout(240):
                await gone.wait()

    asyncio.run(main())


def contexts(name: str, *, client_ca: trustme.CA | None = None) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """One of a server with a certificate for that name, and one that trusts it."""
    authority = trustme.CA()
    serving, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(name).configure_cert(serving)
    authority.configure_trust(trusting)
    if client_ca is not None:
        serving.verify_mode = ssl.CERT_REQUIRED
        client_ca.configure_trust(serving)
    return serving, trusting


def test_tls_asks_for_the_name_and_checks_it() -> None:
    serving, trusting = contexts("api.test")

    async def main() -> tuple[list[str | None], str | None, CallError]:
        async with loopback(tls=serving) as server:
            async with client(server.url(host="api.test"), server.url(host="other.test"), tls=trusting) as egress:
                await egress.send(Request("GET", server.url(host="api.test")))
                with pytest.raises(CallError) as caught:
                    await egress.send(Request("GET", server.url(host="other.test")))
            return server.server_names, server.seen[0].header("host"), caught.value

    names, host, error = asyncio.run(main())
    assert names == ["api.test", "other.test"]
    assert host is not None
    assert host.startswith("api.test:")
    assert error.kind == "tool_unavailable"
    assert "certificate" in error.message


def test_a_certificate_of_nobody_is_not_trusted() -> None:
    serving, _ = contexts("api.test")

    async def main() -> tuple[CallError, list[Seen]]:
        async with loopback(tls=serving) as server, client(server.url(host="api.test")) as egress:
            with pytest.raises(CallError) as caught:
                await egress.send(Request("GET", server.url(host="api.test")))
            return caught.value, server.seen

    error, seen = asyncio.run(main())
    assert "certificate" in error.message
    assert seen == []


def test_a_client_certificate_is_not_shared_with_requests_that_have_none() -> None:
    people = trustme.CA()
    serving, trusting = contexts("api.test", client_ca=people)
    mine = ssl.create_default_context()
    mine.load_verify_locations(
        cadata="\n".join(ssl.DER_cert_to_PEM_cert(each) for each in trusting.get_ca_certs(binary_form=True))
    )
    people.issue_cert("someone.test").configure_cert(mine)

    async def main() -> tuple[int, CallError, int]:
        async with loopback(tls=serving) as server, client(server.url(host="api.test"), tls=trusting) as egress:
            url = server.url(host="api.test")
            response = await egress.send(Request("GET", url, attachment=Attachment(tls=mine)))
            with pytest.raises(CallError) as caught:
                await egress.send(Request("GET", url))
            return response.status, caught.value, len(server.seen)

    status, error, seen = asyncio.run(main())
    assert (status, seen) == (200, 1)
    assert error.kind == "tool_unavailable"


def test_environment_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    async def main() -> bytes:
        async with loopback() as server:
            return (await fetched(server)).content

    assert asyncio.run(main()) == b"ok"
