"""The web server on a real socket: slow and malformed heads, a thousand connections' worth of limits, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING

import pytest
from tests.host.http.conftest import serving

from isolith.http import server

if TYPE_CHECKING:
    from tests.host.http.conftest import Api

pytestmark = pytest.mark.anyio


async def sent(port: int, content: bytes) -> bytes:
    """What is answered until the connection is closed; the client never ends it.

    A server that closes before it has read everything resets the connection, behind its answer: how much it reads at a
    time is the system's to say. The streams of asyncio would keep nothing of what came before.
    """
    loop, came = asyncio.get_running_loop(), b""
    with socket.socket() as client:
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", port))
        with contextlib.suppress(ConnectionError):
            await loop.sock_sendall(client, content)
        with contextlib.suppress(ConnectionError):
            while piece := await loop.sock_recv(client, 65_536):
                came += piece
    return came


async def test_a_head_that_never_ends_is_not_waited_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(api) as (_, port):
        with monkeypatch.context() as patched:
            patched.setattr(server, "HEAD_S", 0.05)
            assert await sent(port, b"") == b""
            assert await sent(port, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1") == b""
        last = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        assert b'"status": "ok"' in await sent(port, last)


MALFORMED = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    "a head without end": b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000,
    "two lengths": b"POST /v1/executions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
    "a length and chunks": b"POST /v1/executions HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a name with a space": b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_no_request_is_refused_and_the_connection_closed(api: Api, name: str) -> None:
    async with serving(api) as (_, port):
        assert (await sent(port, MALFORMED[name])).startswith(b"HTTP/1.1 400 ")


async def test_at_its_end_streams_end_and_nothing_new_begins(api: Api) -> None:
    begun = await api.run("await bank.wait()", wait_s=0)
    await api.bank.asked.wait()
    async with serving(api) as (web, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        path = f"/v1/executions/{begun['execution_id']}/events"
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {api.tokens['ada']}\r\n\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"call_started")
        web.stop()
        await reader.read()  # to its end
        writer.close()
    kept = await (await api.code_mode.runs()).outcome(begun["execution_id"])
    assert kept.status == "running"  # left to the next host
