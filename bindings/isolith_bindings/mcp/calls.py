"""One call of a method: what is sent, the rounds that a server asks for, and the value of what it answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types

from isolith_bindings.connector import Suspended
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.extras import EXTRAS, prompt_messages, resource_contents
from isolith_bindings.mcp.failures import ProtocolError
from isolith_bindings.mcp.listing import all_pages
from isolith_bindings.mcp.questions import asked_person, question_of
from isolith_bindings.mcp.rounds import Rounds
from isolith_bindings.mcp.tasks import KEEP_MS, Tasks
from isolith_bindings.mcp.unwrap import tool_value

if TYPE_CHECKING:
    from isolith_bindings.connector import CallContext
    from isolith_bindings.mcp.catalogue import Bound
    from isolith_bindings.mcp.connection import Connection
    from isolith_bindings.mcp.questions import Questions
    from isolith_bindings.mcp.rounds import Send


@dataclass(frozen=True)
class Order:
    """What is called, as `tool` is named to people; the arguments as they leave, and what goes with them in `_meta`."""

    tool: str
    bound: Bound
    arguments: dict[str, object]
    meta: dict[str, object] | None = None


async def make(connection: Connection, order: Order, context: CallContext, questions: Questions) -> object:
    """Make the call and give its value. Raises CallError, Suspended, ConnectionBroke, ProtocolError and BadAnswer."""
    bound = order.bound
    if bound.kind in _LISTS:
        return await _list(connection, bound, context)

    async def send(responses: types.InputResponses | None, state: str | None) -> dict[str, object]:
        if state is not None and tasks.is_state(state):
            return await tasks.answered(state, responses)
        return await tasks.followed(await connection.request(_request(order, responses, state), told=context.progress))

    async with Tasks(connection, order.tool, bound, context) as tasks:
        result = await _result(send, context, questions)
    if context.variant == "raw":
        return result
    if bound.kind == "resources/read":
        return resource_contents(result, context.artifacts)
    if bound.kind == "prompts/get":
        return prompt_messages(result, context.artifacts)
    return tool_value(order.tool, result, bound.result, context.artifacts, wrapped=bound.wrapped)


async def _result(send: Send, context: CallContext, questions: Questions) -> dict[str, object]:
    with questions.during(context):
        try:
            return await Rounds(send, context, questions).result()
        except ProtocolError as error:
            if error.code != types.URL_ELICITATION_REQUIRED or not await _visited(error, context):
                raise
            return await Rounds(send, context, questions).result()


def _request(order: Order, responses: types.InputResponses | None, state: str | None) -> types.Request[Any, Any]:
    bound, arguments = order.bound, order.arguments
    more: dict[str, object] = {"input_responses": responses, "request_state": state, "_meta": order.meta}
    if bound.task:
        more["task"] = {"ttl": KEEP_MS}
    given = {key: value for key, value in more.items() if value is not None}
    if bound.kind == "resources/read":
        params: dict[str, object] = {"uri": arguments.get("uri"), **given}
        return types.ReadResourceRequest(params=types.ReadResourceRequestParams.model_validate(params))
    if bound.kind == "prompts/get":
        params = {"name": arguments.get("name"), "arguments": arguments.get("arguments"), **given}
        return types.GetPromptRequest(params=types.GetPromptRequestParams.model_validate(params))
    params = {"name": bound.method.original, "arguments": arguments, **given}
    return types.CallToolRequest(params=types.CallToolRequestParams.model_validate(params))


async def _visited(error: ProtocolError, context: CallContext) -> bool:
    """Whether a person went to all the pages that a server says they have to (2025-11-25). Raises Suspended."""
    data: object = error.data
    pages = cast("dict[str, object]", data).get("elicitations") if isinstance(data, dict) else None
    listed = cast("list[object]", pages) if isinstance(pages, list) else []
    known = [cast("dict[str, object]", page) for page in listed if isinstance(page, dict)]
    if not known or len(known) < len(listed):
        return False
    if context.waits:
        raise Suspended({str(number): question_of(page) for number, page in enumerate(known)}, {})
    for page in known:
        answer = await asked_person(replace(question_of(page), may_wait=True), context)
        if answer.action != "accept":
            return False
    return True


_LISTS: dict[str, type[types.ListResourcesRequest | types.ListResourceTemplatesRequest | types.ListPromptsRequest]] = {
    "resources/list": types.ListResourcesRequest,
    "resources/templates/list": types.ListResourceTemplatesRequest,
    "prompts/list": types.ListPromptsRequest,
}


async def _list(connection: Connection, bound: Bound, context: CallContext) -> object:
    """All entries, or one page of them. What its server says may be believed for a while is asked for after that."""
    extra = next(extra for extra in EXTRAS if extra.kind == bound.kind)
    request = _LISTS[bound.kind]

    async def fetch(cursor: str | None) -> dict[str, object]:
        params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
        return await connection.request(request(params=params))

    if context.variant == "pages":
        if context.cursor is not None and not isinstance(context.cursor, str):
            raise CallError("invalid_arguments", "a cursor is what the page before named for the next")
        page = await fetch(context.cursor)
        return {"items": page.get(extra.key), "cursor": page.get("nextCursor")}
    if context.variant == "raw":
        return await fetch(None)
    lists = connection.lists
    known, since = lists.get(bound.kind), lists.changes
    if known is not None:
        return known
    listing = await all_pages(fetch, extra.key, identified_by=extra.identified_by)
    if connection.era == "modern":
        lists.keep(bound.kind, listing.entries, listing.freshness, since)
    return [dict(entry) for entry in listing.entries]
