"""HTTP as a transport of the SDK: one request that fails costs only itself, and no answer is too large.

Left alone, the SDK ends a whole session, and every call in it, where one request finds no connection; it says of every
error of HTTP that there was one and not which; it takes 1 MiB of one server-sent event and any size of anything else.
Here a failed request becomes a JSON-RPC error that says what happened, and every body has an end.
"""

from __future__ import annotations

import contextlib
import json
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INTERNAL_ERROR

from isolith_bindings import json_text
from isolith_bindings.mcp.descriptions import HttpServer, SseServer
from isolith_bindings.mcp.sse import sse_streams
from isolith_bindings.mcp.stdio import revealed
from isolith_bindings.secrets import redact, redact_beginning

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from isolith_bindings.mcp.wire import Streams

MAX_ANSWER = 64 << 20
"""Bytes of one answer, or of one event of it."""

FAILURE = "isolith.failure"
"""The key, in the data of a JSON-RPC error, that says it was made here and not by the server."""

TOO_LARGE = f"the answer has more than {MAX_ANSWER:,} bytes"
BROKE = "the connection broke before the answer was complete"

_CONNECT_S = 10.0
_SHORT_S = 10.0
_CLOSING_S = 1.0
_LONGEST_REFUSAL = 64 << 10
_SHOWN = 300
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)


class _Broken(httpx2.StreamError):
    """What the SDK makes an error of one request; any other exception would end the session."""


class _Capped(httpx2.AsyncByteStream):
    """A body that ends in an error where it breaks off, or is an answer and has more than `MAX_ANSWER` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int | None) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._stream:
                size += len(chunk)
                if self._limit is not None and size > self._limit:
                    raise _Broken(TOO_LARGE)
                yield chunk
        except httpx2.TransportError as error:
            raise _Broken(BROKE) from error

    async def aclose(self) -> None:
        await self._stream.aclose()


class CarefulTransport(httpx2.AsyncBaseTransport):
    """Sends MCP messages so that what goes wrong is told, request by request."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request. An MCP message is always answered, by a JSON-RPC error of ours where need be."""
        message = request.method == "POST" and "text/event-stream" in request.headers.get("accept", "")
        _limit_time(request, message=message)
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            if not message:
                raise
            return _unreachable(request, error)
        if message and response.status_code >= HTTPStatus.BAD_REQUEST:
            return await _refusal(request, response)
        endless = response.headers.get("content-type", "").startswith("text/event-stream")
        # One event of a stream is limited by who reads it.
        response.stream = _Capped(cast("httpx2.AsyncByteStream", response.stream), None if endless else MAX_ANSWER)
        return response

    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()


def _limit_time(request: httpx2.Request, *, message: bool) -> None:
    """A request may be answered late; whatever else is sent must not hold up what comes after it."""
    read: float | None = None
    if request.method == "DELETE":
        read = _CLOSING_S
    elif message and not _is_request(request.content):
        read = _SHORT_S
    elif request.method == "POST" and not message:
        read = 3 * _SHORT_S
    request.extensions["timeout"] = {"connect": _CONNECT_S, "read": read, "write": 3 * _SHORT_S, "pool": _CONNECT_S}


def _is_request(content: bytes) -> bool:
    if len(content) > _LONGEST_REFUSAL:
        return True
    try:
        parsed: object = json.loads(content)
    except ValueError:
        return True
    return isinstance(parsed, dict) and "method" in parsed and "id" in parsed


def _unreachable(request: httpx2.Request, error: httpx2.TransportError) -> httpx2.Response:
    host = request.url.host
    sent = not isinstance(error, _NOT_SENT)
    said = redact(str(error)) or type(error).__name__
    text = f"the connection to {host} broke: {said}" if sent else f"{host} cannot be reached: {said}"
    return _answer(request, HTTPStatus.BAD_GATEWAY, text, {FAILURE: "unreachable", "sent": sent})


async def _refusal(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """What the server said if it is a JSON-RPC error; else one that names the status and the beginning of the body."""
    body = b""
    with contextlib.suppress(httpx2.TransportError):
        async for chunk in cast("httpx2.AsyncByteStream", response.stream):
            body += chunk
            if len(body) > _LONGEST_REFUSAL:
                break
    await response.aclose()
    headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _OF_THE_BODY]
    if _is_rpc_error(body):
        made = httpx2.Response(response.status_code, headers=headers, content=body, request=request)
        made.headers["content-type"] = "application/json"
        return made
    status = response.status_code
    reason = response.reason_phrase
    shown = redact_beginning(" ".join(body.decode("utf-8", "replace").split()), _SHOWN)
    text = f"HTTP {status} {reason}".strip() + (f": {shown}" if shown and not shown.startswith("<") else "")
    data: dict[str, object] = {FAILURE: "http", "status": status, "session": "mcp-session-id" in request.headers}
    return _answer(request, status, text, data, headers)


_OF_THE_BODY = frozenset({"content-length", "content-encoding", "content-type", "transfer-encoding"})


def _is_rpc_error(body: bytes) -> bool:
    try:
        parsed: object = json_text.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(parsed, dict):
        return False
    error = cast("dict[str, object]", parsed).get("error")
    return isinstance(error, dict) and isinstance(cast("dict[str, object]", error).get("code"), int)


def _answer(
    request: httpx2.Request,
    status: int,
    text: str,
    data: dict[str, object],
    headers: list[tuple[str, str]] | None = None,
) -> httpx2.Response:
    error = {"code": INTERNAL_ERROR, "message": text, "data": data}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    response = httpx2.Response(status, headers=headers, content=body, request=request)
    response.headers["content-type"] = "application/json"
    return response


@contextlib.asynccontextmanager
async def http_streams(server: HttpServer, auth: httpx2.Auth | None) -> AsyncGenerator[Streams]:
    """The streams of a server behind a URL. Raises CallError for a credential that cannot be read."""
    headers = await revealed(server.headers)
    if server.bearer is not None:
        token = (await revealed({"bearer": server.bearer}))["bearer"]
        headers["Authorization"] = f"Bearer {token}"

    transport = CarefulTransport(httpx2.AsyncHTTPTransport())
    async with httpx2.AsyncClient(transport=transport, headers=headers, auth=auth) as client:
        if isinstance(server, SseServer):
            async with sse_streams(server.url, client, MAX_ANSWER) as streams:
                yield cast("Streams", streams)
            return
        opened = streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_ANSWER)
        async with opened as streams:
            yield streams
