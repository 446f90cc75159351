"""PM-06: a call that got no answer is made again once where that can do no harm, and never once it was cancelled."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, Bench, connected, raw_server, until_says

from isolith import CodeMode
from isolith_bindings.mcp.connection import Connection
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.failures import ConnectionBroke

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.mcp.descriptions import StdioServer

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", [(), ("--modern",)], ids=["legacy", "modern"])


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def server(trace: Path, *faults: str) -> StdioServer:
    """One whose tool is safe to call again, and whose first call gets no answer."""
    return raw_server("safe", f"hang={trace.with_name('hung')}", f"trace={trace}", *faults)


def calls(trace: Path) -> list[str]:
    return [line for line in trace.read_text().splitlines() if line.startswith("call")]


async def started_anew(bench: Bench, first: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not (members := bench.connector.status().members) or members[0].pid in {first, None}:
            await asyncio.sleep(0.02)


@ERAS
async def test_a_call_that_is_cancelled_as_its_server_dies_is_not_made_again(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era), trusted=True) as bench:
        call, first = asyncio.create_task(bench.call("echo", n=1)), bench.pid()
        await until_says(trace, "call echo")
        os.kill(first, signal.SIGKILL)
        call.cancel()
        await asyncio.wait({call}, timeout=PATIENCE_S)
        assert call.cancelled()
        await started_anew(bench, first)
        # The server that came in its place is asked what is asked of it from now on, and nothing else.
        assert await bench.call("echo", n=2) == {"n": 2}
    assert calls(trace) == ['call echo {"n": 1}', 'call echo {"n": 2}']


async def test_a_server_may_be_gone_before_it_is_asked_whether_it_is_there(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    def gone(_connection: Connection) -> str:
        asked.set()
        raise ConnectionBroke("it was ended by SIGKILL", sent=False)

    async with connected(server(trace), trusted=True) as bench:
        call, first = asyncio.create_task(bench.call("echo", n=1)), bench.pid()
        await until_says(trace, "call echo")
        with monkeypatch.context() as patched:
            patched.setattr(Connection, "era", property(gone))
            call.cancel()
            await asyncio.wait({call}, timeout=PATIENCE_S)
            await asyncio.wait_for(asked.wait(), PATIENCE_S)
        await started_anew(bench, first)
        assert await bench.call("echo", n=2) == {"n": 2}


@ERAS
async def test_a_server_that_dies_of_the_cancellation_is_not_asked_again(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era, "touchy"), trusted=True) as bench:
        call, first = asyncio.create_task(bench.call("echo", n=1)), bench.pid()
        await until_says(trace, "call echo")
        call.cancel()
        await asyncio.wait({call}, timeout=PATIENCE_S)
        assert call.cancelled()
        await started_anew(bench, first)
        assert await bench.call("echo", n=2) == {"n": 2}
    assert calls(trace) == ['call echo {"n": 1}', 'call echo {"n": 2}']


async def test_a_call_whose_server_dies_without_a_cancellation_is(trace: Path) -> None:
    async with connected(server(trace), trusted=True) as bench:
        call, first = asyncio.create_task(bench.call("echo", n=1)), bench.pid()
        await until_says(trace, "call echo")
        os.kill(first, signal.SIGKILL)
        async with asyncio.timeout(PATIENCE_S):
            assert await call == {"n": 1}
    assert calls(trace) == ['call echo {"n": 1}'] * 2


async def test_a_second_break_is_told(trace: Path) -> None:
    async with connected(raw_server("safe", "die", f"trace={trace}"), trusted=True) as bench:
        failed = await bench.failure("echo", n=1)
        assert (failed.kind, failed.data) == ("tool_unavailable", {"may_have_happened": True})
    assert calls(trace) == ['call echo {"n": 1}'] * 2


@pytest.mark.usefixtures("supply")
async def test_a_run_that_is_cancelled_as_a_server_dies_makes_no_call_again(trace: Path) -> None:
    box = McpServer("box", server(trace), trusted=True)
    async with CodeMode([box]) as code_mode:
        execution = code_mode.start("await box.echo(n=1)")
        await until_says(trace, "call echo")
        pid = box.status().members[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        execution.cancel()
        outcome = await execution.outcome()
        assert outcome.status == "cancelled"
        assert (await code_mode.execute("await box.echo(n=2)")).value == {"n": 2}
    assert calls(trace) == ['call echo {"n": 1}', 'call echo {"n": 2}']
