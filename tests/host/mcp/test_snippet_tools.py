"""A snippet that is marked is a tool of its own at the MCP server: the same policy, the same journal, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import anyio
import pytest
from mcp import Client
from mcp.server.subscriptions import ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, TextContent, ToolListChangedNotification

from isolith import CodeMode, Policy, Rule, connector
from isolith.instructions import Shown
from isolith.mcp.server import mcp_server
from isolith.mcp.tools import tools

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path
    from typing import Literal

    from mcp.client import ClientRequestContext
    from mcp_types import CallToolResult, ElicitRequestParams, Tool

    from isolith.journal.snippet_model import Snippet

pytestmark = pytest.mark.anyio

REPORT = 'rows = await crm.rows(team=input["team"])\nawait crm.note(text=input["team"])\nsum(rows)'
FOUR = ["search", "describe", "execute", "resume"]


@connector("crm")
class Crm:
    """Contacts."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def rows(self, team: str) -> list[int]:
        """The rows of a team."""
        return [len(team), 10]

    async def note(self, text: str) -> None:
        """Keep a note."""
        self.notes.append(text)


@pytest.fixture
def crm() -> Crm:
    return Crm()


@pytest.fixture
async def code_mode(crm: Crm, tmp_path: Path) -> AsyncGenerator[CodeMode]:
    async with CodeMode([crm], journal=tmp_path / "journal.db") as made:
        yield made


async def approved(code_mode: CodeMode, name: str = "report", *, tool: bool = True, script: str = REPORT) -> Snippet:
    done = await code_mode.execute(script, input={"team": "xy"})
    snippet = await code_mode.snippets.propose(
        done.execution_id, name, "Sum up the week of a team.", who="ada", tool=tool
    )
    return await code_mode.snippets.approve(name, snippet.version, who="bob")


async def listed(client: Client) -> list[Tool]:
    return (await client.list_tools(cache_mode="bypass")).tools


async def named(client: Client) -> list[str]:
    return [tool.name for tool in await listed(client)]


def outcome_of(result: CallToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", result.structured_content)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_what_is_marked_is_listed_with_its_input_and_runs_as_an_execution(
    code_mode: CodeMode, crm: Crm, mode: Literal["2026-07-28", "legacy"]
) -> None:
    snippet = await approved(code_mode)
    async with Client(mcp_server(code_mode), mode=mode) as client:
        tool = (await listed(client))[-1]
        assert tool.name == "report"
        assert (tool.description or "").startswith("Sum up the week of a team.\n\nA script that a person has read;")
        assert tool.input_schema["properties"] == {"team": {"type": "string"}}
        assert tool.output_schema == next(each for each in tools() if each.name == "execute").output_schema
        result = await client.call_tool("report", {"team": "abc"})
        assert (outcome_of(result)["value"], result.is_error, crm.notes) == (13, False, ["xy", "abc"])
        wrong = await client.call_tool("report", {"group": "abc"})
    assert wrong.is_error
    assert "team" in str(wrong.content[0])
    journal = (await code_mode.runs()).journal
    execution_id = outcome_of(result)["execution_id"]
    (call,) = await journal.calls.of(execution_id)
    assert (call.connector, call.method, call.status) == ("snippets", "report", "completed")
    pinned = (await journal.executions.order(execution_id)).snippets
    assert pinned == f'{{"report": {snippet.version}}}'


async def test_only_what_is_marked_and_the_newest_of_each_costs_anything(code_mode: CodeMode) -> None:
    async with Client(mcp_server(code_mode)) as client:
        before = await listed(client)
        assert [tool.name for tool in before] == FOUR
        await approved(code_mode, "plain", tool=False)
        assert await listed(client) == before
        await approved(code_mode)
        now = await listed(client)
        assert (now[:4], [tool.name for tool in now[4:]]) == (before, ["report"])
        await approved(code_mode, tool=False)  # the next version of it is no tool
        assert await listed(client) == before
        with pytest.raises(MCPError, match="there is no tool `report`"):
            await client.call_tool("report", {"team": "abc"})


@pytest.mark.parametrize("shown", [Shown(), Shown(0)], ids=["with the tools", "without"])
async def test_who_listens_is_told_when_one_is_approved_or_revoked(code_mode: CodeMode, shown: Shown) -> None:
    async with Client(mcp_server(code_mode, shown=shown)) as client:
        assert await named(client) == FOUR
        for change in (approved, revoked):
            async with client.listen(tools_list_changed=True) as listening:
                await change(code_mode)
                with anyio.fail_after(240):
                    async for event in listening:
                        assert isinstance(event, ToolsListChanged)
                        break
            assert await named(client) == ([*FOUR, "report"] if change is approved else FOUR)


async def revoked(code_mode: CodeMode) -> None:
    await code_mode.snippets.revoke("report", 1, who="bob")


async def test_a_client_of_the_handshake_is_told_too(code_mode: CodeMode) -> None:
    told = anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with Client(mcp_server(code_mode), mode="legacy", message_handler=heard) as client:
        assert await named(client) == FOUR
        await approved(code_mode)
        with anyio.fail_after(240):
            await told.wait()
        assert await named(client) == [*FOUR, "report"]


async def test_who_listens_is_told_of_what_another_client_finds_first(
    code_mode: CodeMode, crm: Crm, tmp_path: Path
) -> None:
    async with CodeMode([crm], journal=tmp_path / "journal.db", tend=False) as other:
        server = mcp_server(other)
        async with Client(server) as first, Client(server) as second:
            assert await named(first) == FOUR
            async with first.listen(tools_list_changed=True) as listening:
                await approved(code_mode)
                assert await named(second) == [*FOUR, "report"]
                with anyio.fail_after(240):
                    async for event in listening:
                        assert isinstance(event, ToolsListChanged)
                        break


async def test_what_another_host_has_approved_is_listed_and_called(
    code_mode: CodeMode, crm: Crm, tmp_path: Path
) -> None:
    async with (
        CodeMode([crm], journal=tmp_path / "journal.db", tend=False) as other,
        Client(mcp_server(other)) as listing,
        Client(mcp_server(other)) as calling,
    ):
        await approved(code_mode)
        assert outcome_of(await calling.call_tool("report", {"team": "a"}))["value"] == 11
        await approved(code_mode, "second")
        assert await named(listing) == [*FOUR, "report", "second"]
        await revoked(code_mode)
        late = await calling.call_tool("report", {"team": "a"})
        assert await named(listing) == [*FOUR, "second"]
    assert late.is_error
    assert "revoked by bob" in str(late.content[0])


async def test_a_person_is_asked_and_what_is_denied_is_no_tool(crm: Crm, tmp_path: Path) -> None:
    async def allow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert 'snippets.report({"team": "abc"})' in params.message
        return ElicitResult(action="accept", content={"allow": True})

    path = tmp_path / "journal.db"
    async with CodeMode([crm], journal=path, tend=False) as code_mode:
        await approved(code_mode)
    asks = Policy(rules=(Rule(action="ask", match=("crm.note",)),))
    denies = Policy(rules=(Rule(action="deny", match=("crm.note",)),))
    async with CodeMode([crm], journal=path, tend=False, policy=asks) as code_mode:
        async with Client(mcp_server(code_mode)) as client:
            assert "waits for a person" in ((await listed(client))[-1].description or "")
            paused = await client.call_tool("report", {"team": "abc"})
            assert (outcome_of(paused)["status"], crm.notes) == ("paused", ["xy"])
        async with Client(mcp_server(code_mode, ask_client=True), elicitation_callback=allow) as client:
            done = await client.call_tool("report", {"team": "abc"})
            assert (outcome_of(done)["value"], crm.notes) == (13, ["xy", "abc"])
            assert isinstance(done.content[0], TextContent)
    async with (
        CodeMode([crm], journal=path, tend=False, policy=denies) as code_mode,
        Client(mcp_server(code_mode)) as client,
    ):
        assert await named(client) == FOUR
