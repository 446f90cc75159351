"""The tools and the prompt of the conformance suite that ask within a request, in rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import mcp_types as mcp

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

PROMPT = "test_input_required_result_prompt"
ROUND_1 = "round-1"
ROUND_2 = "round-2"


def form(message: str, name: str, kind: str = "string") -> mcp.ElicitRequest:
    schema: dict[str, object] = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return mcp.ElicitRequest(params=mcp.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(text: str, most: int) -> mcp.CreateMessageRequest:
    messages = [mcp.SamplingMessage(role="user", content=mcp.TextContent(text=text))]
    return mcp.CreateMessageRequest(params=mcp.CreateMessageRequestParams(messages=messages, max_tokens=most))


NAME = form("What is your name?", "name")
ROOTS = mcp.ListRootsRequest()
_PREFIX = "test_input_required_result_"
ASKING: dict[str, mcp.InputRequests] = {
    f"{_PREFIX}elicitation": {"user_name": NAME},
    f"{_PREFIX}sampling": {"capital_question": sampling("What is the capital of France?", 100)},
    f"{_PREFIX}list_roots": {"client_roots": ROOTS},
    f"{_PREFIX}request_state": {"confirm": form("Please confirm", "ok", "boolean")},
    f"{_PREFIX}multiple_inputs": {
        "user_name": NAME,
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ROOTS,
    },
    f"{_PREFIX}multi_round": {"step1": form("Step 1: What is your name?", "name")},
    f"{_PREFIX}tampered_state": {"confirm": form("Please confirm", "ok", "boolean")},
    f"{_PREFIX}capabilities": {"user_name": NAME, "capital_question": sampling("What is the capital of France?", 100)},
    "test_streaming_elicitation": {"user_name": NAME},
    PROMPT: {"user_context": form("What context should the prompt use?", "context")},
}
_SECOND: mcp.InputRequests = {"step2": form("Step 2: What is your favorite color?", "color")}
_STATELESS = {
    *(f"{_PREFIX}{name}" for name in ("elicitation", "sampling", "list_roots", "capabilities")),
    *(PROMPT, "test_streaming_elicitation"),
}


async def asked_tool(
    context: ServerRequestContext, params: mcp.CallToolRequestParams
) -> mcp.CallToolResult | mcp.InputRequiredResult:
    said = _round(context, params)
    return said if not isinstance(said, str) else mcp.CallToolResult(content=[mcp.TextContent(text=said)])


def asked_prompt(
    context: ServerRequestContext, params: mcp.GetPromptRequestParams
) -> mcp.GetPromptResult | mcp.InputRequiredResult:
    said = _round(context, params)
    if not isinstance(said, str):
        return said
    return mcp.GetPromptResult(messages=[mcp.PromptMessage(role="user", content=mcp.TextContent(text=said))])


def _round(
    context: ServerRequestContext, params: mcp.CallToolRequestParams | mcp.GetPromptRequestParams
) -> str | mcp.InputRequiredResult:
    """Ask what is not answered well yet and what this client can be asked; then answer with all of it."""
    given = params.input_responses or {}
    wanted, state = ASKING[params.name], ROUND_1
    if params.name.endswith("multi_round") and params.request_state in {ROUND_1, ROUND_2} and given:
        wanted, state = _SECOND, ROUND_2
    wanted = {key: one for key, one in wanted.items() if _can(context, one)}
    if any(not _fits(wanted[key], given.get(key)) for key in wanted):
        return mcp.InputRequiredResult(
            input_requests=wanted, request_state=None if params.name in _STATELESS else state
        )
    return f"Hello, {[_text(given[key]) for key in wanted]}! state-ok"


def _can(context: ServerRequestContext, request: object) -> bool:
    can = context.session.client_capabilities
    if can is None:
        return False
    if isinstance(request, mcp.ElicitRequest):
        return can.elicitation is not None
    return (can.sampling if isinstance(request, mcp.CreateMessageRequest) else can.roots) is not None


def _fits(request: object, response: object) -> bool:
    if isinstance(request, mcp.ElicitRequest):
        if not isinstance(response, mcp.ElicitResult):
            return False
        schema = cast("mcp.ElicitRequestFormParams", request.params).requested_schema
        required = cast("list[str]", schema["required"])
        return response.action != "accept" or all(name in (response.content or {}) for name in required)
    if isinstance(request, mcp.CreateMessageRequest):
        return isinstance(response, mcp.CreateMessageResult)
    return isinstance(response, mcp.ListRootsResult)


def _text(response: object) -> str:
    if isinstance(response, mcp.ElicitResult):
        return ", ".join(map(str, (response.content or {}).values()))
    return response.model_dump_json() if isinstance(response, mcp.CreateMessageResult | mcp.ListRootsResult) else ""
