"""What a server asks during a call reaches the host, with the call it belongs to; nobody there, and it is declined."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from isolith import CodeMode, connector, method
from isolith.errors import UsageError
from isolith.journal.errors import AlreadyDecided, DigestMismatch
from isolith_bindings.connector import Answer, CallContext, Question, Suspended
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.options import Options

if TYPE_CHECKING:
    from isolith.calling.questions import Asked, Questions
    from isolith.outcome import Outcome

pytestmark = pytest.mark.anyio
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "sdk_server.py"
SURE: dict[str, object] = {"sure": True}


@connector("files")
class Files:
    """Asks before it deletes, as an MCP server does by elicitation."""

    async def delete(self, name: str, context: CallContext) -> list[object]:
        """Delete one."""
        answer = await context.ask(Question(f"really delete {name}?", {"type": "object"}))
        return [answer.action, dict(answer.content or {})]


async def ran(questions: Questions | None) -> tuple[object, list[object]]:
    async with CodeMode([Files], questions=questions) as code_mode:
        execution = code_mode.start("await files.delete(name='a')", principal="ada", session="s1")
        outcome = await execution.outcome()
        assert outcome.error is None
        events = [event async for event in execution.events() if event["event"] == "question"]
        return outcome.value, [(event["message"], event["declined"]) for event in events]


CANNOT_WAIT = "its server asks in the middle of a call, as MCP did before 2026-07-28, and cannot wait for a person"


@pytest.mark.parametrize("questions", [None, "pause"])
async def test_nobody_is_there(questions: Literal["pause"] | None) -> None:
    """To have the run wait was advised, and then refused."""
    assert await ran(questions) == (["decline", {}], [("really delete a?", CANNOT_WAIT)])


async def test_somebody_answers_and_is_told_of_the_call() -> None:
    asked: list[Asked] = []

    async def answer(question: Asked) -> Answer:
        asked.append(question)
        return Answer("accept", {"sure": True})

    assert await ran(answer) == (["accept", {"sure": True}], [("really delete a?", None)])
    [one] = asked
    assert (one.connector, one.method, one.arguments) == ("files", "delete", {"name": "a"})
    assert (one.principal, one.session, one.call_id) == ("ada", "s1", f"{one.execution_id}.1")
    assert one.question.message == "really delete a?"


async def test_one_that_asks_in_the_middle_of_a_call_cannot_have_the_run_wait() -> None:
    value, events = await ran("pause")
    assert (value, len(events)) == (["decline", {}], 1)
    assert "in the middle of a call" in str(events[0])


# a run that waits


def bench(*, legacy: bool = False) -> McpServer:
    return McpServer("bench", StdioServer(sys.executable, (str(SERVER),)), options=Options(legacy=legacy))


ASYNC = "before = await bench.add(a=1)\n[before, await bench.delete()]"


@pytest.mark.parametrize("script", [ASYNC, ASYNC.replace("await ", "")], ids=["async", "sync"])
async def test_a_server_of_2026_07_28_has_the_run_wait(script: str) -> None:
    async with CodeMode([bench()], questions="pause") as code_mode:
        paused = await code_mode.execute(script)
        assert (paused.status, paused.error) == ("paused", None)
        [waiting] = paused.pending
        assert (waiting.kind, waiting.method, waiting.arguments) == ("question", "delete", {})
        assert waiting.reason == "the server of bench.delete asks: > Delete everything?"
        [question] = waiting.questions
        assert question.message == "Delete everything?"
        assert question.answer is not None
        assert question.answer["required"] == ["sure"]
        await refused(code_mode, waiting.call_id, paused.execution_id)
        final = await code_mode.approve(paused.execution_id, waiting.call_id, digest=waiting.digest, answer=SURE)
    assert (final.status, final.value, final.usage.passes) == ("completed", [2, "accept True"], 2)
    assert [call.status for call in final.calls] == ["completed"] * 2


async def refused(code_mode: CodeMode, call: str, execution: str) -> None:
    """No answer but one that fits, to the question that waits, counts."""
    with pytest.raises(UsageError, match=r"asks for data: give it with `--answer`, by the schema \{"):
        await code_mode.approve(execution, call)
    with pytest.raises(UsageError, match="does not fit what the server asks for: `sure`"):
        await code_mode.approve(execution, call, answer={"sure": "perhaps"})
    with pytest.raises(UsageError, match="the call was made, and its server asks"):
        await code_mode.approve(execution, call, arguments={})
    with pytest.raises(DigestMismatch, match="another question"):
        await code_mode.approve(execution, call, digest="0" * 64, answer=SURE)


async def test_another_process_goes_on_with_a_server_that_has_forgotten_the_question(tmp_path: Path) -> None:
    # The SDK seals what it remembers with a key of the process: it is asked anew, and answered the same.
    async with CodeMode([bench()], questions="pause", journal=tmp_path / "journal.db") as one:
        paused = await one.execute(ASYNC)
    async with CodeMode([bench()], questions="pause", journal=tmp_path / "journal.db") as two:
        final = await two.approve(paused.execution_id, paused.pending[0].call_id, answer=SURE)
        with pytest.raises(AlreadyDecided):
            await two.approve(paused.execution_id, paused.pending[0].call_id, answer=SURE)
    assert (final.status, final.value) == ("completed", [2, "accept True"])


async def test_a_person_who_refuses_ends_the_call() -> None:
    async with CodeMode([bench()], questions="pause") as code_mode:
        paused = await code_mode.execute("await bench.delete()")
        final = await code_mode.reject(paused.execution_id, paused.pending[0].call_id, reason="not today")
    assert final.error is not None
    assert (final.status, final.error.kind) == ("rejected", "rejected")
    assert "not today" in final.error.message


@pytest.mark.parametrize("questions", [None, "pause"])
async def test_a_server_of_before_2026_07_28_is_declined_with_the_reason(questions: Literal["pause"] | None) -> None:
    async with CodeMode([bench(legacy=True)], questions=questions) as code_mode:
        execution = code_mode.start("await bench.delete()")
        outcome = await execution.outcome()
        events = [event async for event in execution.events() if event["event"] == "question"]
    assert (outcome.status, outcome.value) == ("completed", "decline")
    [event] = events
    assert (event["message"], event["connector"], event["method"]) == ("Delete everything?", "bench", "delete")
    assert event["declined"] == CANNOT_WAIT


@pytest.mark.parametrize("legacy", [True, False], ids=["2025-11-25", "2026-07-28"])
async def test_who_answers_at_once_answers_servers_of_either_revision(legacy: bool) -> None:
    asked: list[Asked] = []

    async def answer(question: Asked) -> Answer:
        asked.append(question)
        return Answer("accept", {"sure": True})

    async with CodeMode([bench(legacy=legacy)], questions=answer) as code_mode:
        execution = code_mode.start("[await bench.delete(), await bench.add(a=1)]", principal="ada")
        outcome = await execution.outcome()
    # The run went on from where it had asked.
    assert (outcome.status, outcome.value, outcome.usage.passes) == ("completed", ["accept True", 2], 1)
    [one] = asked
    assert (one.question.message, one.connector, one.method) == ("Delete everything?", "bench", "delete")
    assert (one.call_id, one.principal) == (f"{execution.execution_id}.1", "ada")


async def test_two_rounds_are_two_questions_and_edited_arguments_stay() -> None:
    calls: list[tuple[str, object]] = []

    @connector("shop")
    class Shop:
        """Asks twice, each time from the beginning."""

        @method(policy="ask")
        async def buy(self, what: str, context: CallContext) -> str:
            """Buy something."""
            resumed = context.resumed
            calls.append((what, None if resumed is None else (resumed.state, resumed.answers["q"].content)))
            number = 0 if resumed is None else int(str(resumed.state))
            if number < 2:
                raise Suspended({"q": Question(f"question {number}?", {"type": "object"})}, number + 1)
            return f"bought {what}"

    async with CodeMode([Shop], questions="pause") as code_mode:
        asked: list[Outcome] = [await code_mode.execute("await shop.buy(what='tea')")]
        run, call = asked[0].execution_id, asked[0].pending[0].call_id
        assert asked[0].pending[0].kind == "approval"
        with pytest.raises(UsageError, match="no server asks"):
            await code_mode.approve(run, call, answer={})
        asked.append(await code_mode.approve(run, call, arguments={"what": "cake"}))
        asked.append(await code_mode.approve(run, call, answer={"n": 0}))
        first, second = asked[1].pending[0], asked[2].pending[0]
        assert [first.questions[0].message, second.questions[0].message] == ["question 0?", "question 1?"]
        assert first.arguments == second.arguments == {"what": "cake"}
        with pytest.raises(DigestMismatch):
            await code_mode.approve(run, call, digest=first.digest, answer={"n": 1})
        final = await code_mode.approve(run, call, digest=second.digest[:12], answer={"n": 1})
    assert final.value == "bought cake"
    assert calls == [("cake", None), ("cake", (1, {"n": 0})), ("cake", (2, {"n": 1}))]
