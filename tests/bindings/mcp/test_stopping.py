"""No process is left of a server that hangs at its start, whenever and however it is let go of."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import subprocess
import sys
import time
import uuid
from asyncio.base_subprocess import BaseSubprocessTransport
from typing import Any

import psutil
import pytest

from isolith_bindings.mcp import stdio
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.options import Options

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="needs sh and sleep")]

START_S = 0.1
MARK = "ISOLITH_TEST_MARK"

SERVERS = {
    "hangs": ("sleep", ("1077",)),
    "takes no SIGTERM": ("sh", ("-c", "trap '' TERM; sleep 1077; sleep 1077")),
}
KINDS = pytest.mark.parametrize("kind", SERVERS)
# While it is waited for, when that ends, during the grace of each of the two steps that follow, and after all.
TIMES = pytest.mark.parametrize("after_s", [0.0, 0.06, 0.1, 0.15, 0.25, 0.35])


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(stdio, "GRACE_S", 0.1)
    return uuid.uuid4().hex


def _server(kind: str, mark: str) -> McpServer:
    command, args = SERVERS[kind]
    return McpServer("s", StdioServer(command, args, env={MARK: mark}), options=Options(start_s=START_S))


def _running(mark: str) -> list[int]:
    """What runs of all that was started with this mark, whoever its parent is now."""
    found: list[int] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def _left(mark: str) -> list[int]:
    """What still runs after a moment for signals that were sent to arrive."""
    deadline = time.monotonic() + 240
    while (left := _running(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


async def _until_running(mark: str) -> None:
    async with asyncio.timeout(240):
        while not _running(mark):
            await asyncio.sleep(0.01)


@KINDS
@TIMES
async def test_closed_at_any_time(kind: str, after_s: float, mark: str) -> None:
    server = _server(kind, mark)
    await server.ready(0)
    await _until_running(mark)
    await asyncio.sleep(after_s)
    await server.aclose()
    assert _left(mark) == []


@KINDS
@TIMES
async def test_closed_by_who_is_cancelled_meanwhile(kind: str, after_s: float, mark: str) -> None:
    server = _server(kind, mark)
    await server.ready(0)
    await _until_running(mark)
    closing = asyncio.create_task(server.aclose())
    await asyncio.sleep(after_s)
    closing.cancel()
    await asyncio.wait({closing})
    # What goes on in the background is a matter of this loop, which nothing may hold up meanwhile.
    async with asyncio.timeout(240):
        while _running(mark):
            await asyncio.sleep(0.02)


# The SDK begins a task in one turn of the loop that first runs in the next: where the loop ends between the two, asyncio
# cancels that task, and Python says of what it would have run that nobody awaited it.
@pytest.mark.filterwarnings("ignore:coroutine 'JSONRPCDispatcher.run' was never awaited:RuntimeWarning")
@KINDS
@TIMES
def test_an_event_loop_that_ends_without_closing(kind: str, after_s: float, mark: str) -> None:
    async def main() -> None:
        await _server(kind, mark).ready(0)
        await _until_running(mark)
        await asyncio.sleep(after_s)

    asyncio.run(main())
    gc.collect()  # here it is said, and not while another test runs
    assert _left(mark) == []


@KINDS
def test_an_event_loop_that_ends_in_the_middle_of_a_start(
    kind: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program runs, and asyncio has not connected its pipes yet: on a busy machine that takes a while."""
    connect = BaseSubprocessTransport._connect_pipes

    async def slowly(transport: BaseSubprocessTransport, waiter: asyncio.Future[Any] | None) -> None:
        await asyncio.sleep(0.3)
        await connect(transport, waiter)

    monkeypatch.setattr(BaseSubprocessTransport, "_connect_pipes", slowly)

    async def main() -> None:
        await _server(kind, mark).ready(0)
        await _until_running(mark)

    asyncio.run(main())
    assert _left(mark) == []


@KINDS
@pytest.mark.parametrize("cancels", [1, 2, 5])
async def test_every_task_cancelled_again_and_again(kind: str, cancels: int, mark: str) -> None:
    server = _server(kind, mark)
    await server.ready(0)
    await _until_running(mark)
    for _ in range(cancels):
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            if task.get_name().startswith("mcp ") or "_stop" in repr(task.get_coro()):
                task.cancel()
        await asyncio.sleep(0.05)
    await server.aclose()
    assert _left(mark) == []


NO_MCP = "; on its standard output it wrote what is not MCP"


@pytest.mark.parametrize(
    ("program", "wrote"), [("sleep 1077", ""), ("while echo no JSON; do sleep 0.02; done", NO_MCP)]
)
async def test_who_waits_as_long_as_a_start_hears_why_it_failed(program: str, wrote: str, mark: str) -> None:
    for start_s in (START_S, 10 * START_S, 100 * START_S):
        server = McpServer("s", StdioServer("sh", ("-c", program), env={MARK: mark}), options=Options(start_s=start_s))
        assert not await server.ready(start_s)
        said = server.unavailable or ""
        await server.aclose()
        assert _left(mark) == []
        if said.endswith(NO_MCP) or not wrote:  # on a busy machine it comes to write something later than that
            break
    assert said == f"`sh` started but did not answer as an MCP server within {start_s:g} s{wrote}"


async def test_who_waits_less_than_a_start_waits_no_longer(mark: str) -> None:
    server = McpServer("s", StdioServer("sleep", ("1077",), env={MARK: mark}), options=Options(start_s=3600))
    assert not await server.ready(0.05)
    assert server.unavailable == "it has not answered yet"
    await server.aclose()
    assert _left(mark) == []


ABANDONED = """
import asyncio, sys
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp import stdio

async def start():
    server = StdioServer("sh", ("-c", "sleep 1077; sleep 1077"), env={sys.argv[1]: sys.argv[2]})
    kept.append(stdio.stdio_streams(server, stdio.Program()))
    await kept[0].__aenter__()

kept = []
loop = asyncio.new_event_loop()
loop.run_until_complete(start())
print(len(stdio._running))
sys.exit(3)
"""


def test_an_event_loop_that_is_given_up(mark: str) -> None:
    command = [sys.executable, "-c", ABANDONED, MARK, mark]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (3, "1\n")
    assert _left(mark) == []
