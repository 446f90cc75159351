"""One ASGI app for everything that is served over HTTP: `/mcp`, `/v1`, `/healthz`, `/metrics`."""

from __future__ import annotations

import itertools
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.types import PARSE_ERROR
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from isolith.errors import UsageError
from isolith.http.api import OPERATIONS
from isolith.http.bodies import arrived
from isolith.http.endpoint import Endpoint, access_of_request
from isolith.http.guard import REFUSED, Guard
from isolith.http.house import House, json_response
from isolith.http.metrics import metrics
from isolith.http.openapi import openapi
from isolith.http.problems import Problem, not_found, problem_of
from isolith.http.rates import Limits, Rates
from isolith.mcp.room import ROOM, NoRoom
from isolith_bindings import json_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from mcp.server import Server
    from mcp.server.auth.provider import TokenVerifier
    from mcp.server.transport_security import TransportSecuritySettings
    from pydantic import AnyHttpUrl
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from isolith.code_mode import CodeMode

MCP_PATH: Final = "/mcp"
_NOTHING_HERE: Final = (
    f"there is nothing here: the API is under /v1, described at /v1/openapi.json; MCP is at {MCP_PATH}"
)


@dataclass(frozen=True)
class OAuth:
    """Where clients of MCP get their tokens: they are told by the metadata of the resource (RFC 9728).

    `issuer`: the authorization server. `resource`: this server as clients see it, `https://mcp.example.com/mcp`.
    """

    issuer: str
    resource: str


@dataclass(frozen=True)
class Door:
    """Who is let in.

    `verifier`: of the SDK, that of the journal's tokens or one for the tokens of an authorization server, whose
    subjects are the principals; None lets everybody in, as nobody named.
    """

    security: TransportSecuritySettings
    verifier: TokenVerifier | None
    limits: Limits = field(default_factory=Limits)
    oauth: OAuth | None = None


class App:
    """The ASGI app, and the house behind it: `house.stopping` ends what waits."""

    def __init__(self, code_mode: CodeMode, door: Door, server: Server | None = None) -> None:
        """`server`: of MCP, over the same code mode. Raises UsageError for a code mode that keeps no journal."""
        if not code_mode.journalled:
            raise UsageError("the HTTP API needs a journal: CodeMode(journal=...)")
        self._metrics = metrics()
        self.house = House(code_mode, Rates(door.limits))
        if self._metrics is not None:
            code_mode.when_begun(self._metrics.begun)
        manager = None if server is None else StreamableHTTPSessionManager(server, security_settings=door.security)
        routes = [*_api(self.house), Route("/healthz", self._health), Route("/metrics", self._exposition)]
        if manager is not None:
            routes += _mcp(manager, self.house, door)

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncGenerator[None]:
            if manager is None:
                yield
                return
            async with manager.run():
                yield

        app = Starlette(
            routes=routes,
            lifespan=lifespan,
            exception_handlers=dict.fromkeys((HTTPException, Problem, Exception), _told),
        )
        app.router.redirect_slashes = False  # one path for one thing
        self._app: ASGIApp = Guard(app, door.security, door.verifier, self._metrics, oauth=door.oauth is not None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the lifespan."""
        await self._app(scope, receive, send)

    async def _health(self, _: Request) -> Response:
        """Whether to send it more. Asks nothing of anybody, so that it answers whatever hangs."""
        stopping = self.house.stopping.is_set()
        return json_response({"status": "stopping" if stopping else "ok"}, 503 if stopping else 200)

    async def _exposition(self, request: Request) -> Response:
        access_of_request(request)
        if self._metrics is None:
            raise Problem(501, "not-installed", "metrics need the extra `isolith[serve]`")
        content, media = self._metrics.text()
        return Response(content, headers={"Content-Type": media, "Cache-Control": "no-store"})


def _api(house: House) -> list[BaseRoute]:
    described = json_response(openapi(OPERATIONS))

    async def description(_: Request) -> Response:
        return described  # the same at every host: whoever writes a client needs no token to read it

    routes: list[BaseRoute] = [Route("/v1/openapi.json", description)]
    by_path = itertools.groupby(sorted(OPERATIONS, key=lambda one: one.path), key=lambda one: one.path)
    return [*routes, *(Route(path, Endpoint(house, list(operations))) for path, operations in by_path)]


def _mcp(manager: StreamableHTTPSessionManager, house: House, door: Door) -> list[Route]:
    """MCP, for those who may execute; each request and each run counts as one of its principal's."""
    app = _Counted(StreamableHTTPASGIApp(manager), house)
    if door.verifier is None:
        return [Route(MCP_PATH, app)]
    described: list[Route] = []
    where = None
    if door.oauth is not None:
        # As text: clients compare these letter by letter, and a URL of pydantic's has a slash that was not there.
        resource, issuer = cast("AnyHttpUrl", door.oauth.resource), cast("AnyHttpUrl", door.oauth.issuer)
        where = build_resource_metadata_url(resource)
        # Clients ask for every scope that is named here: none of them is to decide about its own calls.
        described = create_protected_resource_routes(resource, [issuer], ["execute"], "Isolith")
    closed: ASGIApp = AuthContextMiddleware(RequireAuthMiddleware(app, ["execute"], where))
    if door.oauth is None:  # the SDK tells the clients of an authorization server where it is
        closed = _Told(closed)
    return [Route(MCP_PATH, closed), *described]


class _Told:
    """Before the SDK's own refusal: of a token that opens nothing it says that none was sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if REFUSED not in scope:
            await self._app(scope, receive, send)
            return
        try:
            access_of_request(Request(scope))
        except Problem as problem:
            await problem.response()(scope, receive, send)


class _Counted:
    def __init__(self, app: ASGIApp, house: House) -> None:
        self._app = app
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._house.rates.request(scope["isolith.access"].principal):
                # The SDK waits for a body for ever: it is given one that is there.
                content = await arrived(Request(scope, receive))
                if json_text.is_deep(content):
                    await _unread()(scope, receive, send)
                    return
                await self._app({**scope, ROOM: self._room}, _again(content, receive), send)
        except Problem as problem:
            await problem.response()(scope, receive, send)

    async def _room(self, principal: str | None) -> Callable[[], None]:
        try:
            return await self._house.room(principal)
        except Problem as problem:
            raise NoRoom(problem.detail, problem.kind) from problem


def _unread() -> Response:
    """The SDK's own answer to what cannot be parsed; how deep it parses is another on each version of Python."""
    error = {"code": PARSE_ERROR, "message": "Parse error"}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)


def _again(content: bytes, receive: Receive) -> Receive:
    """What is received where a body has been read already."""
    given = False

    async def received() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": content, "more_body": False}

    return received


async def _told(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        if error.status_code == 404:
            return not_found(_NOTHING_HERE).response()
        what = {405: "wrong-method"}.get(error.status_code, "not-possible")
        return Problem(error.status_code, what, error.detail, headers=dict(error.headers or {})).response()
    return problem_of(error).response()
