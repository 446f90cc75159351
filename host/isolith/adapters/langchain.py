"""Isolith as tools of LangChain, for any model that takes tools.

tools = {tool.name: tool for tool in langchain_tools(code_mode)}
answer = await model.bind_tools([*tools.values()]).ainvoke(asked)
messages = [await tools[call["name"]].ainvoke(call) for call in answer.tool_calls]

Or for any agent of its own: `create_agent(model, langchain_tools(code_mode))`.

Needs its core alone: `pip install isolith[langchain]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from isolith.adapters.agent_tools import AgentTools, Definition, agent_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.code_mode import CodeMode
    from isolith.outcome import Outcome


def langchain_tools(code_mode: CodeMode, *, principal: str | None = None, session: str | None = None) -> list[BaseTool]:
    """`execute` and `resume` over an open `CodeMode`, for one principal and session; they are called with `ainvoke`.

    The outcome is the `artifact` of the message. A script that failed is a message of status `error`.
    """
    tools = agent_tools(code_mode, principal=principal, session=session)
    return [_tool(tools, definition) for definition in tools.definitions]


def _tool(tools: AgentTools, definition: Definition) -> BaseTool:
    return StructuredTool(
        name=definition.name,
        description=definition.description,
        args_schema=definition.parameters,
        coroutine=_handler(tools, definition.name),
        response_format="content_and_artifact",
        handle_tool_error=True,
    )


def _handler(tools: AgentTools, name: str) -> Callable[..., Awaitable[tuple[str, Outcome | None]]]:
    async def called(**arguments: object) -> tuple[str, Outcome | None]:
        answer = await tools.call(name, arguments)
        if answer.is_error:
            raise ToolException(answer.text)
        return answer.text, answer.outcome

    return called
