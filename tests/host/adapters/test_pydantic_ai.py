"""A toolset of Pydantic AI, driven by its own agent with models that are functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ModelRequest, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from isolith import Outcome
from isolith.adapters.pydantic_ai import isolith_toolset

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from isolith import CodeMode

pytestmark = pytest.mark.anyio


def model(*codes: str) -> FunctionModel:
    """A model that sends these scripts, one a turn, and then says what it was answered last."""
    left = list(codes)

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        if left:
            return ModelResponse([ToolCallPart("execute", {"code": left.pop(0)})])
        return ModelResponse([TextPart(str(returns(messages)[-1].content))])

    return FunctionModel(answer)


def returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    parts = (part for message in messages if isinstance(message, ModelRequest) for part in message.parts)
    return [part for part in parts if isinstance(part, ToolReturnPart)]


async def test_an_agent_runs_a_script_with_the_outcome_beside_it(code_mode: CodeMode) -> None:
    agent = Agent(model("await crm.revenue(year=4)"), toolsets=[isolith_toolset(code_mode)])
    result = await agent.run("what was the revenue?")
    assert result.output == "8"
    (returned,) = returns(result.all_messages())
    assert isinstance(returned.metadata, Outcome)
    assert returned.metadata.value == 8


async def test_a_script_that_fails_is_told_and_mended(code_mode: CodeMode) -> None:
    codes = [*(f"{number} / 0" for number in range(4)), "'mended'"]
    result = await Agent(model(*codes), toolsets=[isolith_toolset(code_mode)]).run("go")
    told = returns(result.all_messages())
    assert [part.outcome for part in told] == ["failed"] * 4 + ["success"]
    assert "ZeroDivisionError" in str(told[0].content)


async def test_a_model_is_told_what_can_be_called(code_mode: CodeMode) -> None:
    test = TestModel(call_tools=[])
    await Agent(test, toolsets=[isolith_toolset(code_mode)]).run("look")
    assert test.last_model_request_parameters is not None
    execute, resume = test.last_model_request_parameters.function_tools
    assert (execute.name, resume.name) == ("execute", "resume")
    assert "crm.revenue" in (execute.description or "")


TWO = "[await crm.delete(id=1), await crm.delete(id=2)]"


async def test_what_waits_is_a_deferred_call_where_that_is_wanted(code_mode: CodeMode, deleted: list[int]) -> None:
    toolset = isolith_toolset(code_mode, defer_approvals=True)
    agent = Agent(model(TWO), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    result = await agent.run("delete them")
    for number in (1, 2):
        asked = result.output
        assert isinstance(asked, DeferredToolRequests)
        (call,) = asked.approvals
        (waits,) = asked.metadata[call.tool_call_id]["pending"]
        assert (waits["method"], waits["arguments"], deleted) == ("delete", {"id": number}, list(range(1, number)))
        decided = DeferredToolResults(approvals={call.tool_call_id: True})
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=decided)
    assert (deleted, "deleted 2" in str(result.output)) == ([1, 2], True)


async def test_what_is_refused_is_not_called(code_mode: CodeMode, deleted: list[int]) -> None:
    toolset = isolith_toolset(code_mode, defer_approvals=True)
    agent = Agent(model(TWO), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    result = await agent.run("delete them")
    assert isinstance(result.output, DeferredToolRequests)
    decided = DeferredToolResults(approvals={result.output.approvals[0].tool_call_id: False})
    result = await agent.run(message_history=result.all_messages(), deferred_tool_results=decided)
    assert (deleted, isinstance(result.output, str)) == ([], True)


async def test_without_it_what_waits_is_told_to_the_model(code_mode: CodeMode, deleted: list[int]) -> None:
    result = await Agent(model(TWO), toolsets=[isolith_toolset(code_mode)]).run("delete them")
    assert (result.output.startswith("paused"), deleted) == (True, [])
