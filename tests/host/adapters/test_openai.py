"""Both APIs of OpenAI, with the types of its SDK on either side of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from openai.types.chat import ChatCompletionMessageToolCall, ChatCompletionToolMessageParam, ChatCompletionToolParam
from openai.types.responses import ResponseFunctionToolCall
from openai.types.responses.function_tool_param import FunctionToolParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from isolith import UsageError
from isolith.adapters.openai import openai_tools

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio

RUN = '{"code": "await crm.revenue(year=4)"}'


def fits(shape: type[object], data: object) -> bool:
    """Whether the SDK's own type takes it, whole."""
    return TypeAdapter(shape).validate_python(data, strict=True) == data


async def test_the_definitions_are_those_of_the_sdk(code_mode: CodeMode) -> None:
    tools = openai_tools(code_mode)
    assert all(fits(FunctionToolParam, tool) for tool in tools.responses)
    assert all(fits(ChatCompletionToolParam, tool) for tool in tools.chat)
    assert [tool["name"] for tool in tools.responses] == ["execute", "resume"]


async def test_a_call_of_responses_is_answered(code_mode: CodeMode) -> None:
    call = ResponseFunctionToolCall(type="function_call", call_id="call_1", name="execute", arguments=RUN)
    answer = await openai_tools(code_mode).handle(call)
    assert answer == {"type": "function_call_output", "call_id": "call_1", "output": "8"}
    assert fits(FunctionCallOutput, answer)


async def test_a_call_of_chat_completions_is_answered(code_mode: CodeMode) -> None:
    call = ChatCompletionMessageToolCall.model_validate(
        {"id": "call_1", "type": "function", "function": {"name": "execute", "arguments": RUN}}
    )
    tools = openai_tools(code_mode)
    answer = await tools.handle(call)
    assert answer == {"role": "tool", "tool_call_id": "call_1", "content": "8"}
    assert fits(ChatCompletionToolMessageParam, answer)
    assert await tools.handle(call.model_dump()) == answer


@pytest.mark.parametrize("call", [1, {}, {"type": "function_call"}, {"function": "execute"}])
async def test_what_is_no_call_is_misuse(code_mode: CodeMode, call: object) -> None:
    with pytest.raises(UsageError):
        await openai_tools(code_mode).handle(call)
