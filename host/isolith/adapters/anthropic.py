"""Isolith for the Messages API of Anthropic.

tools = anthropic_tools(code_mode)
message = client.messages.create(model=model, max_tokens=1_000, messages=asked, tools=tools.definitions)
results = [await tools.handle(block) for block in message.content if block.type == "tool_use"]

Plain data both ways: no SDK is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from isolith.adapters.agent_tools import AgentTools, agent_tools
from isolith.adapters.plain import as_plain, text_at
from isolith.errors import UsageError

if TYPE_CHECKING:
    from isolith.code_mode import CodeMode


class AnthropicTools:
    """The definitions, and the handler of `tool_use` blocks."""

    def __init__(self, tools: AgentTools) -> None:
        self._tools = tools

    @property
    def definitions(self) -> list[dict[str, object]]:
        """`tools` of a request."""
        plain = (tool.to_json() for tool in self._tools.definitions)
        return [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in plain
        ]

    async def handle(self, block: object) -> dict[str, object]:
        """The `tool_result` block for a `tool_use` block. Raises UsageError for any other block."""
        data = as_plain(block)
        given = data.get("input")
        if data.get("type") != "tool_use" or not isinstance(given, Mapping):
            raise UsageError("it is no `tool_use` block with an `input`: give one block of `message.content`")
        answer = await self._tools.call(text_at(data, "name"), cast("Mapping[str, object]", given))
        content = [{"type": "text", "text": answer.text}]
        told: dict[str, object] = {"type": "tool_result", "tool_use_id": text_at(data, "id"), "content": content}
        return {**told, "is_error": answer.is_error}


def anthropic_tools(code_mode: CodeMode, *, principal: str | None = None, session: str | None = None) -> AnthropicTools:
    """The tools over an open `CodeMode`, for one principal and session."""
    return AnthropicTools(agent_tools(code_mode, principal=principal, session=session))
