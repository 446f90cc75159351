"""A client that goes away without a word, or with Ctrl-C: within 250 ms of its CPU the guest is gone, and only then the
call that was under way is cancelled upstream.
"""

from __future__ import annotations

import os
import re
import signal
from contextlib import asynccontextmanager
from json import dumps, loads
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from tests.e2e.conftest import ROOT, isolith_command

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from anyio.abc import Process

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOL = """
import asyncio
import os
from pathlib import Path
from isolith import connector
from isolith.run.supply import get_supply
from isolith_runtime.driver import State
from tests.e2e.guest_cpu import WITHIN_MS, GuestCpu

cpu = GuestCpu().watch()

@connector("tool")
class Tool:
    async def hang(self) -> None:
        [caller] = [guest for guest in get_supply().guests if guest.state is not State.GONE]
        Path("begun").touch()
        try:
            await asyncio.Event().wait()
        finally:
            how = caller.departure
            soon = "soon" if cpu.after_stop_ms().get(caller, WITHIN_MS) < WITHIN_MS else "late"
            Path("found").write_text(f"{caller.state.name} {how and how.stop and how.stop.name} {soon}")
            os.replace("found", "ended")
"""
BUSY = """
call = asyncio.create_task(tool.hang())
await asyncio.sleep(0)
print("asked")
while True: pass
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CANCELLED = "GONE CANCELLED soon"
"""How the guest was when its call was cancelled, who had ended it, and that it was gone soon: no budget, and not after it."""


def request(script: str) -> dict[str, object]:
    arguments = {"code": script, "budgets": {"cpu_ms": 60_000}}
    params = {"name": "execute", "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


HEADERS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "execute",
}


def environment() -> dict[str, str]:
    """In which the tool finds what watches its caller."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "COLUMNS": "300", "PYTHONPATH": os.pathsep.join(paths)}


@asynccontextmanager
async def serving(folder: Path, *door: str) -> AsyncGenerator[Process]:
    (folder / "tool.py").write_text(TOOL)
    command = [isolith_command(), "serve", *door, "--connect", "tool.py"]
    process = await anyio.open_process(command, cwd=folder, env=environment())
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()
        await process.aclose()


async def appears(path: Path) -> None:
    with anyio.fail_after(240):
        while not await anyio.Path(path).exists():
            await anyio.sleep(0.01)


@pytest.mark.parametrize("script", ["await tool.hang()", BUSY], ids=["waits", "busy"])
async def test_one_that_closes_its_end_of_the_pipe(script: str, tmp_path: Path) -> None:
    async with serving(tmp_path, "--stdio") as process:
        assert process.stdin is not None
        await process.stdin.send(dumps(request(script)).encode() + b"\n")
        await appears(tmp_path / "begun")
        assert not (tmp_path / "ended").exists()
        await process.stdin.aclose()
        await appears(tmp_path / "ended")
        assert (tmp_path / "ended").read_text() == CANCELLED
        with anyio.fail_after(240):
            assert await process.wait() == 0


async def test_one_whose_connection_breaks(tmp_path: Path) -> None:
    async with serving(tmp_path, "--http", "127.0.0.1:0", "--no-auth") as process:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"serving (http://\S+)\n", said)):
            said += (await process.stderr.receive()).decode()
        async with httpx2.AsyncClient() as client, anyio.create_task_group() as group:
            group.start_soon(_post, client, found[1])
            await appears(tmp_path / "begun")
            assert not (tmp_path / "ended").exists()
            group.cancel_scope.cancel()
        await appears(tmp_path / "ended")
        assert (tmp_path / "ended").read_text() == CANCELLED


async def test_one_who_presses_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(TOOL)
    command = [isolith_command(), "run", "-c", BUSY, "--connect", "tool.py", "--cpu-ms", "60000", "--json"]
    process = await anyio.open_process(command, cwd=tmp_path, env=environment())
    async with process:
        await appears(tmp_path / "begun")
        assert not (tmp_path / "ended").exists()
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        with anyio.fail_after(240):
            outcome = loads(b"".join([part async for part in process.stdout]))
            assert await process.wait() == 1
    assert (tmp_path / "ended").read_text() == CANCELLED
    assert (outcome["status"], outcome["error"]["kind"], outcome["error"]["line"]) == ("cancelled", "cancelled", 5)
    assert [(call["method"], call["status"], call["line"]) for call in outcome["calls"]] == [("hang", "cancelled", 2)]
    assert [record["message"] for record in outcome["logs"]] == ["asked"]


async def _post(client: httpx2.AsyncClient, url: str) -> None:
    await client.post(url, headers=HEADERS, json=request(BUSY), timeout=240)
    pytest.fail("it was answered")
