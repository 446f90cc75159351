"""`isolith serve` as processes of its own, driven by the official SDK's client over stdio and HTTP."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult, TextContent
from tests.e2e.conftest import isolith_command
from tests.e2e.serving import link_images

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from typing import Literal

    from mcp.client import ClientRequestContext
    from mcp_types import CallToolResult, ElicitRequestParams

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

BENCH = Path(__file__).parents[2] / "fixtures" / "mcp" / "sdk_server.py"
CRM = """
import asyncio
from pathlib import Path
from isolith import connector, method

print("a connector prints where it likes")


@connector("crm")
class Crm:
    '''Contacts.'''

    async def newest(self, limit: int = 3) -> list[int]:
        '''The newest contacts.'''
        print("and so does a method")
        return list(range(limit))

    @method(policy="ask")
    async def delete(self, id: int) -> str:
        '''Delete a contact.'''
        return f"deleted {id}"

    async def hang(self, folder: str) -> None:
        '''Never answer; leave a mark at the begin and at the end.'''
        Path(folder, "begun").touch()
        try:
            await asyncio.Event().wait()
        finally:
            Path(folder, "ended").touch()
"""


MODERN = {
    "MCP-Protocol-Version": "2026-07-28",
    "Accept": "application/json, text/event-stream",
    "Mcp-Method": "tools/list",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


@pytest.fixture
def folder(tmp_path: Path, supply: Supply) -> Path:
    """State of its own, with the image that is there."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    link_images(home)
    (tmp_path / "crm.py").write_text(CRM)
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "ISOLITH_HOME": str(folder / "home"), "COLUMNS": "300"}


def on_stdio(folder: Path, *more: str) -> StdioServerParameters:
    arguments = ["serve", "--stdio", "--connect", "crm.py", *more]
    return StdioServerParameters(command=isolith_command(), args=arguments, env=environment(folder), cwd=folder)


@asynccontextmanager
async def on_http(folder: Path, *more: str, door: str = "--no-auth") -> AsyncGenerator[str]:
    """A server at a free port, and its URL; it ends by a signal, and well."""
    doors = [door] if door else []
    command = [isolith_command(), "serve", "--http", "127.0.0.1:0", "--connect", "crm.py", *doors, *more]
    process = await anyio.open_process(command, cwd=folder, env=environment(folder))
    try:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"serving (http://\S+)\n", said)):
            said += (await process.stderr.receive()).decode()
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()
        await process.aclose()
    assert process.returncode in {0, 143, -signal.SIGTERM}


def text_of(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def outcome_of(result: CallToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", result.structured_content)


async def decide(folder: Path, execution_id: str, call: str) -> None:
    """As a person does, in a process of its own."""
    command = [isolith_command(), "executions", "approve", execution_id, call, "--no-continue"]
    done = await anyio.run_process(command, cwd=folder, env=environment(folder), check=False)
    assert done.returncode in {0, 4}, done.stderr


async def drive(client: Client, folder: Path) -> None:
    """What an agent does: look, run, fail, wait for a person, go on, give up."""
    found = await client.call_tool("search", {"query": "newest contacts"})
    assert "crm.newest" in text_of(found)
    assert "limit: int = 3" in text_of(await client.call_tool("describe", {"target": "crm.newest"}))
    done = await client.call_tool("execute", {"code": "sum(await crm.newest(limit=input))", "input": 5})
    assert outcome_of(done)["value"] == 10
    wrong = await client.call_tool("execute", {"code": "await crm.newest(limits=5)"})
    assert wrong.is_error
    assert "limits" in text_of(wrong)
    paused = outcome_of(await client.call_tool("execute", {"code": "await crm.delete(id=3)"}))
    assert paused["status"] == "paused"
    await decide(folder, paused["execution_id"], "1")
    resumed = await client.call_tool("resume", {"execution_id": paused["execution_id"]})
    assert outcome_of(resumed)["value"] == "deleted 3"
    await give_up(client, folder)
    assert outcome_of(await client.call_tool("execute", {"code": "1 + 1"}))["value"] == 2


async def give_up(client: Client, folder: Path) -> None:
    """A cancelled request ends its execution, and the call that was under way."""
    async with anyio.create_task_group() as group:

        async def run() -> None:
            await client.call_tool("execute", {"code": f"await crm.hang(folder={str(folder)!r})"})

        group.start_soon(run)
        await appears(folder / "begun")
        group.cancel_scope.cancel()
    await appears(folder / "ended")


async def token_of(folder: Path, principal: str, *scopes: str) -> dict[str, str]:
    """The header that lets a principal in."""
    wanted = [part for scope in scopes for part in ("--scope", scope)]
    command = [isolith_command(), "tokens", "create", principal, *wanted]
    done = await anyio.run_process(command, cwd=folder, env=environment(folder))
    return {"Authorization": f"Bearer {done.stdout.decode().strip()}"}


async def appears(path: Path) -> None:
    while not await anyio.Path(path).exists():
        await anyio.sleep(0.02)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_stdio(folder: Path, mode: Literal["auto", "legacy"]) -> None:
    async with Client(on_stdio(folder), mode=mode) as client:
        await drive(client, folder)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_http(folder: Path, mode: Literal["auto", "legacy"]) -> None:
    async with on_http(folder) as url, Client(url, mode=mode) as client:
        await drive(client, folder)


async def test_a_person_at_the_client_is_asked_where_the_host_says_so(folder: Path) -> None:
    async def allow(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert 'crm.delete({"id": 3})' in params.message
        return ElicitResult(action="accept", content={"allow": True})

    async with Client(on_stdio(folder, "--ask-client"), elicitation_callback=allow) as client:
        done = await client.call_tool("execute", {"code": "await crm.delete(id=3)"})
    assert outcome_of(done)["value"] == "deleted 3"


async def test_a_person_at_the_client_is_asked_what_a_server_asks(folder: Path) -> None:
    async def sure(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert params.message == "A script called bench.delete({}), and its server asks:\n> Delete everything?"
        return ElicitResult(action="accept", content={"sure": True})

    server = {"command": sys.executable, "args": [str(BENCH)]}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"bench": server}}))
    more = ("--connect", "mcp.json", "--policy", "trusted", "--ask-client")
    async with Client(on_stdio(folder, *more), elicitation_callback=sure) as client:
        done = await client.call_tool("execute", {"code": "await bench.delete()"})
    assert outcome_of(done)["value"] == "accept True"


async def test_a_snippet_proposed_as_a_tool_is_one_once_it_is_approved(folder: Path) -> None:
    async def isolith(*arguments: str) -> dict[str, Any]:
        command = [isolith_command(), *arguments, "--json"]
        done = await anyio.run_process(command, cwd=folder, env=environment(folder))
        return cast("dict[str, Any]", json.loads(done.stdout))

    (folder / "sum.py").write_text("sum(await crm.newest(limit=input['limit']))")
    ran = await isolith("run", "sum.py", "--connect", "crm.py", "--input", '{"limit": 3}')
    told = ("--description", "Sum up the newest.", "--tool")
    assert (await isolith("snippets", "propose", ran["execution_id"], "newest_sum", *told))["tool"] is True
    await isolith("snippets", "approve", "newest_sum")
    async with Client(on_stdio(folder, "--policy", "trusted")) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        done = await client.call_tool("newest_sum", {"limit": 5})
    assert names == ["search", "describe", "execute", "resume", "newest_sum"]
    assert outcome_of(done)["value"] == 10


async def test_only_this_machine_by_its_names_and_no_page_of_the_web(folder: Path) -> None:
    token = await token_of(folder, "ada", "execute")
    async with on_http(folder, "--allow-host", "isolith.test", door="") as url, httpx2.AsyncClient(timeout=240) as http:

        async def status(**headers: str) -> int:
            return (await http.post(url, json=LIST, headers={**MODERN, **token, **headers})).status_code

        assert await status() == 200
        assert await status(Authorization="Bearer nobody") == 401
        assert await status(Host="isolith.test") == 200
        assert await status(Origin="https://isolith.test") == 200
        assert await status(Host="rebound.example") == 421
        assert await status(Origin="https://evil.example") == 403
        assert (
            await http.get(url, headers={"Accept": "text/event-stream", "MCP-Protocol-Version": "2026-07-28", **token})
        ).status_code == 405


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:8000"], "0.0.0.0 is reached from other machines"),
        (["--http", "example.com:8000"], "example.com is reached from other machines"),
        (["--http", "8000"], "HOST:PORT"),
        (["--http", "127.0.0.1:65536"], "HOST:PORT"),
        (["--http", "127.0.0.1:8000", "--stdio"], "keep one"),
        (["--allow-host", "a"], "`--allow-host` is about `--http`"),
        (["--no-auth"], "`--no-auth` is about `--http`"),
        (["--http", "127.0.0.1:0", "--no-auth", "--allow-host", "a"], "it is for 127.0.0.1 alone"),
        (["--policy", "lenient"], "there is no policy `lenient`"),
    ],
)
def test_wrong_use(folder: Path, arguments: list[str], said: str) -> None:
    command = [isolith_command(), "serve", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=240, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
