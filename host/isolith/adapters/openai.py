"""Isolith for the API of OpenAI, Responses and Chat Completions.

tools = openai_tools(code_mode)
response = client.responses.create(model=model, input=asked, tools=tools.responses)
outputs = [await tools.handle(item) for item in response.output if item.type == "function_call"]

Plain data both ways: no SDK is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith.adapters.agent_tools import AgentTools, agent_tools
from isolith.adapters.plain import as_plain, text_at
from isolith.errors import UsageError

if TYPE_CHECKING:
    from isolith.code_mode import CodeMode


class OpenAiTools:
    """The definitions in both shapes, and the handler of calls in both."""

    def __init__(self, tools: AgentTools) -> None:
        self._tools = tools

    @property
    def responses(self) -> list[dict[str, object]]:
        """`tools` of a request to Responses."""
        # Not strict: `input` is any JSON, which strict schemas cannot say.
        return [{"type": "function", **tool.to_json(), "strict": False} for tool in self._tools.definitions]

    @property
    def chat(self) -> list[dict[str, object]]:
        """`tools` of a request to Chat Completions."""
        return [{"type": "function", "function": tool.to_json()} for tool in self._tools.definitions]

    async def handle(self, call: object) -> dict[str, object]:
        """What goes back for a call: an input item for Responses, a message for Chat Completions.

        `call`: of the SDK's types or as plain data. Raises UsageError for what is no call of a function.
        """
        data = as_plain(call)
        if data.get("type") == "function_call":
            answer = await self._tools.call(text_at(data, "name"), text_at(data, "arguments"))
            return {"type": "function_call_output", "call_id": text_at(data, "call_id"), "output": answer.text}
        function = data.get("function")
        if not isinstance(function, dict):
            raise UsageError("it is no call of a function: give one item of `tool_calls` or of `output`")
        named = cast("dict[str, object]", function)
        answer = await self._tools.call(text_at(named, "name"), text_at(named, "arguments"))
        return {"role": "tool", "tool_call_id": text_at(data, "id"), "content": answer.text}


def openai_tools(code_mode: CodeMode, *, principal: str | None = None, session: str | None = None) -> OpenAiTools:
    """The tools over an open `CodeMode`, for one principal and session."""
    return OpenAiTools(agent_tools(code_mode, principal=principal, session=session))
