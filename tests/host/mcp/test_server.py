"""The MCP server, driven by the official SDK's client in memory, in both eras of the protocol."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ImageContent, ResourceLink, TextContent, TextResourceContents

from isolith import CallContext, CodeMode, connector, method
from isolith.instructions import DEFAULT_TOKENS, INSTRUCTIONS, Shown, least_tokens
from isolith.mcp.server import mcp_server
from isolith.mcp.tools import MAX_INSTRUCTIONS, server_instructions, tools
from isolith.outcome import outcome_schema
from isolith_bindings.functions import as_connector
from isolith_bindings.tokens import count

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path
    from typing import Literal

    from mcp_types import RequestParamsMeta


pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n"


@connector("crm")
class Crm:
    """Contacts of a company."""

    def __init__(self) -> None:
        self.deleted: list[int] = []
        self.hanging = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def list_contacts(self, limit: int = 3) -> list[dict[str, int]]:
        """The newest contacts first."""
        return [{"id": number} for number in range(limit)]

    @method(policy="ask")
    async def delete(self, id: int) -> str:  # noqa: A002
        """Delete one contact."""
        self.deleted.append(id)
        return f"deleted {id}"

    async def hang(self) -> None:
        """Never answer."""
        self.hanging.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    @method(policy="ask")
    async def hang_if_allowed(self) -> None:
        """Never answer, once a person has agreed."""
        await self.hang()

    async def who(self, ctx: CallContext) -> str | None:
        """The session of this call."""
        return ctx.session

    async def fail(self) -> None:
        """Fail as nobody would."""
        raise ValueError("no such contact")


@pytest.fixture
def crm() -> Crm:
    return Crm()


@pytest.fixture(params=["2026-07-28", "legacy"])
async def client(code_mode: CodeMode, request: pytest.FixtureRequest) -> AsyncGenerator[Client]:
    mode = cast("Literal['legacy']", request.param)
    async with Client(mcp_server(code_mode), mode=mode) as made:
        yield made


def text_of(result: CallToolResult) -> str:
    """The model's view."""
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def outcome_of(result: CallToolResult) -> dict[str, Any]:
    """The structured content, which is as the schema says."""
    outcome = cast("dict[str, Any]", result.structured_content)
    jsonschema.validate(outcome, outcome_schema())
    return outcome


async def test_a_script_answers_as_text_and_as_an_outcome(client: Client) -> None:
    code = "rows = await crm.list_contacts(limit=input['n'])\nprint('so far')\nsum(row['id'] for row in rows)"
    result = await client.call_tool("execute", {"code": code, "input": {"n": 4}})
    outcome = outcome_of(result)
    assert (result.is_error, outcome["status"], outcome["value"], outcome["value_type"]) == (
        False,
        "completed",
        6,
        "int",
    )
    assert [call["method"] for call in outcome["calls"]] == ["list_contacts"]
    assert text_of(result) == "6\n\n[info] so far"


async def test_an_uncaught_failure_is_an_error_with_its_diagnostic(client: Client) -> None:
    result = await client.call_tool("execute", {"code": "x = 1\nawait crm.fail()"})
    assert result.is_error
    assert outcome_of(result)["error"]["line"] == 2
    assert "no such contact" in text_of(result)
    assert "line 2: await crm.fail()" in text_of(result)


async def test_a_budget_ends_a_script(client: Client) -> None:
    result = await client.call_tool("execute", {"code": "while True: pass", "budgets": {"cpu_ms": 50}})
    assert result.is_error
    assert outcome_of(result)["error"]["kind"] == "cpu_exceeded"


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("execute", {}, "code"),
        ("execute", {"code": 3}, "code"),
        ("execute", {"script": "1"}, "hint: the script is the argument `code`"),
        ("execute", {"code": "1", "codes": "1"}, "codes"),
        ("execute", {"code": "1", "budgets": {"cpu": 3}}, "there is no budget `cpu`: did you mean `cpu_ms`?"),
        ("execute", {"code": "1", "budgets": {"cpu_ms": 0}}, "budget `cpu_ms`"),
        ("search", {"query": "x", "connector": "cmr"}, "cmr"),
        ("search", {"query": "x", "limit": 0}, "limit"),
        ("describe", {"target": "crm.list_contract"}, "crm.list_contacts"),
        ("resume", {"execution_id": "nothing"}, "nothing"),
    ],
)
async def test_what_is_wrong_with_arguments_is_said(
    client: Client, tool: str, arguments: dict[str, object], said: str
) -> None:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert said in text_of(result)


async def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(client: Client) -> None:
    with pytest.raises(MCPError, match="there is no tool `run`") as caught:
        await client.call_tool("run", {})
    assert caught.value.code == INVALID_PARAMS


async def test_search_and_describe(client: Client) -> None:
    found = await client.call_tool("search", {"query": "newest contacts", "limit": 1})
    assert "crm.list_contacts" in text_of(found)
    assert cast("dict[str, Any]", found.structured_content)["results"][0]["path"] == "crm.list_contacts"
    every = await client.call_tool("search", {"query": "", "limit": 2})
    assert "`offset` 2" in text_of(every)
    described = await client.call_tool("describe", {"target": "crm.delete"})
    assert "id: int" in text_of(described)
    assert cast("dict[str, Any]", described.structured_content)["requires_approval"] is True
    both = await client.call_tool("describe", {"target": ["crm.delete", "crm.who"], "detail": "summary"})
    assert "crm.who" in text_of(both)


async def test_a_paused_run_says_what_waits_and_goes_on_when_it_is_approved(
    client: Client, code_mode: CodeMode, crm: Crm
) -> None:
    paused = await client.call_tool("execute", {"code": "await crm.delete(id=3)"})
    outcome = outcome_of(paused)
    assert (paused.is_error, outcome["status"]) == (False, "paused")
    (pending,) = outcome["pending"]
    assert (pending["method"], pending["arguments"]) == ("delete", {"id": 3})
    execution_id = outcome["execution_id"]
    assert f"`resume` {execution_id}" in text_of(paused)
    assert 'crm.delete({"id": 3})' in text_of(paused)

    waits = await client.call_tool("resume", {"execution_id": execution_id})
    assert outcome_of(waits)["status"] == "paused"
    assert crm.deleted == []

    runs = await code_mode.runs()
    await runs.decide(execution_id, pending["call_id"], "approve", digest=pending["digest"], go_on=False)
    done = await client.call_tool("resume", {"execution_id": execution_id})
    assert (done.is_error, outcome_of(done)["value"], crm.deleted) == (False, "deleted 3", [3])
    again = await client.call_tool("resume", {"execution_id": execution_id})
    assert (outcome_of(again)["value"], crm.deleted) == ("deleted 3", [3])


async def test_a_rejected_call_fails_the_script(client: Client, code_mode: CodeMode, crm: Crm) -> None:
    outcome = outcome_of(await client.call_tool("execute", {"code": "await crm.delete(id=3)"}))
    await code_mode.reject(outcome["execution_id"], outcome["pending"][0]["call_id"], reason="not this one")
    result = await client.call_tool("resume", {"execution_id": outcome["execution_id"]})
    assert result.is_error
    assert outcome_of(result)["status"] == "rejected"
    assert "not this one" in text_of(result)
    assert crm.deleted == []


async def test_a_run_of_other_connectors_is_not_gone_on_with(crm: Crm, tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    async with CodeMode([crm], journal=journal, origin='"trusted"', tend=False) as trusting:
        outcome = await trusting.execute("await crm.delete(id=3)")
        await (await trusting.runs()).decide(outcome.execution_id, 1, "approve", go_on=False)
    async with (
        CodeMode([crm], journal=journal, origin='"careful"', tend=False) as code_mode,
        Client(mcp_server(code_mode)) as client,
    ):
        result = await client.call_tool("resume", {"execution_id": outcome.execution_id})
    assert result.is_error
    assert "other connectors" in text_of(result)
    assert crm.deleted == []


async def test_the_model_can_tell_its_user_how_a_person_decides(code_mode: CodeMode) -> None:
    server = mcp_server(code_mode, approving=lambda call: f"decide {call.method} {call.digest[:12]}")
    async with Client(server) as client:
        paused = await client.call_tool("execute", {"code": "await crm.delete(id=3)"})
        again = await client.call_tool("resume", {"execution_id": outcome_of(paused)["execution_id"]})
    [pending] = outcome_of(paused)["pending"]
    command = f"decide delete {pending['digest'][:12]}"
    for told in (paused, again):
        assert f"tell your user that a person decides it with `{command}` (or `reject`)" in text_of(told)


async def test_cancelling_the_request_ends_the_execution(client: Client, crm: Crm) -> None:
    async with anyio.create_task_group() as group:

        async def run() -> None:
            await client.call_tool("execute", {"code": "await crm.hang()"})

        group.start_soon(run)
        await crm.hanging.wait()
        group.cancel_scope.cancel()
    await crm.cancelled.wait()


async def test_cancelling_resume_ends_the_execution(client: Client, code_mode: CodeMode, crm: Crm) -> None:
    outcome = outcome_of(await client.call_tool("execute", {"code": "await crm.hang_if_allowed()"}))
    execution_id = outcome["execution_id"]
    runs = await code_mode.runs()
    await runs.decide(execution_id, outcome["pending"][0]["call_id"], "approve", go_on=False)
    async with anyio.create_task_group() as group:

        async def resume() -> None:
            await client.call_tool("resume", {"execution_id": execution_id})

        group.start_soon(resume)
        await crm.hanging.wait()
        group.cancel_scope.cancel()
    await crm.cancelled.wait()


async def test_progress_grows_whatever_the_script_counts(client: Client) -> None:
    reports: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, message))

    code = "import asyncio\nfor n in (5, 3, 1):\n    progress(n, 9, 'rows')\n    await asyncio.sleep(0.15)"
    await client.call_tool("execute", {"code": code}, progress_callback=note)
    assert reports[0] == (1, "5 of 9 rows")
    assert [number for number, _ in reports] == list(range(1, len(reports) + 1))


async def test_calls_are_told_as_progress(client: Client) -> None:
    told: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    await client.call_tool("execute", {"code": "await crm.list_contacts()"}, progress_callback=note)
    assert told == ["crm.list_contacts"]


async def test_pictures_are_shown_and_other_files_are_linked(client: Client) -> None:
    code = f"artifact({PNG!r}, name='a.png', mime='image/png')\nartifact('häh', name='a.txt', mime='text/plain')\n7"
    result = await client.call_tool("execute", {"code": code})
    _, picture, link = result.content
    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/png"
    assert isinstance(link, ResourceLink)
    assert (link.name, link.size) == ("a.txt", 4)
    (read,) = (await client.read_resource(link.uri)).contents
    assert isinstance(read, TextResourceContents)
    assert (read.text, read.mime_type) == ("häh", "text/plain")
    assert (await client.list_resources()).resources == []
    assert len((await client.list_resource_templates()).resource_templates) == 1


async def test_artifacts_of_a_run_in_the_journal_are_read_from_there(client: Client, code_mode: CodeMode) -> None:
    code = "artifact(b'kept', name='a.txt', mime='text/plain')\nawait crm.delete(id=3)"
    outcome = outcome_of(await client.call_tool("execute", {"code": code}))
    async with Client(mcp_server(code_mode)) as other:
        result = await other.call_tool("resume", {"execution_id": outcome["execution_id"]})
        link = result.content[1]
        assert isinstance(link, ResourceLink)
        (read,) = (await other.read_resource(link.uri)).contents
        assert isinstance(read, TextResourceContents)
        assert read.text == "kept"


async def test_a_large_value_is_cut_and_readable_whole(client: Client) -> None:
    arguments = {"code": "list(range(20_000))", "budgets": {"value_tokens": 200}}
    result = await client.call_tool("execute", arguments)
    assert outcome_of(result)["truncated"] is True
    assert count(text_of(result)) <= 200 + 300
    link = result.content[1]
    assert isinstance(link, ResourceLink)
    (read,) = (await client.read_resource(link.uri)).contents
    assert isinstance(read, TextResourceContents)
    assert read.text.endswith("19999]")


async def test_logs_do_not_crowd_out_the_answer(client: Client) -> None:
    result = await client.call_tool("execute", {"code": "for n in range(3000): print('line', n)\n'the answer'"})
    assert text_of(result).startswith('"the answer"')
    assert count(text_of(result)) <= 6_000
    assert len(outcome_of(result)["logs"]) == 3000


async def test_integers_that_javascript_would_round_are_text_as_data(client: Client) -> None:
    result = await client.call_tool("execute", {"code": "2**60"})
    assert (outcome_of(result)["value"], text_of(result)) == (str(2**60), str(2**60))


@pytest.mark.parametrize("uri", ["isolith://executions/x/artifacts/y", "file:///etc/passwd", "isolith://"])
async def test_a_link_that_leads_nowhere(client: Client, uri: str) -> None:
    with pytest.raises(MCPError, match="no such resource") as caught:
        await client.read_resource(uri)
    assert caught.value.code == INVALID_PARAMS


async def test_the_session_comes_from_the_request(code_mode: CodeMode) -> None:
    meta = cast("RequestParamsMeta", {"ai.opencode/sessionID": "s2"})
    async with Client(mcp_server(code_mode, session_key="ai.opencode/sessionID")) as client:
        named = await client.call_tool("execute", {"code": "await crm.who()", "session": "s1"})
        keyed = await client.call_tool("execute", {"code": "await crm.who()"}, meta=meta)
        none = await client.call_tool("execute", {"code": "await crm.who()"})
    assert [outcome_of(result)["value"] for result in (named, keyed, none)] == ["s1", "s2", None]


@pytest.mark.parametrize("tokens", [0, DEFAULT_TOKENS])
async def test_the_tools_cost_no_more_whatever_is_behind_them(tokens: int) -> None:
    def footprint(client: Client, listed: object) -> int:
        return count(f"{client.instructions}{listed}")

    spent: list[int] = []
    for number in (10, 5_000):
        made = {f"tool_{each}": _answer for each in range(number)}
        async with CodeMode([as_connector(made, "many")]) as code_mode:
            assert len(code_mode.catalog.connectors["many"].methods) == number
            async with Client(mcp_server(code_mode, shown=Shown(tokens))) as client:
                before = (await client.list_tools()).tools
                await client.call_tool("execute", {"code": "1"})
                assert (await client.list_tools(cache_mode="bypass")).tools == before
                assert [tool.name for tool in before] == ["search", "describe", "execute", "resume"]
                spent.append(footprint(client, [tool.model_dump_json(exclude_none=True) for tool in before]))
                others = [tool for tool in before if tool.name != "execute"]
                assert sum(count(f"{tool.description}{tool.input_schema}") for tool in others) < 700
                [execute] = [tool for tool in before if tool.name == "execute"]
                assert count(execute.description or "") <= max(tokens, least_tokens())
    assert spent[1] - spent[0] <= tokens


def test_the_instructions_are_short_and_begin_with_the_way_of_working() -> None:
    most = server_instructions(f"connector_{number}" for number in range(500))
    assert len(most) < MAX_INSTRUCTIONS
    assert "more." in most
    assert all(f"`{name}`" in most[:500] for name in ("search", "describe", "execute"))
    assert [tool.description for tool in tools() if tool.name == "execute"] == [INSTRUCTIONS]


async def _answer(number: int = 0) -> int:
    """Give back a number."""
    return number
