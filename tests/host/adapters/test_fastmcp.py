"""A server of FastMCP with ours mounted on it, driven by the client of FastMCP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import TYPE_CHECKING

import pytest
from fastmcp import Client, FastMCP
from mcp_types import BlobResourceContents

from isolith import connector
from isolith.adapters.fastmcp import fastmcp_server
from isolith.code_mode import CodeMode

if TYPE_CHECKING:
    from fastmcp.client.elicitation import ElicitResult

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])]


def mounted(code_mode: CodeMode, *, ask_client: bool = False) -> FastMCP:
    server: FastMCP = FastMCP("mine")
    server.mount(fastmcp_server(code_mode, ask_client=ask_client))
    return server


async def test_tools_and_resources_are_there_and_links_lead_to_them(code_mode: CodeMode, mode: str) -> None:
    async with Client(mounted(code_mode), mode=mode) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert tools == {"search", "describe", "execute", "resume"}
        made = await client.call_tool("execute", {"code": "artifact(b'kept', name='a.txt')\nawait crm.revenue(year=4)"})
        assert made.structured_content is not None
        assert made.structured_content["value"] == 8
        link = next(block for block in made.content if block.type == "resource_link")
        (content,) = await client.read_resource(link.uri)
    assert isinstance(content, BlobResourceContents)
    assert b64decode(content.blob) == b"kept"


@pytest.mark.parametrize("names", [("scripts",), ("outer", "inner")])
async def test_links_lead_there_under_a_namespace_too(code_mode: CodeMode, mode: str, names: tuple[str, ...]) -> None:
    server = fastmcp_server(code_mode, namespace="/".join(names))
    for name in reversed(names):
        around: FastMCP = FastMCP(name)
        around.mount(server, namespace=name)
        server = around
    async with Client(server, mode=mode) as client:
        made = await client.call_tool(f"{'_'.join(names)}_execute", {"code": "artifact(b'kept', name='a.txt')\n6 * 7"})
        assert (made.structured_content or {})["value"] == 42
        link = next(block for block in made.content if block.type == "resource_link")
        assert str(link.uri).startswith(f"isolith://{'/'.join(names)}/executions/")
        (content,) = await client.read_resource(link.uri)
    assert isinstance(content, BlobResourceContents)
    assert b64decode(content.blob) == b"kept"


async def test_a_cancelled_request_ends_the_run(mode: str) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    @connector("slow")
    class Slow:
        async def hang(self) -> None:
            """Never answer."""
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    async with CodeMode([Slow]) as code_mode, Client(mounted(code_mode), mode=mode) as client:
        call = asyncio.create_task(client.call_tool("execute", {"code": "await slow.hang()"}))
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        await asyncio.wait_for(ended.wait(), 240)
        assert (await client.call_tool("execute", {"code": "1"})).data is not None


async def test_an_approval(code_mode: CodeMode, deleted: list[int], mode: str) -> None:
    asked: list[str] = []

    async def person(message: str, *_: object) -> ElicitResult[object] | dict[str, object]:
        asked.append(message)
        return {"allow": True}

    async with Client(mounted(code_mode, ask_client=True), mode=mode, elicitation_handler=person) as client:
        done = await client.call_tool("execute", {"code": "await crm.delete(id=3)"})
        outcome = done.structured_content or {}
        if mode == "legacy":  # nobody can be asked within a request: a person decides elsewhere, and it is resumed
            assert (outcome["status"], asked) == ("paused", [])
            (call,) = outcome["pending"]
            runs = await code_mode.runs()
            await runs.decide(
                outcome["execution_id"], call["call_id"], "approve", who="grace", digest=call["digest"], go_on=False
            )
            done = await client.call_tool("resume", {"execution_id": outcome["execution_id"]})
    assert (done.structured_content or {})["value"] == "deleted 3"
    assert deleted == [3]
