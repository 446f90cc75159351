"""Calls that a server answers with a task (B11): looked at until there is a result, in both forms of the protocol."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import PATIENCE_S, connected, python_server, until_says
from tests.bindings.mcp.faulty_http import JSON, Faulty, Handler, faulty_http

from isolith_bindings.connector import Answer, Resumed, Suspended
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.tasks import LONGEST_S, POLL_S, SHORTEST_S, pause_s

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_bindings.mcp.descriptions import StdioServer

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("era", [(), ("--modern",)], ids=["2025-11-25", "2026-07-28"])


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def server(trace: Path, *more: str) -> StdioServer:
    return python_server("task_server.py", str(trace), *more)


def said(trace: Path, *beginnings: str) -> list[str]:
    """What the server was asked, of what begins so."""
    return [line for line in trace.read_text().splitlines() if line.startswith(beginnings)]


@ERAS
async def test_a_tool_that_must_be_a_task_is_looked_at_until_its_result(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era)) as bench:
        assert bench.connector.excluded == {}
        assert await bench.call("work", looks=3) == {"answer": None, "looked": 3}
        # Each look at a task that goes on is progress: it extends the time of the call, and is an event.
        assert [text for _, _, text in bench.progress.reports] == ["look 0", "look 1", "look 2"]
        assert [done for done, _, _ in bench.progress.reports] == [1, 2, 3]
        fetched = [] if era else ["tasks/result task-0"]
        assert said(trace, "tasks/") == ["tasks/get task-0"] * 3 + fetched
        assert (await bench.raw("work"))["structuredContent"] == {"answer": None, "looked": 1}


@ERAS
async def test_a_tool_that_may_be_a_task_is_called_plainly(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era)) as bench:
        assert await bench.call("plain") == "plain"
        await bench.call("work")
    # In 2025-11-25 the client asks for a task, where there has to be one; since then it says that there may be one.
    assert said(trace, "call") == [f"call plain {bool(era)}", "call work True"]


@ERAS
@pytest.mark.parametrize(
    ("end", "kind", "message"),
    [
        ("error", "tool_error", "out of paper"),
        ("failed", "tool_error", "the printer is on fire"),
        ("cancelled", "tool_error", "the server cancelled the task of box.work: look 1"),
        ("odd", "invalid_result", "box.work: its task is in a state that there is not: 'odd'"),
    ],
)
async def test_a_task_that_does_not_end_well(
    era: tuple[str, ...], end: str, kind: str, message: str, trace: Path
) -> None:
    async with connected(server(trace, *era)) as bench:
        failed = await bench.failure("work", end=end)
        assert (failed.kind, failed.message) == (kind, message)
        assert bench.connector.status().state == "connected"


@ERAS
async def test_a_task_that_its_server_has_forgotten_may_have_happened(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era), trusted=True) as bench:
        failed = await bench.failure("work", end="forgotten")
        assert failed.kind == "tool_unavailable"
        assert failed.message == (
            "the server no longer knows the task of box.work: Failed to retrieve task: Task has expired. "
            "It may have been carried out"
        )
        assert failed.data == {"may_have_happened": True}
    assert said(trace, "call work") == ["call work True"]


@ERAS
async def test_a_server_that_dies_with_a_task_is_not_asked_to_do_it_again(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era)) as bench:
        failed = await bench.failure("work", end="death")
        assert failed.data == {"may_have_happened": True}
        assert await bench.call("plain") == "plain"
    assert said(trace, "call work") == ["call work True"]


@ERAS
async def test_a_call_that_is_cancelled_cancels_its_task(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era)) as bench:
        call = asyncio.create_task(bench.call("work", end="never"))
        await until_says(trace, "tasks/get")
        call.cancel()
        await asyncio.wait({call}, timeout=PATIENCE_S)
        assert call.cancelled()
        await until_says(trace, "tasks/cancel task-0")
        assert await bench.call("plain") == "plain"


@ERAS
async def test_what_a_task_asks_is_asked_of_a_person_once(era: tuple[str, ...], trace: Path) -> None:
    async with connected(server(trace, *era)) as bench:
        bench.answer = Answer("accept", {"sure": True})
        value = await bench.call("work", looks=3, ask=True)
        assert isinstance(value, dict)
        assert value["answer"] == {"sure": True}
        assert [question.message for question in bench.questions] == ["Go on?"]
    assert said(trace, "call", "tasks/update") == ["call work True", *(["tasks/update task-0"] if era else [])]


async def test_a_task_that_waits_for_a_person_is_put_off_and_goes_on(trace: Path) -> None:
    async with connected(server(trace, "--modern")) as bench:
        context = replace(bench.context(), waits=True)
        with pytest.raises(Suspended) as caught:
            await bench.call_in(context, "work", looks=3, ask=True)
        assert {key: question.message for key, question in caught.value.questions.items()} == {"go": "Go on?"}
        # It is the server's to keep until then, and by another process it is taken up as well as by this one.
        resumed = Resumed(json.loads(json.dumps(caught.value.state)), {"go": Answer("accept", {"sure": True})})
        value = await bench.call_in(replace(context, resumed=resumed), "work", looks=3, ask=True)
        assert isinstance(value, dict)
        assert value["answer"] == {"sure": True}
    assert said(trace, "call", "tasks/update", "tasks/cancel") == ["call work True", "tasks/update task-0"]


async def test_a_task_whose_server_is_another_by_now_is_not_begun_anew(trace: Path) -> None:
    async with connected(server(trace, "--modern")) as bench:
        context = replace(bench.context(), waits=True)
        with pytest.raises(Suspended) as caught:
            await bench.call_in(context, "work", ask=True)
        await bench.connector.reconnect()
        resumed = Resumed(caught.value.state, {"go": Answer("accept", {"sure": True})})
        with pytest.raises(CallError, match=r"no longer knows the task of box\.work") as forgotten:
            await bench.call_in(replace(context, resumed=resumed), "work", ask=True)
        assert forgotten.value.data == {"may_have_happened": True}
    assert said(trace, "call work") == ["call work True"]


class Breaking(Handler):
    """Answers with a task, and the first who asks about it with a stream that breaks."""

    def _call(self, message: JSON) -> None:
        self.faulty.calls += 1
        task: JSON = {"taskId": "task-1", "status": "working", "ttlMs": None, "pollIntervalMs": 1}
        self._json({"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "task", **task}})

    def _answer(self, message: JSON, method: str) -> None:
        if method != "tasks/get":
            super()._answer(message, method)
        elif self.faulty.breaks:
            self.faulty.breaks -= 1
            self._begin_events()
            self.close_connection = True
        else:
            result: JSON = {"content": [{"type": "text", "text": "printed"}]}
            self._result(message, {"taskId": "task-1", "status": "completed", "ttlMs": None, "result": result})


async def test_over_http_an_answer_that_got_lost_is_asked_for_again_and_the_call_is_not() -> None:
    with faulty_http(Faulty(breaks=1), Breaking) as told:
        async with connected(told.server) as bench:
            assert await bench.call("work") == "printed"
    assert told.calls == 1
    # Whatever stands between finds the host that has the task by its name.
    about = [(seen["mcp-method"], seen["mcp-name"]) for seen in told.seen if seen.get("mcp-method") == "tasks/get"]
    assert about == [("tasks/get", "task-1")] * 2


async def test_a_person_who_ends_the_call_ends_its_task(trace: Path) -> None:
    async def refuse(_: object) -> Answer:
        raise CallError("rejected", "no")

    async with connected(server(trace, "--modern")) as bench:
        with pytest.raises(CallError, match="no"):
            await bench.call_in(replace(bench.context(), ask=refuse), "work", ask=True)
        await until_says(trace, "tasks/cancel task-0")


async def test_a_tool_that_must_be_a_task_of_a_server_without_tasks_is_left_out_and_says_why(trace: Path) -> None:
    async with connected(server(trace, "undeclared")) as bench:
        assert set(bench.connector.methods) == {"plain"}
        assert bench.connector.excluded == {
            "work": "it can only be called as a task, and its server does not say that it has tasks"
        }


@pytest.mark.parametrize(
    ("given", "pause"),
    [(500, 0.5), (0, SHORTEST_S), (-3, SHORTEST_S), (10**9, LONGEST_S), (None, POLL_S), ("5", POLL_S), (True, POLL_S)],
)
def test_a_server_says_how_often_within_bounds(given: object, pause: float) -> None:
    assert pause_s(given) == pause
    assert pause_s(float("nan")) == pause_s(float("inf")) == POLL_S
