"""What one principal may ask for at a time, over MCP as over the API: the same count, whichever door it comes by."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import TextContent
from tests.host.http.conftest import app_of, serving

from isolith.http import app
from isolith.http.rates import Limits
from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.server import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import CallToolResult
    from tests.host.http.conftest import Api, Opened

pytestmark = pytest.mark.anyio

Mode = Literal["2026-07-28", "legacy"]
MODES: tuple[Mode, ...] = ("2026-07-28", "legacy")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
MODERN = {
    "MCP-Protocol-Version": "2026-07-28",
    "Accept": "application/json, text/event-stream",
    "Mcp-Method": "tools/list",
}


@pytest.fixture
async def host(opened: Opened) -> Api:
    """A host with one run a principal."""
    return await with_mcp(opened, Limits(runs=1))


async def with_mcp(opened: Opened, limits: Limits, *, auth: bool = True) -> Api:
    api = await opened()
    api.app = app_of(api.code_mode, limits, mcp_server(api.code_mode), auth=auth)
    return api


@asynccontextmanager
async def client_of(api: Api, port: int, who: str, mode: Mode) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {api.tokens[who]}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=240) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def said(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_too_many_is_told_when_to_come_back(host: Api, mode: Mode) -> None:
    async with serving(host) as (_, port), client_of(host, port, "ada", mode) as ada:
        under_way = asyncio.create_task(ada.call_tool("execute", {"code": "await bank.wait()"}))
        await host.bank.asked.wait()
        refused = await ada.call_tool("execute", {"code": "1"})
        assert (refused.is_error, refused.structured_content) == (True, None)
        assert said(refused) == "denied: 1 runs are under way for this principal: ask again in 1 s"
        api = f"http://127.0.0.1:{port}/v1/executions"
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {host.tokens['ada']}"}, timeout=240) as http:
            elsewhere = await http.post(api, json={"script": "1"})
        assert (elsewhere.status_code, elsewhere.headers["retry-after"]) == (429, "1")
        async with client_of(host, port, "eve", mode) as eve:  # of each principal
            assert said(await eve.call_tool("execute", {"code": "6 * 7"})) == "42"
        host.bank.answer.set()
        assert said(await under_way) == '"waited"'
        assert said(await ada.call_tool("execute", {"code": "6 * 7"})) == "42"


async def test_a_run_of_the_api_leaves_none_for_mcp_and_gives_its_room_back(host: Api) -> None:
    async with serving(host) as (_, port), client_of(host, port, "ada", "2026-07-28") as ada:
        paused = await ada.call_tool("execute", {"code": "await bank.pay(to='Eve')"})
        assert paused.structured_content is not None  # what waits for a person has no room
        execution_id = paused.structured_content["execution_id"]
        begun = await host.run("await bank.wait()", wait_s=0)
        await host.bank.asked.wait()
        refused = await ada.call_tool("execute", {"code": "1"})
        assert "ask again in 1 s" in said(refused)
        assert "waiting" in said(await ada.call_tool("resume", {"execution_id": execution_id}))  # to look is no run
        call = paused.structured_content["pending"][0]
        runs = await host.code_mode.runs()
        await runs.decide(execution_id, call["call_id"], "approve", who="grace", digest=call["digest"], go_on=False)
        assert "ask again in 1 s" in said(await ada.call_tool("resume", {"execution_id": execution_id}))
        assert (await host.post(f"/v1/executions/{begun['execution_id']}/cancel")).json()["status"] == "cancelled"
        assert said(await ada.call_tool("resume", {"execution_id": execution_id})) == '"paid Eve 1"'
        assert said(await ada.call_tool("execute", {"code": "6 * 7"})) == "42"


async def test_a_cancelled_request_gives_its_room_back(host: Api) -> None:
    async with serving(host) as (_, port), client_of(host, port, "ada", "2026-07-28") as ada:
        call = asyncio.create_task(ada.call_tool("execute", {"code": "await bank.wait()"}))
        await host.bank.asked.wait()
        call.cancel()
        while "ask again" in (told := said(await ada.call_tool("execute", {"code": "6 * 7"}))):
            await asyncio.sleep(0.1)  # no more requests than one principal may make
        assert told == "42"


@pytest.mark.parametrize("auth", [True, False])
async def test_requests_too_many_are_429_with_when_to_come_back(opened: Opened, auth: bool) -> None:
    api = await with_mcp(opened, Limits(per_second=0.001, burst=2), auth=auth)
    async with serving(api) as (_, port), httpx2.AsyncClient(timeout=240) as http:
        token = {"Authorization": f"Bearer {api.tokens['ada']}"} if auth else {}
        url = f"http://127.0.0.1:{port}/mcp"
        answers = [await http.post(url, json=LIST, headers={**MODERN, **token}) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert 0 < int(answers[2].headers["retry-after"]) <= 1_000
    assert (answers[2].json()["kind"], answers[2].json()["retriable"]) == ("denied", True)


async def test_a_host_that_is_about_to_stop_begins_nothing(host: Api) -> None:
    async with serving(host) as (_, port), client_of(host, port, "ada", "2026-07-28") as ada:
        host.app.house.stopping.set()
        refused = await ada.call_tool("execute", {"code": "1"})
        assert said(refused) == "tool_unavailable: this host is about to stop: ask again in 2 s"


async def test_sessions_of_older_clients_end_by_themselves_and_are_bounded(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK does both, by a timer and by a count, where nobody tells it not to."""
    made: list[StreamableHTTPSessionManager] = []

    class Seen(StreamableHTTPSessionManager):
        def __init__(self, server: Server, security_settings: TransportSecuritySettings) -> None:
            super().__init__(server, security_settings=security_settings)
            made.append(self)

    monkeypatch.setattr(app, "StreamableHTTPSessionManager", Seen)
    await with_mcp(opened, Limits())
    [manager] = made
    assert manager.session_idle_timeout is not None
    assert manager.session_idle_timeout <= 1_800
    assert manager.max_sessions is not None
    assert manager.max_sessions <= 10_000
