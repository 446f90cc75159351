"""Real servers shared out: what one session holds no other sees, and whatever ends takes its servers with it."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import Bench, connected, python_server, raw_server, until_says
from tests.bindings.mcp.conftest import until_gone

from isolith_bindings.mcp.scopes import Sharing

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.connector import CallContext

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def of(bench: Bench, session: str | None, execution: str = "e", principal: str = "p") -> CallContext:
    return replace(bench.context(), session=session, execution_id=execution, principal=principal)


async def count(bench: Bench, context: CallContext) -> object:
    return await bench.call_in(context, "count")


async def test_two_sessions_at_a_time_never_see_each_other() -> None:
    async with connected(python_server("sdk_server.py"), sharing=Sharing("session")) as bench:
        one, two, other = of(bench, "one"), of(bench, "two", "f"), of(bench, "one", "g", "q")
        firsts = await asyncio.gather(*(count(bench, context) for context in (one, two, other)))
        assert firsts == [1, 1, 1]
        # The same session goes on, in another execution too.
        assert await count(bench, of(bench, "one", "h")) == 2
        assert {member.shared_by for member in bench.connector.status().members} == {"session"}
        pids = {member.pid for member in bench.connector.status().members}
        mine = await bench.call_in(one, "pid")
        await bench.connector.session_ended("p", "one")
        assert isinstance(mine, int)
        assert until_gone(mine)
        assert {member.pid for member in bench.connector.status().members} == pids - {mine}
        assert await count(bench, two) == 2
        assert await count(bench, one) == 1


async def test_what_is_of_an_execution_ends_with_it() -> None:
    async with connected(python_server("sdk_server.py"), sharing=Sharing("execution")) as bench:
        context = of(bench, "s", "run-1")
        assert await count(bench, context) == 1
        assert await count(bench, context) == 2
        pid = await bench.call_in(context, "pid")
        assert isinstance(pid, int)
        # Even where one of its calls was cancelled in the middle.
        waiting = asyncio.create_task(bench.call_in(context, "slow", steps=1, pause=60))
        while not bench.progress.reports:
            await asyncio.sleep(0.02)
        waiting.cancel()
        await asyncio.wait({waiting})
        await bench.connector.execution_ended("run-1")
        assert until_gone(pid)
        assert bench.connector.status().members == ()
        assert bench.connector.status().state == "idle"
        assert await count(bench, of(bench, "s", "run-2")) == 1


async def test_a_server_for_each_call() -> None:
    async with connected(raw_server(), sharing=Sharing("call")) as bench:
        contexts = [replace(bench.context(), call_id=f"e.{number}") for number in range(3)]
        await asyncio.gather(*(bench.call_in(context, "echo") for context in contexts))
        async with asyncio.timeout(240):
            while bench.connector.status().members:
                await asyncio.sleep(0.02)


async def test_one_that_nobody_calls_is_stopped_and_comes_back() -> None:
    async with connected(raw_server(), sharing=Sharing(idle_s=0.05)) as bench:
        async with asyncio.timeout(240):
            while bench.connector.status().state != "idle":
                await asyncio.sleep(0.02)
        assert bench.connector.status().tools == 1
        assert await bench.call("echo", n=1) == {"n": 1}


@pytest.mark.parametrize("era", [(), ("--modern",)], ids=["legacy", "modern"])
async def test_a_look_at_its_health_is_of_its_era(era: tuple[str, ...], tmp_path: Path) -> None:
    async with connected(raw_server(*era, *hanging_once(tmp_path))) as bench:
        await given_up(bench, tmp_path)
        assert probes(tmp_path / "trace")[0] == "probed by server/discover"
        async with asyncio.timeout(240):
            while len(found := probes(tmp_path / "trace")) == 1:
                await asyncio.sleep(0.02)
    assert found[1:] == [f"probed by {'server/discover' if era else 'ping'}"]


async def test_a_look_at_its_health_keeps_no_server_alive(tmp_path: Path) -> None:
    async with connected(raw_server(*hanging_once(tmp_path)), sharing=Sharing(idle_s=0.5)) as bench:
        await given_up(bench, tmp_path)
        async with asyncio.timeout(240):
            while bench.connector.status().state != "idle":
                await asyncio.sleep(0.02)


def hanging_once(folder: Path) -> tuple[str, str]:
    return (f"hang={folder / 'hung'}", f"trace={folder / 'trace'}")


async def given_up(bench: Bench, folder: Path) -> None:
    """A call that got no answer, after which it is looked at whether the server gives any."""
    call = asyncio.create_task(bench.call("echo"))
    await until_says(folder / "trace", "call echo")
    call.cancel()
    await asyncio.wait({call})


def probes(trace: Path) -> list[str]:
    return [line for line in trace.read_text().splitlines() if line.startswith("probed")]


async def test_status_starts_nothing_and_says_its_scope() -> None:
    async with connected(raw_server(), ready=False) as bench:
        status = bench.connector.status()
        assert (status.state, status.members, status.tools) == ("not_started", (), 0)
        assert status.scope == "every running server of `box` in this process, shared by all callers"
        assert bench.connector.status().members == ()


async def test_a_reconnection_says_what_is_there_and_that_is_there() -> None:
    async with connected(raw_server("change")) as bench:
        first = bench.connector.status().members[0].connection_id
        await bench.call("echo")
        await bench.until(lambda: "extra" in bench.connector.methods)
        again = await bench.connector.reconnect()
        assert (again.ok, again.tools, again.added, again.removed) == (True, 1, (), ("extra",))
        assert again.connection_id == bench.connector.status().members[0].connection_id != first
        assert set(bench.connector.methods) == {"echo"}


async def test_a_reconnection_to_what_is_not_there_says_so() -> None:
    async with connected(raw_server("exit"), ready=False) as bench:
        again = await bench.connector.reconnect()
        assert not again.ok
        assert "exit code 3" in str(again.reason)
        assert "a token is missing" in str(again.reason)


async def test_a_connector_can_be_used_in_one_event_loop_after_another() -> None:
    bench = Bench((await _opened()).connector)

    async def once() -> object:
        await bench.connector.start()
        assert await bench.connector.ready(240)
        value = await bench.call("echo", n=1)
        await bench.connector.aclose()
        return value

    assert await asyncio.to_thread(asyncio.run, once()) == {"n": 1}
    assert await once() == {"n": 1}


async def _opened() -> Bench:
    async with connected(raw_server()) as bench:
        return bench


async def test_a_dead_server_is_not_shown_as_there() -> None:
    async with connected(raw_server(), sharing=Sharing("session")) as bench:
        await bench.call("echo")
        os.kill(bench.pid(), signal.SIGKILL)
        async with asyncio.timeout(120):
            while bench.connector.status().state == "connected":
                await asyncio.sleep(0.01)
        assert bench.connector.status().members == ()
