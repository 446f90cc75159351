"""The Messages API of Anthropic, with the types of its SDK on either side of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock
from pydantic import TypeAdapter

from isolith import UsageError
from isolith.adapters.anthropic import anthropic_tools

if TYPE_CHECKING:
    from isolith import CodeMode

pytestmark = pytest.mark.anyio


def used(name: str, given: dict[str, object]) -> ToolUseBlock:
    return ToolUseBlock.model_validate({"type": "tool_use", "id": "toolu_1", "name": name, "input": given})


async def test_the_definitions_are_those_of_the_sdk(code_mode: CodeMode) -> None:
    definitions = anthropic_tools(code_mode).definitions
    assert TypeAdapter(list[ToolParam]).validate_python(definitions) == definitions
    assert [tool["name"] for tool in definitions] == ["execute", "resume"]


async def test_a_block_is_answered(code_mode: CodeMode) -> None:
    block = used("execute", {"code": "await crm.revenue(year=4)"})
    tools = anthropic_tools(code_mode)
    answer = await tools.handle(block)
    assert answer == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{"type": "text", "text": "8"}],
        "is_error": False,
    }
    TypeAdapter(ToolResultBlockParam).validate_python(answer)
    assert await tools.handle(block.model_dump()) == answer


async def test_a_script_that_fails_is_an_error_with_its_line(code_mode: CodeMode) -> None:
    answer = await anthropic_tools(code_mode).handle(used("execute", {"code": "x = 1\nx / 0"}))
    assert answer["is_error"] is True
    assert "line 2" in str(answer["content"])


@pytest.mark.parametrize("block", ["text", {"type": "text", "text": "1"}, {"type": "tool_use", "input": "1"}])
async def test_what_is_no_block_is_misuse(code_mode: CodeMode, block: object) -> None:
    with pytest.raises(UsageError):
        await anthropic_tools(code_mode).handle(block)
