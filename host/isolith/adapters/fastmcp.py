"""Isolith as a server of FastMCP, to be mounted on others.

server = FastMCP("mine")
server.mount(fastmcp_server(code_mode))
server.mount(fastmcp_server(code_mode, namespace="scripts"), namespace="scripts")  # or under one: named in both places

Needs FastMCP: `pip install isolith[fastmcp]`. Under a namespace FastMCP renames tools and resources, but nothing within
an answer: the links to artifacts are written for it here.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, cast

import anyio
from fastmcp.client.transports.base import ClientTransport, TransportOptions
from fastmcp.server import create_proxy
from mcp.shared.memory import create_client_server_memory_streams

from isolith.mcp.server import mcp_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fastmcp import FastMCP
    from fastmcp.client.transports.base import SessionKwargs
    from mcp import ClientSession
    from mcp.server import Server
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from typing_extensions import Unpack

    from isolith.code_mode import CodeMode


def fastmcp_server(
    code_mode: CodeMode,
    *,
    namespace: str | None = None,
    session_key: str | None = None,
    ask_client: bool = False,
    state_key: bytes | None = None,
) -> FastMCP:
    """The MCP server over an open `CodeMode` in both eras, with questions and progress.

    `namespace`: the one that it will be mounted under, `outer/inner` where that server is mounted again. Other options
    as of `mcp_server`.
    """
    server = mcp_server(code_mode, session_key=session_key, ask_client=ask_client, state_key=state_key)
    if namespace is not None:
        server.middleware.append(_Renamed(namespace))
    return create_proxy(_InMemory(server), name="isolith")


class _Renamed:
    """Middleware of the SDK's: links in answers as FastMCP publishes them under a namespace."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    async def __call__(self, ctx: ServerRequestContext, call_next: CallNext) -> HandlerResult:
        """One request. What a handler gave is in its wire form by now."""
        result = await call_next(ctx)
        content = cast("list[dict[str, str]]", result.get("content", [])) if isinstance(result, dict) else []
        for block in content:
            if block["type"] == "resource_link":
                block["uri"] = block["uri"].replace("://", f"://{self._namespace}/", 1)
        return result


class _InMemory(ClientTransport):
    """A way to a server of the SDK in this process."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @contextlib.asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session_kwargs: Unpack[SessionKwargs]
    ) -> AsyncGenerator[ClientSession]:
        options = transport_options or TransportOptions()
        async with (
            create_client_server_memory_streams() as ((read, write), (server_read, server_write)),
            anyio.create_task_group() as group,
        ):
            group.start_soon(self._server.run, server_read, server_write, self._server.create_initialization_options())
            try:
                async with options.session_class(read_stream=read, write_stream=write, **session_kwargs) as session:
                    yield session
            finally:
                group.cancel_scope.cancel()

    def __repr__(self) -> str:
        return "<Isolith, in this process>"
