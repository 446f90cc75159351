"""Isolith's MCP server with the tools, prompts and resources that the conformance suite asks every server for.

Its own handlers stay: what is not for the suite goes to them, and everything goes through its middleware, its transport
and its capabilities. `python tests/conformance/everything.py` serves it on a free port, and says where.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import mcp_types as mcp
import uvicorn
from mcp.server.subscriptions import PromptsListChanged
from mcp.shared.exceptions import MCPError

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.conformance.everything_asking import ASKING, PROMPT, asked_prompt, asked_tool

from isolith import CodeMode
from isolith.command_line.serve_command import Address
from isolith.command_line.serving import security_of
from isolith.mcp.server import mcp_server
from isolith_bindings.connector import Method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server import Server
    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import SubscriptionBus

    from isolith_bindings.connector import CallContext

Answer = mcp.CallToolResult | mcp.InputRequiredResult
Tool = Callable[["ServerRequestContext", mcp.CallToolRequestParams], Awaitable[Answer]]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
PAUSE_S = 0.05


def said(*blocks: str | mcp.ContentBlock, error: bool = False) -> mcp.CallToolResult:
    content = [mcp.TextContent(text=block) if isinstance(block, str) else block for block in blocks]
    return mcp.CallToolResult(content=content, is_error=error)


def embedded(uri: str, mime: str, text: str) -> mcp.EmbeddedResource:
    return mcp.EmbeddedResource(resource=mcp.TextResourceContents(uri=uri, mime_type=mime, text=text))


class Growing:
    """A connector that has one method more whenever it is told to."""

    name = "growing"
    description = ""
    excluded: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.methods: dict[str, Method] = {}
        self._listeners: list[Callable[[object], None]] = []

    def on_change(self, listener: Callable[[object], None]) -> None:
        self._listeners.append(listener)

    def grow(self) -> None:
        name = f"method_{len(self.methods)}"
        self.methods[name] = Method(name, name, "One more.", {"type": "object"}, None, f"async def {name}()")
        for listener in self._listeners:
            listener(self)

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        return method.name

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...


def _bus_of(server: Server) -> SubscriptionBus:
    """Where our own server tells whoever listens."""
    listening = server.get_request_handler("subscriptions/listen")
    assert listening is not None
    bus: SubscriptionBus = cast("Any", listening.handler)._bus
    return bus


class Everything:
    """The handlers of what only the suite knows."""

    def __init__(self, server: Server, growing: Growing) -> None:
        self._growing = growing
        self._bus = _bus_of(server)
        self._ours = {name: server.get_request_handler(name) for name in ("tools/list", "tools/call", "resources/read")}
        self._tools: dict[str, Tool] = {
            "test_simple_text": self._answers("This is a simple text response for testing."),
            "test_image_content": self._answers(mcp.ImageContent(data=PNG, mime_type="image/png")),
            "test_audio_content": self._answers(mcp.AudioContent(data=WAV, mime_type="audio/wav")),
            "test_embedded_resource": self._answers(
                embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
            ),
            "test_multiple_content_types": self._answers(
                "Multiple content types test:",
                mcp.ImageContent(data=PNG, mime_type="image/png"),
                embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
            ),
            "test_error_handling": self._answers("This tool intentionally returns an error for testing", error=True),
            "test_tool_with_progress": self._progress,
            "test_tool_with_logging": self._logging,
            "test_logging_tool": self._logging,
            "test_trigger_tool_change": self._grow,
            "test_trigger_prompt_change": self._other_prompts,
            "test_missing_capability": self._needs_sampling,
            "test_sampling": self._sampling,
            "test_elicitation": self._elicitation,
            "test_elicitation_sep1034_defaults": self._elicits(DEFAULTS),
            "test_elicitation_sep1330_enums": self._elicits(ENUMS),
            **dict.fromkeys(ASKING, asked_tool),
        }
        add = server.add_request_handler
        add("tools/list", mcp.PaginatedRequestParams, self.list_tools)
        add("tools/call", mcp.CallToolRequestParams, self.call_tool)
        add("resources/list", mcp.PaginatedRequestParams, self.list_resources)
        add("resources/read", mcp.ReadResourceRequestParams, self.read_resource)
        add("resources/subscribe", mcp.SubscribeRequestParams, self.nothing)
        add("resources/unsubscribe", mcp.UnsubscribeRequestParams, self.nothing)
        add("logging/setLevel", mcp.SetLevelRequestParams, self.nothing)
        add("prompts/list", mcp.PaginatedRequestParams, self.list_prompts)
        add("prompts/get", mcp.GetPromptRequestParams, self.get_prompt)
        add("completion/complete", mcp.CompleteRequestParams, self.complete)

    async def list_tools(
        self, context: ServerRequestContext, params: mcp.PaginatedRequestParams
    ) -> mcp.ListToolsResult:
        """Ours, and those of the suite."""
        ours = await self._to_ours("tools/list", context, params)
        schema: dict[str, object] = {"type": "object", "properties": {}}
        more = [mcp.Tool(name=name, description="Of the suite.", input_schema=schema) for name in self._tools]
        return mcp.ListToolsResult(tools=[*cast("mcp.ListToolsResult", ours).tools, *more])

    async def call_tool(self, context: ServerRequestContext, params: mcp.CallToolRequestParams) -> Answer:
        tool = self._tools.get(params.name)
        if tool is None:
            return cast("Answer", await self._to_ours("tools/call", context, params))
        return await tool(context, params)

    async def list_resources(self, _: ServerRequestContext, __: object) -> mcp.ListResourcesResult:
        named = {"test://static-text": "text/plain", "test://static-binary": "image/png"}
        found = [
            mcp.Resource(uri=uri, name=uri, description="Of the suite.", mime_type=mime) for uri, mime in named.items()
        ]
        return mcp.ListResourcesResult(resources=found)

    async def read_resource(
        self, context: ServerRequestContext, params: mcp.ReadResourceRequestParams
    ) -> mcp.ReadResourceResult:
        uri = str(params.uri)
        parts = uri.removeprefix("test://template/").split("/")
        content: mcp.TextResourceContents | mcp.BlobResourceContents
        if uri == "test://static-text":
            text = "This is the content of the static text resource."
            content = mcp.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        elif uri == "test://static-binary":
            content = mcp.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        elif len(parts) == 2 and parts[1] == "data":
            text = f'{{"id":"{parts[0]}","templateTest":true,"data":"Data for ID: {parts[0]}"}}'
            content = mcp.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        else:
            return cast("mcp.ReadResourceResult", await self._to_ours("resources/read", context, params))
        return mcp.ReadResourceResult(contents=[content])

    async def nothing(self, _: ServerRequestContext, __: object) -> mcp.EmptyResult:
        """Accepted."""
        return mcp.EmptyResult()

    async def list_prompts(self, _: ServerRequestContext, __: object) -> mcp.ListPromptsResult:
        names: dict[str, list[str]] = {
            "test_simple_prompt": [],
            "test_prompt_with_arguments": ["arg1", "arg2"],
            "test_prompt_with_embedded_resource": ["resourceUri"],
            "test_prompt_with_image": [],
            PROMPT: [],
        }
        prompts = [
            mcp.Prompt(
                name=name,
                description="Of the suite.",
                arguments=[mcp.PromptArgument(name=argument, required=True) for argument in arguments],
            )
            for name, arguments in names.items()
        ]
        return mcp.ListPromptsResult(prompts=prompts)

    async def get_prompt(
        self, context: ServerRequestContext, params: mcp.GetPromptRequestParams
    ) -> mcp.GetPromptResult | mcp.InputRequiredResult:
        given = params.arguments or {}
        if params.name == PROMPT:
            return asked_prompt(context, params)
        contents: dict[str, Callable[[], list[mcp.ContentBlock]]] = {
            "test_simple_prompt": lambda: [mcp.TextContent(text="This is a simple prompt for testing.")],
            "test_prompt_with_arguments": lambda: [
                mcp.TextContent(text=f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
            ],
            "test_prompt_with_embedded_resource": lambda: [
                embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
                mcp.TextContent(text="Please process the embedded resource above."),
            ],
            "test_prompt_with_image": lambda: [
                mcp.ImageContent(data=PNG, mime_type="image/png"),
                mcp.TextContent(text="Please analyze the image above."),
            ],
        }
        if params.name not in contents:
            raise MCPError(mcp.INVALID_PARAMS, "there is no such prompt")
        blocks = contents[params.name]()
        return mcp.GetPromptResult(messages=[mcp.PromptMessage(role="user", content=block) for block in blocks])

    async def complete(self, _: ServerRequestContext, __: object) -> mcp.CompleteResult:
        return mcp.CompleteResult(completion=mcp.Completion(values=["paris", "park"], total=2, has_more=False))

    # tools

    def _answers(self, *blocks: str | mcp.ContentBlock, error: bool = False) -> Tool:
        async def answer(_: ServerRequestContext, __: object) -> Answer:
            return said(*blocks, error=error)

        return answer

    async def _progress(self, context: ServerRequestContext, _: object) -> Answer:
        for done in (0, 50, 100):
            await context.session.report_progress(done, 100)
            await asyncio.sleep(PAUSE_S)
        return said("done")

    async def _logging(self, context: ServerRequestContext, _: object) -> Answer:
        for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            session: Any = context.session  # what follows is deprecated, and older revisions have it
            await session.send_log_message("info", text, related_request_id=context.request_id)
            await asyncio.sleep(PAUSE_S)
        return said("done")

    async def _grow(self, _: ServerRequestContext, __: object) -> Answer:
        self._growing.grow()
        return said("done")

    async def _other_prompts(self, _: ServerRequestContext, __: object) -> Answer:
        await self._bus.publish(PromptsListChanged())
        return said("done")

    async def _needs_sampling(self, context: ServerRequestContext, _: object) -> Answer:
        if not context.session.check_client_capability(mcp.ClientCapabilities(sampling=mcp.SamplingCapability())):
            missing: dict[str, object] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "Missing required client capability", missing)
        return said("done")

    async def _sampling(self, context: ServerRequestContext, params: mcp.CallToolRequestParams) -> Answer:
        text = mcp.TextContent(text=str((params.arguments or {})["prompt"]))
        session: Any = context.session  # what follows is deprecated, and older revisions have it
        made = await session.create_message(
            [mcp.SamplingMessage(role="user", content=text)], max_tokens=100, related_request_id=context.request_id
        )
        return said(f"LLM response: {made.content.text}")

    async def _elicitation(self, context: ServerRequestContext, params: mcp.CallToolRequestParams) -> Answer:
        text = {"type": "string", "description": "User's response"}
        schema = {"type": "object", "properties": {"username": text, "email": text}, "required": ["username", "email"]}
        message = str((params.arguments or {})["message"])
        answered = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
        return said(f"User response: action={answered.action}, content={answered.content}")

    def _elicits(self, properties: dict[str, object]) -> Tool:
        async def elicit(context: ServerRequestContext, _: object) -> Answer:
            schema = {"type": "object", "properties": properties}
            answered = await context.session.elicit_form("Asked", schema, related_request_id=context.request_id)
            return said(f"Elicitation completed: action={answered.action}, content={answered.content}")

        return elicit

    async def _to_ours(self, name: str, context: ServerRequestContext, params: object) -> object:
        ours = self._ours[name]
        assert ours is not None
        return await ours.handler(context, params)


THREE = ["option1", "option2", "option3"]
TITLED = [
    {"const": f"value{number}", "title": f"{word} Option"}
    for number, word in enumerate(("First", "Second", "Third"), 1)
]
DEFAULTS: dict[str, object] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
ENUMS: dict[str, object] = {
    "untitledSingle": {"type": "string", "enum": THREE},
    "titledSingle": {"type": "string", "oneOf": TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": THREE}},
    "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
}


async def main() -> None:
    growing = Growing()
    async with CodeMode([growing]) as code_mode:
        server = mcp_server(code_mode, ask_client=True, state_key=b"k" * 32)
        Everything(server, growing)
        security = security_of(Address("127.0.0.1", 0))
        app = server.streamable_http_app(streamable_http_path="/mcp", transport_security=security)
        serving = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", timeout_graceful_shutdown=1))
        task = asyncio.create_task(serving.serve())
        while not serving.started:
            await asyncio.sleep(0.01)
        print(f"serving http://127.0.0.1:{serving.servers[0].sockets[0].getsockname()[1]}/mcp", flush=True)
        await task


if __name__ == "__main__":
    asyncio.run(main())
