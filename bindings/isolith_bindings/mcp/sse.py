"""The transport of before 2025-03-26 as streams of the SDK: what is sent is posted, what comes is one stream of events.

The SDK's own takes no event of more than 1 MiB, and one message that cannot be posted ends its session.
"""

from __future__ import annotations

import asyncio
import contextlib
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import anyio
import httpx2
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter

from isolith_bindings.mcp.failures import StartFailed
from isolith_bindings.mcp.unreadable import failure_of
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

_HEADERS = {"Accept": "text/event-stream", "Cache-Control": "no-store"}


@contextlib.asynccontextmanager
async def sse_streams(url: str, client: httpx2.AsyncClient, max_event: int) -> AsyncGenerator[Streams]:
    """The streams of a server behind a URL. Raises StartFailed where there is none."""
    reading_in, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, writing_out = anyio.create_memory_object_stream[SessionMessage](0)
    async with client.stream("GET", url, headers=_HEADERS) as response:
        if response.status_code != HTTPStatus.OK:
            needs_auth = response.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
            raise StartFailed(f"it answered HTTP {response.status_code}", needs_auth=needs_auth)
        events = aiter(httpx2.EventSource(response, max_event_size=max_event))
        endpoint = await _endpoint(url, events)
        tasks = [
            asyncio.create_task(_read(events, reading_in)),
            asyncio.create_task(_write(client, endpoint, writing_out, reading_in.clone())),
        ]
        try:
            yield reading, writing
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (reading, writing, reading_in, writing_out):
                stream.close()


async def _endpoint(url: str, events: AsyncIterator[httpx2.ServerSentEvent]) -> str:
    """Where to post: what the first event says, as long as that is where the stream comes from."""
    async for event in events:
        if event.event != "endpoint":
            continue
        try:
            endpoint = urljoin(url, event.data)
            same = urlsplit(endpoint)[:2] == urlsplit(url)[:2]
        except ValueError:
            raise StartFailed("where it wants its messages sent is no address") from None
        if not same:
            raise StartFailed("it wants its messages sent to another server")
        return endpoint
    raise StartFailed("it ended before it said where to send messages")


async def _read(
    events: AsyncIterator[httpx2.ServerSentEvent], messages: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    with messages, contextlib.suppress(httpx2.HTTPError, httpx2.StreamError, anyio.BrokenResourceError):
        async for event in events:
            if event.event != "message" or not event.data:
                continue
            try:
                message = jsonrpc_message_adapter.validate_json(event.data, by_name=False)
            except ValueError as error:
                failure = failure_of(event.data.encode(), error)
                if failure is None:
                    continue
                message = failure
            await messages.send(SessionMessage(message))


async def _write(
    client: httpx2.AsyncClient,
    endpoint: str,
    messages: MemoryObjectReceiveStream[SessionMessage],
    answers: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Post each message in order. A request that cannot be is answered here."""
    with messages, answers:
        async for item in messages:
            body = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            try:
                response = await client.post(endpoint, json=body)
                failure = None if response.is_success else f"HTTP {response.status_code} {response.reason_phrase}"
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                failure = redact(str(error)) or type(error).__name__
            if failure is not None and isinstance(item.message, JSONRPCRequest):
                told = ErrorData(code=INTERNAL_ERROR, message=failure)
                with contextlib.suppress(anyio.BrokenResourceError):
                    await answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=told)))
