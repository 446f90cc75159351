"""LangChain's own tools and messages, without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from isolith import Outcome
from isolith.adapters.langchain import langchain_tools

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio


def called(**arguments: object) -> ToolCall:
    return ToolCall(name="execute", args=arguments, id="call_1", type="tool_call")


async def test_a_call_is_answered_with_the_outcome_beside_it(code_mode: CodeMode) -> None:
    execute = langchain_tools(code_mode)[0]
    message = await execute.ainvoke(called(code="await crm.revenue(year=input)", input=4))
    assert isinstance(message, ToolMessage)
    assert (message.content, message.status, message.tool_call_id) == ("8", "success", "call_1")
    assert isinstance(message.artifact, Outcome)
    assert message.artifact.value == 8


async def test_a_script_that_fails_is_an_error_and_raises_nothing(code_mode: CodeMode) -> None:
    message = await langchain_tools(code_mode)[0].ainvoke(called(code="1 / 0"))
    assert message.status == "error"
    assert "ZeroDivisionError" in message.content


async def test_a_model_is_told_the_schema_as_it_is(code_mode: CodeMode) -> None:
    execute, resume = map(convert_to_openai_tool, langchain_tools(code_mode))
    assert set(execute["function"]["parameters"]["properties"]) == {"code", "input", "budgets"}
    assert "crm.revenue" in execute["function"]["description"]
    assert resume["function"]["name"] == "resume"
