"""What no client of MCP would send to `/mcp`: each gets its status, runs nothing, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.host.http.conftest import app_of, journal_of, serving

from isolith.http import bodies
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = {**JSON, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "execute"}
META: dict[str, object] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL: dict[str, object] = {"name": "execute", "arguments": {"code": "1"}, "_meta": META}
RUN: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
FLAT = json.dumps({**RUN, "params": {**CALL, "_meta": {**META, "deep": "HERE"}}}).encode()
DEEP = FLAT.replace(b'"HERE"', b"[" * 1500 + b"]" * 1500)
OLD = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "execute", "arguments": {"code": "1"}}}


@pytest.fixture
async def host(opened: Opened) -> Api:
    api = await opened()
    api.app = app_of(api.code_mode, None, mcp_server(api.code_mode))
    return api


async def nothing_left(api: Api) -> None:
    """No run, and no request that is still counted as under way."""
    assert (await api.get("/v1/executions", "root")).json() == {"executions": [], "next": None}
    assert api.app.house.rates.under_way("ada") == (0, 0)


def told(status: int, content: bytes | Mapping[str, object], **headers: str) -> tuple[int, bytes, dict[str, str]]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return status, body, {name.replace("_", "-"): value for name, value in headers.items()}


REQUESTS = {
    "nothing": told(400, b"", **JSON),
    "no JSON": told(400, b"{", **MODERN),
    "no UTF-8": told(400, b'{"jsonrpc": "\xff"}', **MODERN),
    "nested deeply": told(400, b"[" * 100_000 + b"]" * 100_000, **MODERN),
    "nested as deep as some Pythons read": told(400, DEEP, **MODERN),
    "no JSON-RPC": told(400, {"script": "1"}, **MODERN),
    "a list": told(400, json.dumps([RUN, RUN]).encode(), **MODERN),
    "without what each request says": told(400, {**RUN, "params": {**CALL, "_meta": {}}}, **MODERN),
    "another name in the head": told(400, RUN, **{**MODERN, "Mcp-Name": "search"}),
    "another method in the head": told(400, RUN, **{**MODERN, "Mcp-Method": "tools/list"}),
    "another version in the head": told(400, RUN, **{**MODERN, "MCP-Protocol-Version": "2031-01-01"}),
    "a method that is none": told(404, {**RUN, "method": "tools/none"}, **{**MODERN, "Mcp-Method": "tools/none"}),
    "a form": told(400, b"code=1", **{**MODERN, "Content-Type": "application/x-www-form-urlencoded"}),
    "an answer that nobody reads": told(406, RUN, **{**MODERN, "Accept": "image/png"}),
    "a session of nobody's": told(404, OLD, **JSON, mcp_session_id="0" * 32),
    "before a handshake": told(400, OLD, **JSON),
    "asked for elsewhere": told(421, RUN, **MODERN, Host="rebound.example"),
    "from another page": told(403, RUN, **MODERN, Origin="https://evil.example"),
    "from nowhere": told(403, RUN, **MODERN, Origin="null"),
}


async def test_requests(host: Api) -> None:
    async with serving(host) as (_, port), httpx2.AsyncClient(timeout=240) as http:
        for name, (status, content, headers) in REQUESTS.items():
            mine = {"Authorization": f"Bearer {host.tokens['ada']}", **headers}
            answer = await http.post(f"http://127.0.0.1:{port}/mcp", content=content, headers=mine)
            assert answer.status_code == status, (name, answer.text)
            assert "Traceback" not in answer.text, name
            await nothing_left(host)


async def test_paths(host: Api) -> None:
    body = json.dumps(RUN)
    head = {**MODERN, "Host": "127.0.0.1", "Authorization": f"Bearer {host.tokens['ada']}", "Connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    async with serving(host) as (_, port):
        for path in ("/mcp/", "//mcp", "/MCP", "/mcp%2f", "/mcp/..", "/x/../mcp", "/mcp;a", "/mcp%00", "/mcp/execute"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"POST {path} HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 404 "), (path, answer[:200])
            await nothing_left(host)


async def test_methods(host: Api) -> None:
    async with serving(host) as (_, port), httpx2.AsyncClient(timeout=240) as http:
        mine = {"Authorization": f"Bearer {host.tokens['ada']}", **MODERN}
        for method in ("PUT", "PATCH", "TRACE", "OPTIONS", "FROB"):
            answer = await http.request(method, f"http://127.0.0.1:{port}/mcp", headers=mine)
            assert answer.status_code == 405, method
        await nothing_left(host)


async def test_tokens_used_again_and_tokens_of_nobody(host: Api) -> None:
    good = host.tokens["ada"]
    async with serving(host) as (_, port), httpx2.AsyncClient(timeout=240) as http:
        url = f"http://127.0.0.1:{port}/mcp"
        listed = {**RUN, "method": "tools/list", "params": {"_meta": META}}
        head = {**JSON, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        last = await http.post(url, json=listed, headers={**head, "Authorization": f"Bearer {good}"})
        assert last.status_code == 200
        await (await journal_of(host.code_mode)).tokens.revoke(good.split("_")[1], "a test")
        for token in (good, good[:-1], f"{good}0", "x", "x" * 9_000):
            answer = await http.post(url, json=RUN, headers={**MODERN, "Authorization": f"Bearer {token}"})
            assert answer.status_code == 401, token
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert (await http.post(url, json=RUN, headers=MODERN)).status_code == 401
        await nothing_left(host)


async def test_a_body_is_read_no_further_than_it_may_be_and_not_waited_for(
    host: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        while not gone.is_set():
            yield b" " * 65_536

    async def dripping() -> AsyncIterator[bytes]:
        yield b"{"
        await gone.wait()

    async with serving(host) as (_, port):
        for body, status in ((endless(), 413), (dripping(), 408)):
            if status == 408:
                monkeypatch.setattr(bodies, "BODY_S", 0.05)
            mine = {"Authorization": f"Bearer {host.tokens['ada']}", **MODERN}
            transport = httpx2.ASGITransport(app=host.app)
            async with httpx2.AsyncClient(transport=transport, base_url=f"http://127.0.0.1:{port}") as http:
                answer = await http.post("/mcp", content=body, headers=mine)
            assert (answer.status_code, answer.headers["connection"]) == (status, "close")
            await nothing_left(host)
    gone.set()
