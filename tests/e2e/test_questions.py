"""What a server asks during a call reaches the host, with the call it belongs to; nobody there, and it is declined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector
from isolith_bindings.connector import Answer, CallContext, Question

if TYPE_CHECKING:
    from isolith.questions import Asked, Questions

pytestmark = pytest.mark.anyio


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
        return outcome.value, [event["message"] async for event in execution.events() if event["event"] == "question"]


async def test_nobody_is_there() -> None:
    assert await ran(None) == (["decline", {}], [])


async def test_somebody_answers_and_is_told_of_the_call() -> None:
    asked: list[Asked] = []

    async def answer(question: Asked) -> Answer:
        asked.append(question)
        return Answer("accept", {"sure": True})

    assert await ran(answer) == (["accept", {"sure": True}], ["really delete a?"])
    [one] = asked
    assert (one.connector, one.method, one.arguments) == ("files", "delete", {"name": "a"})
    assert (one.principal, one.session, one.call_id) == ("ada", "s1", f"{one.execution_id}.1")
    assert one.question.message == "really delete a?"
