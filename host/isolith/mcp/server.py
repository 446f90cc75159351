"""Isolith as an MCP server: `execute`, `search`, `describe` and `resume` on the official SDK, in both its eras.

Beside them there is one tool for each snippet that is marked as one.

Nothing is kept for a connection: whatever a request needs is in the request, in the journal or under a handle.
"""

from __future__ import annotations

import contextlib
import dataclasses
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio.to_thread
import mcp_types as mcp
from mcp.server.caching import CacheHint
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from isolith.budgets import CEILINGS, Budgets
from isolith.calling.resuming import stand
from isolith.errors import UsageError
from isolith.found import search_text
from isolith.instructions import Shown
from isolith.internal import internal_error
from isolith.journal.errors import AlreadyDecided, JournalError, UnknownEntry
from isolith.json_form import to_json_form
from isolith.mcp.asking import allowable, asked_of, boundary, modes, question, said
from isolith.mcp.files import TEMPLATE, Files
from isolith.mcp.following import FollowedServer, Following
from isolith.mcp.progress import followed
from isolith.mcp.room import NoRoom, begun, room
from isolith.mcp.snippet_tools import SnippetTools, script_of
from isolith.mcp.starting import still_starting
from isolith.mcp.tools import server_instructions, tools
from isolith.mcp.view import model_view, said_of
from isolith.outcome import Diagnostic
from isolith.run.gradual import browsed
from isolith.run.misdirected import misdirected
from isolith.tokens.caller import caller
from isolith.visible import visible
from isolith_bindings.errors import CallError
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import Server
    from mcp.server.caching import CacheableMethod
    from mcp.server.context import ServerRequestContext

    from isolith.code_mode import CodeMode
    from isolith.mcp.asking import AskedCall, Mode, Said
    from isolith.mcp.view import Approving
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution

    Answer: TypeAlias = mcp.CallToolResult | mcp.InputRequiredResult
    Arguments: TypeAlias = dict[str, object]
    Handler: TypeAlias = Callable[[ServerRequestContext, Arguments], Awaitable[Answer]]

_AN_HOUR = CacheHint(ttl_ms=3_600_000)
_A_MINUTE = CacheHint(ttl_ms=60_000)
"""For a list of tools that may change: who listens is told earlier."""
_FINE = frozenset({"completed", "paused", "running"})
_WRONG = (UsageError, CallError, JournalError)
"""What a caller can mend; anything else that is raised here is a bug of ours."""


def mcp_server(
    code_mode: CodeMode,
    *,
    session_key: str | None = None,
    approving: Approving | None = None,
    ask_client: bool = False,
    state_key: bytes | None = None,
    shown: Shown | None = None,
) -> Server:
    """A server of the SDK over an open `CodeMode`; run it on any transport of the SDK's.

    `session_key`: the key of a request's `_meta` whose text is its session where `execute` names none, such as
    `ai.opencode/sessionID`. `approving`: the command by which a person approves a pending call, which
    the model tells its user. `ask_client`: a client that can ask a
    person within a request is asked, and what it answers decides; `state_key`: 32 random bytes or more that replicas
    share, to take each other's answers. `shown`: how much `execute` says of the tools.
    """
    shown = shown or Shown()
    snippets = SnippetTools(code_mode)
    following = Following(code_mode.catalog, shown, snippets.known if code_mode.journalled else None)
    front = McpFront(code_mode, session_key, approving, (following, snippets), ask_client=ask_client)
    hints: dict[CacheableMethod, CacheHint] = dict.fromkeys(_CACHED, _AN_HOUR)
    if following.follows:
        hints["tools/list"] = _A_MINUTE
    server = FollowedServer(
        "isolith",
        version=version("isolith"),
        title="Isolith",
        instructions=server_instructions(code_mode.catalog.connectors),
        cache_hints=hints,
        get_tool_input_schema=front.input_schema,
        on_list_tools=front.list_tools,
        on_call_tool=front.call_tool,
        on_list_resources=front.list_resources,
        on_list_resource_templates=front.list_templates,
        on_read_resource=front.read_resource,
        on_subscriptions_listen=ListenHandler(following.bus) if following.follows else None,
    )
    if ask_client:
        server.middleware.append(boundary(state_key))
    return server


_CACHED: tuple[CacheableMethod, ...] = (
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)


class McpFront:
    """The handlers of the requests."""

    def __init__(
        self,
        code_mode: CodeMode,
        session_key: str | None,
        approving: Approving | None,
        told: tuple[Following, SnippetTools],
        *,
        ask_client: bool,
    ) -> None:
        self._code_mode = code_mode
        self._following, self._snippets = told
        self._session_key = session_key
        self._approving = approving
        self._ask_client = ask_client
        self._files = Files(code_mode)
        self._running: dict[str, Execution] = {}
        self._tools = {tool.name: tool for tool in tools()}
        self._validators = {name: Validator(tool.input_schema) for name, tool in self._tools.items()}
        self._handlers: dict[str, Handler] = {
            "search": self._search,
            "describe": self._describe,
            "execute": self._execute,
            "resume": self._resume,
        }

    # requests

    def input_schema(self, name: str) -> dict[str, object] | None:
        """What a tool takes; None for one that is not there."""
        tool = self._tools.get(name) or self._snippets.known().get(name)
        return None if tool is None else tool.input_schema

    async def list_tools(
        self, context: ServerRequestContext, _: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        """The same tools in the same order, whoever asks; `execute` says what can be called now. Then the snippets."""
        snippets = await self._snippets.read()
        starting = await still_starting(self._code_mode.connectors)
        said = {"description": await self._following.description(context)}
        execute = self._tools["execute"].model_copy(update=said)
        listed = [*(self._tools | {"execute": execute}).values(), *snippets.values()]
        # Of a list that is about to change none is kept: who asks again sees what has come up meanwhile.
        return mcp.ListToolsResult(tools=listed, ttl_ms=0) if starting else mcp.ListToolsResult(tools=listed)

    async def list_resources(
        self, _: ServerRequestContext, __: mcp.PaginatedRequestParams | None
    ) -> mcp.ListResourcesResult:
        """None: whoever may read an artifact was given its link."""
        return mcp.ListResourcesResult(resources=[])

    async def list_templates(
        self, _: ServerRequestContext, __: mcp.PaginatedRequestParams | None
    ) -> mcp.ListResourceTemplatesResult:
        """How links to artifacts look."""
        kept = mcp.ResourceTemplate(
            name="artifact", uri_template=TEMPLATE, description="Bytes that a script has kept, or its whole value."
        )
        return mcp.ListResourceTemplatesResult(resource_templates=[kept])

    async def read_resource(
        self, _: ServerRequestContext, params: mcp.ReadResourceRequestParams
    ) -> mcp.ReadResourceResult:
        """An artifact. Raises MCPError for one that is not there."""
        try:
            return mcp.ReadResourceResult(contents=[await self._files.resource(str(params.uri))])
        except UnknownEntry as error:
            raise MCPError(mcp.INVALID_PARAMS, "there is no such resource", {"uri": str(params.uri)[:200]}) from error

    async def call_tool(self, context: ServerRequestContext, params: mcp.CallToolRequestParams) -> Answer:
        """One tool. What is wrong with its arguments or its script is an answer; raises MCPError for no tool at all."""
        arguments = cast("Arguments", params.arguments or {})
        chosen = await self._chosen(params.name)
        if chosen is None:
            told = misdirected(self._code_mode.catalog, params.name, arguments)
            if told.tool is not None:
                return _failed(told)
            raise MCPError(mcp.INVALID_PARAMS, told.message)
        handler, validator = chosen
        problems = validator.problems(arguments)
        if problems:
            hint = _SCRIPT if params.name == "execute" and "script" in arguments else None
            return _refused("; ".join(str(problem) for problem in problems[:5]), hint)
        try:
            if params.request_state is not None:
                return await self._decided(context, params.request_state, params.input_responses or {})
            return await self._with_news(context, await handler(context, arguments))
        except MCPError:
            raise
        except (NoRoom, *_WRONG) as error:
            return _failed(_diagnostic(error))
        except Exception as error:  # noqa: BLE001 - the border of the server: a bug of ours is told by its id
            return _failed(internal_error(error))

    async def _chosen(self, name: str) -> tuple[Handler, Validator] | None:
        """What answers for a tool, and what its arguments must be like; None for one that is not there."""
        if name in self._handlers:
            return self._handlers[name], self._validators[name]
        tool = await self._snippets.find(name)
        return None if tool is None else (partial(self._run_snippet, tool.name), Validator(tool.input_schema))

    async def _with_news(self, context: ServerRequestContext, answer: Answer) -> Answer:
        """The answer, and behind it what has changed in the tools since this client was told of them."""
        news = await self._following.news(context) if isinstance(answer, mcp.CallToolResult) else ""
        if news and isinstance(answer, mcp.CallToolResult):
            answer.content.append(mcp.TextContent(text=visible(news)))
        return answer

    # tools

    async def _search(self, _: ServerRequestContext, arguments: Arguments) -> mcp.CallToolResult:
        await browsed(self._code_mode.connectors)
        page = await anyio.to_thread.run_sync(partial(self._code_mode.catalog.search, **arguments))  # type: ignore[arg-type]
        more = f"; `offset` {page.next} shows the next" if page.next is not None else ""
        return _answered(search_text(page, more), dataclasses.asdict(page))

    async def _describe(self, _: ServerRequestContext, arguments: Arguments) -> mcp.CallToolResult:
        await browsed(self._code_mode.connectors)
        found = await anyio.to_thread.run_sync(partial(self._code_mode.catalog.describe, **arguments))  # type: ignore[arg-type]
        return _answered(found.text, dataclasses.asdict(found))

    async def _execute(self, context: ServerRequestContext, arguments: Arguments) -> Answer:
        asked = cast("dict[str, object]", arguments.get("budgets") or {})
        code, session = cast("str", arguments["code"]), self._session(context, arguments)
        return await self._run(context, code, arguments.get("input"), Budgets.model_validate(asked), session)

    async def _run_snippet(self, name: str, context: ServerRequestContext, arguments: Arguments) -> Answer:
        return await self._run(context, script_of(name), arguments, Budgets(), self._session(context, {}))

    async def _run(
        self, context: ServerRequestContext, code: str, given: object, budgets: Budgets, session: str | None
    ) -> Answer:
        start = partial(self._code_mode.start, code, input=given, budgets=budgets, session=session)
        execution = await begun(context, partial(start, principal=caller().principal))
        self._running[execution.execution_id] = execution
        execution.when_done(lambda: self._running.pop(execution.execution_id, None))
        outcome = await followed(execution, context)
        return await self._told(context, outcome, budgets, execution)

    async def _resume(self, context: ServerRequestContext, arguments: Arguments) -> Answer:
        return await self._on_with(context, cast("str", arguments["execution_id"]))

    async def _decided(self, context: ServerRequestContext, state: str, responses: mcp.InputResponses) -> Answer:
        """The answers of a person at the client; then on with the run. Without any, it goes on waiting."""
        if not self._ask_client:
            raise MCPError(mcp.INVALID_PARAMS, "Invalid or expired requestState")
        asked = asked_of(state)
        decided, unfit = False, list[str]()
        for call in asked.calls:
            told = said(call, responses)
            if told is not None:
                try:
                    await self._decide(asked.execution_id, call, told)
                    decided = True
                except UsageError as error:  # it does not fit what was asked: nothing is decided, and the call waits
                    unfit.append(f"{call.call_id} goes on waiting: {error}")
        answer = await self._on_with(context, asked.execution_id, ask=decided)
        if unfit and isinstance(answer, mcp.CallToolResult):
            answer.content.append(mcp.TextContent(text=visible("\n".join(unfit))))
        return answer

    async def _decide(self, execution_id: str, call: AskedCall, told: Said) -> None:
        runs = await self._code_mode.runs()
        with contextlib.suppress(AlreadyDecided):  # by somebody else meanwhile: that counts
            await runs.decide(
                execution_id,
                call.call_id,
                told.verdict,
                who=_CLIENT,
                digest=call.digest,
                answer=told.answer,
                reason=told.reason,
                go_on=False,
            )

    async def _on_with(self, context: ServerRequestContext, execution_id: str, *, ask: bool = True) -> Answer:
        running = self._running.get(execution_id)
        await self._may_see(execution_id, running)
        if running is not None:
            outcome = await followed(running, context)
            return await self._told(context if ask else None, outcome, Budgets(), running)
        outcome = await stand(self._code_mode, execution_id, partial(room, context))
        order = await (await self._code_mode.runs()).journal.executions.order(execution_id)
        return await self._told(context if ask else None, outcome, Budgets.model_validate_json(order.budgets))

    async def _may_see(self, execution_id: str, running: Execution | None) -> None:
        """Raises UnknownEntry for a run of somebody else's, which looks as if it were not there."""
        access = caller()
        if access.sees_all:
            return
        runs = await self._code_mode.runs()
        order = running.order if running is not None else await runs.journal.executions.order(execution_id)
        if order.principal != access.principal:
            raise UnknownEntry(f"there is no execution {execution_id}, or no longer")

    def _session(self, context: ServerRequestContext, arguments: Arguments) -> str | None:
        named = arguments.get("session")
        if named is None and self._session_key is not None:
            named = cast("dict[str, object]", context.meta or {}).get(self._session_key)
        return named[:_MAX_SESSION] if isinstance(named, str) and named else None

    async def _told(
        self,
        asking: ServerRequestContext | None,
        outcome: Outcome,
        budgets: Budgets,
        execution: Execution | None = None,
    ) -> Answer:
        """An outcome as an answer: for models as text, for programs as data, and what it made beside it.

        A run that waits is a question instead, where the client that is `asking` may and can put it to a person.
        """
        if execution is not None:
            self._files.keep(execution, outcome)
        can = modes(asking) if self._ask_client and asking is not None else _NO_MODES
        if can and allowable(outcome, can):
            return question(outcome, can)
        most = min(budgets.value_tokens, CEILINGS.value_tokens)
        text = await anyio.to_thread.run_sync(model_view, outcome, most, self._approving)
        blocks = await self._files.blocks(outcome)
        return mcp.CallToolResult(
            content=[mcp.TextContent(text=text), *blocks],
            structured_content=outcome.to_json(safe_integers=True),
            is_error=outcome.status not in _FINE,
        )


_MAX_SESSION = 200
_SCRIPT = "the script is the argument `code`"
_NO_MODES: frozenset[Mode] = frozenset()
_CLIENT = "a person at the MCP client"


def _answered(text: str, data: dict[str, object]) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=visible(text))], structured_content=to_json_form(data))


def _refused(message: str, hint: str | None) -> mcp.CallToolResult:
    return _failed(Diagnostic(kind="invalid_arguments", message=message, hint=hint))


def _diagnostic(error: Exception) -> Diagnostic:
    if isinstance(error, NoRoom):
        return Diagnostic(kind=error.kind, message=str(error), retriable=True)
    hint = error.hint if isinstance(error, CallError) else None
    return Diagnostic(kind="invalid_arguments", message=str(error), hint=hint)


def _failed(diagnostic: Diagnostic) -> mcp.CallToolResult:
    return mcp.CallToolResult(content=[mcp.TextContent(text=visible(said_of(diagnostic)))], is_error=True)
