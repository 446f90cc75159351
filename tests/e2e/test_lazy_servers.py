"""A server is started when a script first needs it, beside the others; one that nobody needs is not started."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from isolith import CodeMode
from isolith.run import gradual
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.scopes import Sharing

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "raw_server.py"


def server(name: str, *faults: str) -> McpServer:
    return McpServer(name, StdioServer(sys.executable, (str(SERVER), *faults)))


async def test_only_what_a_script_names_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradual, "BROWSING_S", 0.05)
    quick, other, mute = server("quick"), server("other"), server("mute", "mute")
    async with CodeMode([mute, quick, other]) as code_mode:
        assert (await code_mode.execute("1 + 1")).value == 2
        assert [each.status().state for each in (quick, other, mute)] == ["not_started"] * 3
        assert other.unavailable == "it has not been started: that is done when it is first needed"
        assert (await code_mode.execute("await quick.echo(n=1)")).value == {"n": 1}
        assert [each.status().state for each in (quick, other, mute)] == ["connected", "not_started", "not_started"]
        # Who looks through all of them starts all of them, and waits for none that does not answer.
        assert (await code_mode.execute("search('echo')")).error is None
        assert mute.status().state == "starting"
        async with asyncio.timeout(240):
            while other.status().state != "connected":
                await asyncio.sleep(0.02)
        assert mute.status().state == "starting"
        assert (await code_mode.execute("await other.echo(n=2)")).value == {"n": 2}


async def test_all_are_started_at_once_where_that_is_asked_for() -> None:
    quick, other = server("quick"), server("other")
    async with CodeMode([quick, other], warm=True):
        async with asyncio.timeout(240):
            while {quick.status().state, other.status().state} != {"connected"}:
                await asyncio.sleep(0.02)


async def test_a_session_that_has_ended_takes_its_servers_with_it() -> None:
    stateful = McpServer(
        "bench", StdioServer(sys.executable, (str(SERVER.with_name("sdk_server.py")),)), sharing=Sharing("session")
    )
    async with CodeMode([stateful]) as code_mode:
        counted = [
            (await code_mode.execute("await bench.count()", session=session)).value for session in ("a", "a", "b")
        ]
        assert counted == [1, 2, 1]
        await code_mode.end_session("a")
        assert len(stateful.status().members) == 1
        assert (await code_mode.execute("await bench.count()", session="b")).value == 2
        assert (await code_mode.execute("await bench.count()", session="a")).value == 1


async def test_a_method_that_is_asked_about_by_a_server_that_is_not_known_yet_has_the_run_wait() -> None:
    async with CodeMode([server("quick")], policy="careful") as code_mode:
        paused = await code_mode.execute("await quick.echo(n=1)")
        assert (paused.status, paused.error) == ("paused", None)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
        assert final.value == {"n": 1}
