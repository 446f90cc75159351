"""`isolith serve` as a process: it begins beside a server that hangs, and at its end no run is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import pytest
from mcp.client import Client
from tests.e2e.conftest import isolith_command

from isolith_runtime.image.builder import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from anyio.abc import Process

    from isolith_runtime.driver import Supply

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

DESK = """
import asyncio
from pathlib import Path
from isolith import connector, method


@connector("desk")
class Desk:
    @method(policy="allow", idempotent=True)
    async def wait(self) -> str:
        '''Answer when there is a file called go.'''
        Path("waits").touch()
        while not Path("go").exists():
            await asyncio.sleep(0.02)
        return "waited"
"""
WAIT = {"script": "await desk.wait()", "budgets": {"wall_s": 600, "call_s": 600}}


@pytest.fixture
def folder(tmp_path: Path, supply: Supply) -> Path:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shutil.copytree(open_store().folder.root, home / "images", copy_function=os.link)
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "isolith.toml").write_text("[budgets]\nwall_s = 600\ncall_s = 600\n")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "ISOLITH_HOME": str(folder / "home"), "COLUMNS": "300"}


@asynccontextmanager
async def served(folder: Path, *arguments: str) -> AsyncGenerator[tuple[Process, str]]:
    """The process, and the URL of it. It has ended well, by the signal of a test or by one from here."""
    more = ("--connect", "desk.py", "--config", "isolith.toml", "--no-auth")
    command = [isolith_command(), "serve", "--http", "127.0.0.1:0", *more, *arguments]
    process = await anyio.open_process(command, cwd=folder, env=environment(folder))
    try:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"serving (http://\S+)/mcp\n", said)):
            said += (await process.stderr.receive()).decode()
        yield process, found[1]
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()
        await process.aclose()
    assert process.returncode in {0, 143, -signal.SIGTERM}


async def appears(path: Path) -> None:
    while not await anyio.Path(path).exists():
        await anyio.sleep(0.02)


async def stopping(http: httpx2.AsyncClient, url: str) -> None:
    """Wait until it says so: its listener is closed, or it answers 503."""
    try:
        while (await http.get(f"{url}/healthz")).status_code == 200:
            await anyio.sleep(0.02)
    except httpx2.TransportError:
        return


async def shown(folder: Path, execution_id: str) -> dict[str, Any]:
    """As the command line finds it in the journal."""
    command = [isolith_command(), "executions", "show", execution_id, "--json"]
    done = await anyio.run_process(command, cwd=folder, env=environment(folder))
    return cast("dict[str, Any]", json.loads(done.stdout))


async def test_it_serves_beside_a_server_that_never_answers(folder: Path) -> None:
    async with served(folder, "--connect", "hung=sleep 100000") as (_, url), httpx2.AsyncClient(timeout=240) as http:
        assert (await http.get(f"{url}/healthz")).json() == {"status": "ok"}
        made = await http.post(f"{url}/v1/executions", json={"script": "6 * 7"})
        assert made.json()["value"] == 42
        async with Client(f"{url}/mcp") as client:
            assert {"execute", "search"} <= {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "wait"})
            assert "desk.wait" in str(found.structured_content)


async def test_what_runs_at_the_signal_may_end(folder: Path) -> None:
    async with served(folder, "--grace", "600") as (process, url), httpx2.AsyncClient(timeout=240) as http:
        begun = await http.post(f"{url}/v1/executions", json={**WAIT, "wait_s": 0})
        await appears(folder / "waits")
        process.send_signal(signal.SIGTERM)
        await stopping(http, url)
        assert process.returncode is None
        (folder / "go").touch()
        await process.wait()
    outcome = await shown(folder, begun.json()["execution_id"])
    assert (outcome["status"], outcome["value"]) == ("completed", "waited")


async def test_a_run_of_mcp_that_does_not_end_is_told_of_and_goes_on_at_the_next_host(folder: Path) -> None:
    async with served(folder, "--grace", "0") as (process, url), Client(f"{url}/mcp") as client:
        await client.list_tools()  # else the SDK's client asks for them behind the answer, when the host is gone
        call = asyncio.create_task(client.call_tool("execute", {"code": WAIT["script"], "budgets": WAIT["budgets"]}))
        await appears(folder / "waits")
        process.send_signal(signal.SIGTERM)
        left = cast("dict[str, Any]", (await call).structured_content)
        await process.wait()
    assert left["status"] == "running"
    (folder / "go").touch()
    async with served(folder) as (_, url), Client(f"{url}/mcp") as client:
        while True:
            stands = await client.call_tool("resume", {"execution_id": left["execution_id"]})
            outcome = cast("dict[str, Any]", stands.structured_content)
            if outcome["status"] != "running":
                break
            await anyio.sleep(0.1)
    assert (outcome["status"], outcome["value"]) == ("completed", "waited")
