"""A client that goes away without a word: its run ends, and the call that was under way is cancelled upstream."""

from __future__ import annotations

import os
import re
import signal
from contextlib import asynccontextmanager
from json import dumps
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from tests.e2e.conftest import isolith_command

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from anyio.abc import Process

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOL = """
import asyncio
from pathlib import Path
from isolith import connector

@connector("tool")
class Tool:
    async def hang(self) -> None:
        Path("begun").touch()
        try:
            await asyncio.Event().wait()
        finally:
            Path("ended").touch()
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
EXECUTE = {"name": "execute", "arguments": {"code": "await tool.hang()"}, "_meta": META}
REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": EXECUTE}
HEADERS = {
    "MCP-Protocol-Version": "2026-07-28",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "execute",
}


@asynccontextmanager
async def serving(folder: Path, *door: str) -> AsyncGenerator[Process]:
    (folder / "tool.py").write_text(TOOL)
    command = [isolith_command(), "serve", *door, "--connect", "tool.py"]
    process = await anyio.open_process(command, cwd=folder, env={**os.environ, "COLUMNS": "300"})
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


async def test_one_that_closes_its_end_of_the_pipe(tmp_path: Path) -> None:
    async with serving(tmp_path, "--stdio") as process:
        assert process.stdin is not None
        await process.stdin.send(dumps(REQUEST).encode() + b"\n")
        await appears(tmp_path / "begun")
        assert not (tmp_path / "ended").exists()
        await process.stdin.aclose()
        await appears(tmp_path / "ended")
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


async def _post(client: httpx2.AsyncClient, url: str) -> None:
    await client.post(url, headers=HEADERS, json=REQUEST, timeout=240)
    pytest.fail("it was answered")
