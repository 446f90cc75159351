"""The example at the begin of each adapter, run as it stands against the library it is for; no model, no network."""

from __future__ import annotations

import ast
import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic as anthropic_sdk
import fastmcp as fastmcp_library
import httpx2
import openai as openai_sdk
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from isolith.adapters import anthropic, fastmcp, langchain, openai, pydantic_ai

if TYPE_CHECKING:
    from types import ModuleType

    from isolith import CodeMode

pytestmark = pytest.mark.anyio

README = Path(__file__).parents[3] / "host" / "README.md"
RUN = {"code": "await crm.revenue(year=4)"}


def example(module: ModuleType) -> str:
    """The code in a module's own words."""
    parts = (module.__doc__ or "").split("\n\n")
    (code,) = [part for part in parts if ("code_mode)" in part and "\n" in part) or part.startswith("agent = ")]
    return code


async def run(module: ModuleType, code_mode: CodeMode, **given: object) -> dict[str, Any]:
    """What the example has made of its names and of those that are given."""
    made: dict[str, Any] = {**vars(module), "code_mode": code_mode, **given}
    code = compile(example(module), module.__name__, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waits = eval(code, made)  # noqa: S307 - our own words
    if inspect.iscoroutine(waits):
        await waits
    return made


def answering(sent: list[dict[str, Any]], answer: dict[str, object]) -> httpx2.Client:
    """An API that gives one answer, and keeps what it was sent."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        return httpx2.Response(200, json=answer)

    return httpx2.Client(transport=httpx2.MockTransport(handle))


async def test_openai(code_mode: CodeMode) -> None:
    call = {"type": "function_call", "call_id": "c1", "id": "f1", "name": "execute", "arguments": json.dumps(RUN)}
    answer = {"id": "r1", "object": "response", "created_at": 1, "model": "any", "output": [call], "tools": []}
    sent: list[dict[str, Any]] = []
    http = answering(sent, {**answer, "parallel_tool_calls": True, "tool_choice": "auto"})
    with openai_sdk.OpenAI(api_key="none", http_client=http) as client:
        made = await run(openai, code_mode, client=client, model="any", asked="What was the revenue?")
    assert made["outputs"] == [{"type": "function_call_output", "call_id": "c1", "output": "8"}]
    assert [tool["name"] for tool in sent[0]["tools"]] == ["execute", "resume"]
    readme = README.read_text()
    assert all(f"    {line}\n" in readme for line in example(openai).splitlines())


async def test_anthropic(code_mode: CodeMode) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "execute", "input": RUN}
    answer = {"id": "m1", "type": "message", "role": "assistant", "model": "any", "content": [block]}
    sent: list[dict[str, Any]] = []
    http = answering(sent, {**answer, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})
    asked = [{"role": "user", "content": "What was the revenue?"}]
    with anthropic_sdk.Anthropic(api_key="none", http_client=http) as client:
        made = await run(anthropic, code_mode, client=client, model="any", asked=asked)
    (result,) = made["results"]
    assert (result["tool_use_id"], result["content"]) == ("t1", [{"type": "text", "text": "8"}])
    assert [tool["name"] for tool in sent[0]["tools"]] == ["execute", "resume"]


class Model(GenericFakeChatModel):
    """A model of LangChain's own that takes tools, and calls what it is to call."""

    bound: list[str] = []  # noqa: RUF012 - a field of pydantic's

    def bind_tools(self, tools: Any, **_: Any) -> Any:  # noqa: ANN401 - as LangChain has it
        self.bound.extend(tool.name for tool in tools)
        return self


async def test_langchain(code_mode: CodeMode) -> None:
    call = ToolCall(name="execute", args=RUN, id="c1", type="tool_call")
    model = Model(messages=iter([AIMessage("", tool_calls=[call])]))
    made = await run(langchain, code_mode, model=model, asked="What was the revenue?")
    (message,) = made["messages"]
    assert (message.content, message.tool_call_id, model.bound) == ("8", "c1", ["execute", "resume"])


async def test_pydantic_ai(code_mode: CodeMode) -> None:
    turns = iter([ModelResponse([ToolCallPart("execute", RUN)]), ModelResponse([TextPart("It was 8.")])])
    model = FunctionModel(lambda *_: next(turns))
    made = await run(pydantic_ai, code_mode, model=model, Agent=Agent)
    result = await made["agent"].run("What was the revenue?")
    assert result.output == "It was 8."
    assert "'8'" in repr(result.all_messages())


async def test_fastmcp(code_mode: CodeMode) -> None:
    made = await run(fastmcp, code_mode, FastMCP=fastmcp_library.FastMCP)
    async with fastmcp_library.Client(made["server"]) as client:
        assert {"execute", "scripts_execute"} <= {tool.name for tool in await client.list_tools()}
        done = await client.call_tool("scripts_execute", RUN)
    assert (done.structured_content or {})["value"] == 8


async def test_any_other(code_mode: CodeMode) -> None:
    made = await run(import_module("isolith.adapters.agent_tools"), code_mode)
    assert [tool["name"] for tool in made["told"]] == ["execute", "resume"]
    assert made["answer"].text == "42"
