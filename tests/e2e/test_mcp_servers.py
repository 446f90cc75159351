"""Scripts over real MCP servers: data of three joined, failures caught, tools that appear, files passed on."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from opentelemetry import trace

from isolith import CodeMode
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.scopes import Sharing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from isolith.outcome import Outcome

pytestmark = pytest.mark.slow
FIXTURES = Path(__file__).parents[2] / "fixtures" / "mcp"


def server(name: str, file: str, *arguments: str, sharing: Sharing | None = None) -> McpServer:
    return McpServer(name, StdioServer(sys.executable, (str(FIXTURES / file), *arguments)), sharing=sharing)


@contextlib.asynccontextmanager
async def connected() -> AsyncGenerator[CodeMode]:
    clock = McpServer("clock", StdioServer(sys.executable, ("-m", "mcp_server_time")))
    bench = server("bench", "sdk_server.py", sharing=Sharing("execution"))
    servers = [bench, server("fast", "fast_server.py"), clock, server("broken", "raw_server.py", "exit")]
    async with CodeMode(connectors=servers) as code_mode:
        yield code_mode


async def run_all(*scripts: str) -> list[Outcome]:
    async with connected() as code_mode:
        return [await code_mode.execute(script) for script in scripts]


THREE = """
import asyncio
words, hours, points = await asyncio.gather(
    fast.words(text="tea and cake"),
    clock.convert_time(source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"),
    bench.points(count=3),
)
[{"word": w, "x": p["x"], "offset": hours["time_difference"]} for w, p in zip(words, points)]
"""
FAILURE = """
try:
    await bench.fail(text="no\\nway")
except ToolError as error:
    failed = [error.connector, error.method, error.kind, str(error)]
failed
"""
FILE = """
picture = (await bench.picture())["files"][0]
[picture.mime, picture.size, (await picture.read())[:4], await bench.measure(data=picture)]
"""
UNLOCK = "await bench.unlock()\nawait bench.secret()"
COUNT = "[await bench.count(), await bench.count()]"


def test_scripts_over_several_servers() -> None:
    three, failure, file, unlocked, first, second = asyncio.run(run_all(THREE, FAILURE, FILE, UNLOCK, COUNT, COUNT))
    assert three.value == [
        {"word": "tea", "x": 0, "offset": "+9.0h"},
        {"word": "and", "x": 1, "offset": "+9.0h"},
        {"word": "cake", "x": 2, "offset": "+9.0h"},
    ]
    assert failure.value == ["bench", "fail", "tool_error", "Error executing tool fail: no\nway"]
    assert file.value == ["image/png", 70, b"\x89PNG", 70]
    assert [artifact.mime for artifact in file.artifacts] == ["image/png"]
    assert unlocked.value == "found"
    # A server for each execution: nothing of one is seen by the next.
    assert (first.value, second.value) == ([1, 2], [1, 2])


def test_a_server_that_does_not_start_is_told_by_its_calls_and_holds_up_no_other() -> None:
    broken, other = asyncio.run(run_all("await broken.echo(x=1)", "await fast.words(text='a b')"))
    assert broken.error is not None
    assert broken.error.kind == "tool_unavailable"
    assert "it ended with exit code 3" in broken.error.message
    assert other.value == ["a", "b"]


def test_a_synchronous_script_and_no_event_loop() -> None:
    code_mode = CodeMode(connectors=[server("fast", "fast_server.py")])
    outcome = code_mode.execute_sync("fast.lengths(text='a bc')")
    assert outcome.value == {"a": 1, "bc": 2}
    assert code_mode.execute_sync("fast.words.raw(text='a')").value is not None


def test_the_trace_of_who_runs_a_script_goes_on_in_the_servers_that_it_calls() -> None:
    span = trace.NonRecordingSpan(trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)))

    async def main() -> list[object]:
        async with CodeMode([server("bench", "sdk_server.py")]) as code_mode:
            with trace.use_span(span):
                traced = await code_mode.execute("await bench.meta()")
            return [traced.value, (await code_mode.execute("await bench.meta()")).value]

    assert asyncio.run(main()) == [{"traceparent": f"00-{0xABC:032x}-{0xDEF:016x}-01"}, {}]


def test_the_end_of_a_run_is_the_end_of_its_servers() -> None:
    async def main() -> None:
        async with connected() as code_mode:
            bench = code_mode.catalog.connectors["bench"]
            run = code_mode.start("await bench.slow(steps=1, pause=60)")
            async for event in run.events():
                if event["event"] == "progress":
                    break
            run.cancel()
            assert (await run.outcome()).status == "cancelled"
            async with asyncio.timeout(240):
                while bench.status().members:  # type: ignore[attr-defined]
                    await asyncio.sleep(0.02)

    asyncio.run(main())
