"""Servers that misbehave, over stdio and in both eras: each fault costs what it must and no more, and is said in a line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, Bench, connected, raw_server, until_says
from tests.bindings.mcp.conftest import until_gone

from isolith_bindings.errors import CallError
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.options import Options
from isolith_bindings.mcp.scopes import Sharing

if TYPE_CHECKING:
    from isolith_bindings.connector import Method

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", [(), ("--modern",)], ids=["legacy", "modern"])


@ERAS
async def test_a_server_without_faults(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era)) as bench:
        assert await bench.call("echo", n=1) == {"n": 1}
        assert bench.connector.status().era == ("modern" if era else "legacy")


@ERAS
@pytest.mark.parametrize("depth", [250, 900])
async def test_an_answer_that_is_nested_too_deeply_is_not_waited_for(era: tuple[str, ...], depth: int) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    async with connected(raw_server(*era, f'answer={{"content": [], "structuredContent": {deep}}}')) as bench:
        failed = await bench.failure("echo")
        assert (failed.kind, failed.message) == ("tool_error", "its answer is nested too deeply to be read")


@ERAS
async def test_arguments_arrive_byte_for_byte(era: tuple[str, ...], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    arguments: dict[str, object] = {
        "big": 2**90,
        "none": None,
        "list": [1, 2.5, "x"],
        "empty": {},
        "text": "007 é",
        "yes": True,
    }
    async with connected(raw_server(*era, f"trace={trace}")) as bench:
        assert await bench.call("echo", **arguments) == arguments
    called = [line for line in trace.read_text().splitlines() if line.startswith("call")]
    assert called == [f"call echo {json.dumps(arguments, sort_keys=True)}"]


@ERAS
async def test_killed_in_the_middle_of_a_call(era: tuple[str, ...], tmp_path: Path) -> None:
    async with connected(raw_server(*era, f"die={tmp_path / 'died'}")) as bench:
        failed = await bench.failure("echo")
        assert failed.kind == "tool_unavailable"
        assert failed.message == (
            "box.echo got no answer: it was ended by SIGKILL. It may have been carried out all the same"
        )
        assert failed.data == {"may_have_happened": True}
        # It is started anew, and serves again.
        assert await bench.call("echo", n=2) == {"n": 2}
        assert bench.connector.status().restarts == 1


@ERAS
async def test_a_call_that_can_do_no_harm_is_made_again(era: tuple[str, ...], tmp_path: Path) -> None:
    trace, died = tmp_path / "trace", tmp_path / "died"
    faults = (*era, "safe", f"die={died}", f"trace={trace}")
    async with connected(raw_server(*faults), trusted=True) as bench:
        assert await bench.call("echo", n=1) == {"n": 1}
    assert trace.read_text().count("call echo") == 2
    # What an untrusted server says of its tools earns it nothing.
    died.unlink()
    async with connected(raw_server(*faults)) as bench:
        assert (await bench.failure("echo")).kind == "tool_unavailable"


async def test_killed_while_nobody_calls() -> None:
    async with connected(raw_server()) as bench:
        first = bench.pid()
        os.kill(first, signal.SIGKILL)
        await _restarted(bench, first)
        assert bench.connector.status().state == "connected"
        assert await bench.call("echo", n=1) == {"n": 1}


@ERAS
async def test_one_that_comes_back_with_other_tools_says_so_as_a_list_that_changed(
    era: tuple[str, ...], tmp_path: Path
) -> None:
    died = tmp_path / "died"
    async with connected(raw_server(*era, f"reborn={died}")) as bench:
        assert set(bench.connector.methods) == {"echo", "leaver"}
        leaver = bench.connector.methods["leaver"]
        bench.changes.clear()
        died.touch()
        os.kill(bench.pid(), signal.SIGKILL)
        await bench.until(lambda: "newcomer" in bench.connector.methods)
        assert [(set(c.added), set(c.removed), set(c.changed)) for c in bench.changes] == [
            ({"newcomer"}, {"leaver"}, set())
        ]
        assert await bench.call("newcomer", n=1) == {"n": 1}
        gone = await _failure_of(bench, leaver)
        assert (gone.kind, gone.message) == ("unknown_tool", "box.leaver was removed by its server")


async def _failure_of(bench: Bench, method: Method) -> CallError:
    with pytest.raises(CallError) as caught:
        await bench.connector.call(method, {}, bench.context())
    return caught.value


async def _restarted(bench: Bench, first: int) -> None:
    async with asyncio.timeout(240):
        while True:
            members = bench.connector.status().members
            if members and members[0].pid not in {first, None} and members[0].state == "connected":
                return
            await asyncio.sleep(0.02)


async def test_what_a_dead_server_held_for_a_session_is_not_passed_over() -> None:
    async with connected(raw_server(), sharing=Sharing(scope="session")) as bench:
        await bench.call("echo")
        pid = bench.pid()
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(240):
            while bench.connector.status().members:
                await asyncio.sleep(0.02)
        told = await bench.failure("echo")
        assert told.kind == "tool_unavailable"
        assert told.message == (
            "the server behind box.echo ended (it was ended by SIGKILL), and what it held for this session is gone"
        )
        assert await bench.call("echo", n=1) == {"n": 1}


async def test_hangs_at_the_start() -> None:
    async with connected(raw_server("mute"), options=Options(start_s=0.5), ready=False) as bench:
        assert not await bench.connector.ready(PATIENCE_S)
        status = bench.connector.status()
        assert status.state == "failed"
        assert (
            status.reason == f"`{Path(sys.executable).name}` started but did not answer as an MCP server within 0.5 s"
        )


async def test_ends_at_the_start() -> None:
    async with connected(raw_server("exit"), ready=False) as bench:
        assert not await bench.connector.ready(PATIENCE_S)
        reason = str(bench.connector.status().reason)
        assert "it ended with exit code 3" in reason
        assert "it wrote: a token is missing" in reason
        # That is for whoever runs it, and not for scripts.
        assert bench.connector.unavailable == (
            f"`{Path(sys.executable).name}` did not answer as an MCP server: it ended with exit code 3"
        )


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-server", "there is no program `no-such-server`: install it, or give its whole path"),
        (
            "/none/no-such-server",
            "at the path that is given there is no program `no-such-server` that may be run: mend the path",
        ),
    ],
)
async def test_is_no_program(command: str, said: str) -> None:
    async with connected(StdioServer(command), ready=False) as bench:
        assert not await bench.connector.ready(PATIENCE_S)
        status = bench.connector.status()
        assert status.reason == said
        assert status.retry_in_s is not None


async def test_hangs_in_a_call_that_is_then_cancelled(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    async with connected(raw_server("hang", f"trace={trace}")) as bench:
        call = asyncio.create_task(bench.call("echo"))
        await until_says(trace, "call echo")
        call.cancel()
        await asyncio.wait({call}, timeout=PATIENCE_S)
        assert call.cancelled()
        await until_says(trace, "notified notifications/cancelled")


async def test_garbage_on_standard_output() -> None:
    async with connected(raw_server("garbage")) as bench:
        assert await bench.call("echo", n=1) == {"n": 1}


@ERAS
async def test_pages(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "many=25", "pages=10")) as bench:
        assert len(bench.connector.methods) == 25
        assert bench.connector.status().problems == ()


@ERAS
async def test_three_pages_and_then_in_a_circle(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "cycle")) as bench:
        assert set(bench.connector.methods) == {"page_0", "page_1", "page_2"}
        assert "go in a circle" in bench.connector.status().problems[0]


@ERAS
async def test_five_thousand_tools(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "many=5000")) as bench:
        assert len(bench.connector.methods) == 5000
        assert await bench.call("tool_4999", n=1) == {"n": 1}


@ERAS
async def test_names_that_would_be_the_same(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "collisions")) as bench:
        assert set(bench.connector.methods) == {"plain"}
        assert set(bench.connector.excluded) == {"a-b", "a_b", "a.b"}
        assert "would both be called `a_b`" in bench.connector.excluded["a-b"]


@ERAS
async def test_odd_tools_cost_at_most_themselves(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "odd")) as bench:
        methods = bench.connector.methods
        assert set(methods) == {"echo", "no_schema", "bad_schema", "bad_promise", "remote", "annotated"}
        for name in methods:
            if name != "bad_promise":
                assert await bench.call(name, a=1) == {"a": 1}
        # It promised structured content of a kind that nobody can look up, and what it answered is kept.
        assert (await bench.failure("bad_promise", a=1)).data == {"a": 1}
        assert methods["annotated"].annotations.read_only is True
        assert methods["annotated"].annotations.destructive is None
        assert len(bench.connector.status().problems) == 2


@ERAS
async def test_a_list_that_changes_while_it_is_used(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "change")) as bench:
        await bench.call("echo")
        await bench.until(lambda: "extra" in bench.connector.methods)
        extra = bench.connector.methods["extra"]
        await bench.call("extra")
        await bench.until(lambda: "extra" not in bench.connector.methods)
        assert [sorted(change.added) for change in bench.changes] == [["echo"], ["extra"], []]
        assert bench.changes[-1].removed == {"extra"}
        # One that is gone is refused by name.
        with pytest.raises(Exception, match=r"box.extra was removed by its server"):
            await bench.connector.call(extra, {}, bench.context())


@ERAS
async def test_progress_and_then_900_kb(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "progress", "large=900000")) as bench:
        assert await bench.call("echo") == "x" * 900_000
        assert bench.progress.reports == [(1.0, 3.0, "step 1"), (2.0, 3.0, "step 2"), (3.0, 3.0, "step 3")]


@pytest.mark.parametrize("answer", [{"content": []}, {"content": [{"type": "text", "text": "x"}]}])
async def test_a_modern_result_without_its_type(answer: dict[str, object]) -> None:
    async with connected(raw_server("--modern", "bare", f"answer={json.dumps(answer)}")) as bench:
        assert await bench.call("echo") == ("x" if answer["content"] else None)


ANSWERS: list[tuple[dict[str, object], object]] = [
    ({"content": [], "structuredContent": None}, None),
    ({"content": [], "structuredContent": [1, 2]}, [1, 2]),
    ({"content": [], "structuredContent": {"id": 2**53 + 1}}, {"id": 2**53 + 1}),
    ({"structuredContent": {"a": 1}}, {"a": 1}),
    ({"content": [{"type": "text", "text": '{"id": 9007199254740993}'}]}, {"id": 2**53 + 1}),
    ({"content": [{"type": "text", "text": "007"}]}, "007"),
    ({"content": [{"type": "hologram", "x": 1}]}, {"text": "", "files": [], "other": [{"type": "hologram", "x": 1}]}),
    ({}, None),
]


@ERAS
@pytest.mark.parametrize(("answer", "value"), ANSWERS)
async def test_odd_answers(era: tuple[str, ...], answer: dict[str, object], value: object) -> None:
    async with connected(raw_server(*era, f"answer={json.dumps(answer)}")) as bench:
        assert await bench.call("echo") == value
        raw = await bench.raw("echo")
        assert {key: item for key, item in raw.items() if key in answer} == answer


@ERAS
async def test_a_refusal_keeps_its_code_and_data(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "refuse")) as bench:
        refused = await bench.failure("echo")
        assert (refused.kind, refused.message) == ("tool_error", "no tools/call here")
        assert refused.data == {"code": -32000, "data": {"why": "told"}}


@pytest.mark.parametrize("blocks", [0, 1, 3])
async def test_the_text_of_a_failure_is_kept_whole(blocks: int) -> None:
    content = [{"type": "text", "text": f"line {number}" + "x" * 30_000} for number in range(blocks)]
    answer = {"content": content, "isError": True, "structuredContent": {"code": 7}}
    async with connected(raw_server(f"answer={json.dumps(answer)}")) as bench:
        failed = await bench.failure("echo")
        assert failed.kind == "tool_error"
        text = "\n".join(str(block["text"]) for block in content)
        assert failed.message == (text or '{"code": 7}')
        assert isinstance(failed.data, dict)
        assert failed.data["structured"] == {"code": 7}


@ERAS
async def test_a_promise_that_is_not_kept(era: tuple[str, ...]) -> None:
    answer = {"content": [], "structuredContent": {"n": "three"}}
    async with connected(raw_server(*era, "promise", f"answer={json.dumps(answer)}")) as bench:
        broken = await bench.failure("promise")
        assert broken.kind == "invalid_result"
        assert "box.promise" in broken.message
        assert "`n`" in broken.message
        assert broken.data == {"n": "three"}


@ERAS
async def test_what_a_server_logs_is_kept_the_last_of_it(era: tuple[str, ...]) -> None:
    async with connected(raw_server(*era, "log")) as bench:
        await bench.call("echo")
        await bench.call("echo")
        logs = bench.connector.status().logs
        assert len(logs) == 200
        assert "info: line 299" in logs[-5:]


async def test_nothing_is_left_running() -> None:
    async with connected(raw_server()) as bench:
        pid = bench.pid()
    assert until_gone(pid)
    assert bench.connector.status().state == "not_started"


async def test_one_that_hangs_holds_up_no_other() -> None:
    async with connected(raw_server("mute"), ready=False) as slow, connected(raw_server()) as bench:
        await slow.connector.ready(0)
        assert await bench.call("echo", n=1) == {"n": 1}
        assert slow.connector.status().state == "starting"
