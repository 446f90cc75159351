"""`isolith serve` as a process: it begins beside a server that hangs, and at its end no run is lost."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2
import pytest
from mcp.client import Client
from tests.e2e.conftest import isolith_command
from tests.e2e.serving import Served, environment, served, with_images

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

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
    with_images(tmp_path)
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "isolith.toml").write_text("[budgets]\nwall_s = 600\ncall_s = 600\n")
    return tmp_path


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


def desk(folder: Path, *arguments: str) -> AbstractAsyncContextManager[Served]:
    return served(folder, "--connect", "desk.py", "--config", "isolith.toml", "--no-auth", *arguments)


async def test_it_serves_beside_a_server_that_never_answers(folder: Path) -> None:
    async with desk(folder, "--connect", "hung=sleep 100000") as host, httpx2.AsyncClient(timeout=240) as http:
        url = host.url
        assert (await http.get(f"{url}/healthz")).json() == {"status": "ok"}
        made = await http.post(f"{url}/v1/executions", json={"script": "6 * 7"})
        assert made.json()["value"] == 42
        async with Client(f"{url}/mcp") as client:
            assert {"execute", "search"} <= {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "wait"})
            assert "desk.wait" in str(found.structured_content)


async def test_what_runs_at_the_signal_may_end(folder: Path) -> None:
    async with desk(folder, "--grace", "600") as host, httpx2.AsyncClient(timeout=240) as http:
        process, url = host.process, host.url
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
    async with desk(folder, "--grace", "0") as host, Client(f"{host.url}/mcp") as client:
        await client.list_tools()  # else the SDK's client asks for them behind the answer, when the host is gone
        call = asyncio.create_task(client.call_tool("execute", {"code": WAIT["script"], "budgets": WAIT["budgets"]}))
        await appears(folder / "waits")
        host.process.send_signal(signal.SIGTERM)
        left = cast("dict[str, Any]", (await call).structured_content)
        await host.process.wait()
    assert left["status"] == "running"
    (folder / "go").touch()
    async with desk(folder) as next_host, Client(f"{next_host.url}/mcp") as client:
        while True:
            stands = await client.call_tool("resume", {"execution_id": left["execution_id"]})
            outcome = cast("dict[str, Any]", stands.structured_content)
            if outcome["status"] != "running":
                break
            await anyio.sleep(0.1)
    assert (outcome["status"], outcome["value"]) == ("completed", "waited")
