"""`McpServer`: any MCP server as a connector."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from mcp_types import HEADER_MISMATCH

from isolith_bindings.errors import BindError, CallError
from isolith_bindings.mcp import calls
from isolith_bindings.mcp.arguments import checked_aside, look_at
from isolith_bindings.mcp.catalogue import Bound, Catalogue, Change, difference
from isolith_bindings.mcp.descriptions import HttpServer, Server
from isolith_bindings.mcp.failures import (
    BadAnswer,
    ConnectionBroke,
    ProtocolError,
    StartFailed,
    call_error,
    unavailable,
)
from isolith_bindings.mcp.life import Life
from isolith_bindings.mcp.options import Options, Plan
from isolith_bindings.mcp.scopes import Identity, Key, Scope, Sharing, key_of
from isolith_bindings.mcp.signing import sign_in
from isolith_bindings.mcp.status import MemberStatus, Reconnected, ServerStatus, State
from isolith_bindings.names import connector_name
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from isolith_bindings.connector import CallContext, Method
    from isolith_bindings.mcp.connection import Connection

_MOST_GONE = 1_000
_SHARED_BY: Mapping[Scope, str] = {
    "shared": "shared by all callers",
    "principal": "one for each principal",
    "session": "one for each session",
    "execution": "one for each execution",
    "call": "one for each call",
}


class McpServer:
    """An MCP server as a connector: `McpServer("files", StdioServer("npx", ("-y", "...")))`, or with a URL.

    `trusted`: what the server says of its tools (read-only, idempotent) is believed. `sharing`: who shares a running
    server. Nothing is started before it is needed: by `ready`, which waits until it is known what the server offers, or
    by a call. One event loop at a time.
    """

    def __init__(
        self,
        name: str,
        server: Server | str,
        *,
        trusted: bool = False,
        sharing: Sharing | None = None,
        options: Options | None = None,
    ) -> None:
        self.name = connector_name(name)
        self.server: Server = HttpServer(server) if isinstance(server, str) else server
        self.sharing = sharing or Sharing()
        self.options = options or Options()
        self._plan = Plan(self.server, self.sharing, self.options, trusted)
        if self.sharing.most < 1 or not 0 <= self.sharing.least <= self.sharing.most:
            raise BindError(f"{self.name}: `most` is at least 1, and `least` between 0 and that")
        self._catalogue = Catalogue()
        self._listeners: list[Callable[[Change], None]] = []
        self._identity = Identity()
        self._life: Life | None = None
        self._gone: dict[Key, str] = {}
        self._calls_failed = 0
        self._last_error: str | None = None
        self._ids = secrets.token_hex(4)

    def __repr__(self) -> str:
        return f"<connector {self.name} from {self.server.place}>"

    # what it offers

    @property
    def description(self) -> str:
        """The server's own instructions, cut to 4,000 characters; empty until it has connected."""
        return self._catalogue.about

    @property
    def methods(self) -> Mapping[str, Method]:
        """By Python name; empty until the server has been listed."""
        return self._catalogue.methods

    @property
    def excluded(self) -> Mapping[str, str]:
        """Original name of what could not be bound, and why."""
        return self._catalogue.excluded

    @property
    def changing(self) -> bool:
        """Whether methods may come and go while a script runs."""
        return self._catalogue.changing

    @property
    def unavailable(self) -> str | None:
        """Why nothing is known of what it offers; None where something is."""
        if self.methods:
            return None
        life, (state, reason) = self._life, self._state()
        if life is None:
            return "it has not been started: that is done when it is first needed"
        if life.failure is not None:
            return str(life.failure)
        return reason or (None if state in {"connected", "idle"} else "it has not answered yet")

    @property
    def last_words(self) -> str:
        """The last of what a server that could not be started wrote beside the protocol, masked: for who runs it."""
        return "" if self._life is None or self._life.failure is None else self._life.failure.words

    def on_change(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Be told of each difference in what the server offers; gives what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _publish(self, catalogue: Catalogue) -> None:
        change = difference(self._catalogue, catalogue)
        self._catalogue = catalogue
        if change:
            for listener in tuple(self._listeners):
                listener(change)

    def _mourn(self, key: Key, why: str) -> None:
        while len(self._gone) >= _MOST_GONE:
            del self._gone[next(iter(self._gone))]
        self._gone[key] = why

    # from start to end

    async def start(self) -> None:
        """Allow it to be used; only a server of which some always run is started at once. Idempotent, never fails."""
        if self.sharing.least > 0:
            self._begin()

    def _begin(self) -> None:
        """Begin to connect, in the background."""
        if self._life is None:
            self._life = Life(self._plan, self._publish, self._mourn)

    async def ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until it is known what the server offers; False if it could not be reached, or takes longer."""
        self._begin()
        life = self._started()
        if life.catalogue is not None:
            await life.refresh(timeout_s)
        return await life.listed(timeout_s)

    async def aclose(self) -> None:
        """Stop the server, and all that was started for it. Idempotent."""
        life, self._life = self._life, None
        if life is not None:
            await life.aclose()

    async def execution_ended(self, execution_id: str) -> None:
        """Stop what was running for this execution alone, however it ended."""
        if self._life is not None:
            mine = {("execution", execution_id)}
            await self._life.pool.release(lambda key: key in mine or key[:2] == ("call", execution_id))
            self._gone.pop(("execution", execution_id), None)

    async def session_ended(self, principal: str | None, session: str) -> None:
        """Stop what was running for this session alone."""
        key = ("session", principal or "", session)
        if self._life is not None:
            await self._life.pool.release(lambda other: other == key)
        self._gone.pop(key, None)

    async def reconnect(self) -> Reconnected:
        """Stop what runs and connect anew, now; what is said here is what search and calls see from now on.

        `added` and `removed` are told from what was known before; where that is nothing, nothing was added.
        """
        self._begin()
        life, before = self._started(), self._catalogue
        try:
            connection = await life.renew()
        except (StartFailed, CallError) as error:
            reason = error.whole if isinstance(error, StartFailed) else str(error)
            return Reconnected(ok=False, reason=reason, tools=self._catalogue.tools, extras=self._catalogue.extras)
        change = difference(before if before.methods else self._catalogue, self._catalogue)
        member = life.pool.find(connection)
        number = None if member is None else self._connection_id(member.number)
        added, removed = tuple(sorted(change.added)), tuple(sorted(change.removed))
        return Reconnected(
            ok=True,
            connection_id=number,
            added=added,
            removed=removed,
            tools=self._catalogue.tools,
            extras=self._catalogue.extras,
        )

    async def sign_in(self, visit: Callable[[str], Awaitable[None]], timeout_s: float = 300.0) -> Reconnected:
        """Have a person sign in at the URL that `visit` is given, on this machine, and connect with what that gives."""
        if not isinstance(self.server, HttpServer) or self.server.oauth is None:
            raise BindError(f"{self.name} has no OAuth to sign in with: describe its server with `oauth=OAuth()`")
        try:
            await sign_in(self.server, self.server.oauth, visit, timeout_s)
        except (StartFailed, CallError) as error:
            return Reconnected(ok=False, reason=str(error), tools=self._catalogue.tools, extras=self._catalogue.extras)
        await self.aclose()
        return await self.reconnect()

    def _started(self) -> Life:
        if self._life is None:
            raise unavailable(self.name, "it has not been started, or was closed")
        return self._life

    # calls

    def check(self, method: Method, arguments: Mapping[str, object]) -> None:
        """Whether a call could be made, by what its server listed last. Raises CallError; nothing is sent.

        Where an artifact is sent nothing is said: its content is part of what is checked.
        """
        bound = self._catalogue.bound.get(method.name)
        if bound is not None:
            look_at(f"{self.name}.{method.name}", bound, arguments)

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Make one call. Raises CallError, and Suspended; cancellation passes through and reaches the server."""
        tool = f"{self.name}.{method.name}"
        try:
            bound = await self._bound(method, tool, context)
            values = await checked_aside(tool, bound, arguments, context.artifacts)
            return await self._made(tool, bound, values, context)
        except CallError as error:
            self._calls_failed += 1
            self._last_error = redact(error.message)[:500]
            raise

    async def _bound(self, method: Method, tool: str, context: CallContext) -> Bound:
        self._begin()
        life = self._started()
        await life.refresh(context.deadline_s)
        bound = self._catalogue.bound.get(method.name)
        if bound is None and not await life.listed(context.deadline_s):
            raise unavailable(self.name, str(life.failure) if life.failure else "it has not answered yet")
        bound = self._catalogue.bound.get(method.name)
        if bound is None:
            raise CallError(
                "unknown_tool", f"{tool} was removed by its server", hint=f"search(connector={self.name!r})"
            )
        return bound

    async def _made(self, tool: str, bound: Bound, values: dict[str, object], context: CallContext) -> object:
        """Send it, and once more where that cannot do twice what was asked for once."""
        life, key = self._started(), key_of(self.sharing.scope, context)
        meta = self._identity.meta(context) if self.options.identify else None
        self._tell_of_loss(tool, key)
        for last in (False, True):
            connection: Connection | None = None
            try:
                async with life.pool.lease(key) as connection:
                    value = await self._on(connection, calls.Order(tool, bound, values, meta), context)
                    # A tool that unlocks another: the script may call that one next.
                    await life.settle(connection)
                    return value
            except StartFailed as error:
                raise unavailable(self.name, str(error)) from error
            except ConnectionBroke as broke:
                stateless = self.sharing.scope in {"shared", "principal", "call"} or not broke.sent
                repeatable = not broke.sent or bound.kind != "tool" or bound.method.idempotent
                if last or not (repeatable and stateless):
                    raise _lost(tool, broke) from broke
            except (ProtocolError, BadAnswer) as error:
                raise call_error(tool, error) from error
            except asyncio.CancelledError:
                if connection is not None:
                    life.suspect(connection)
                raise
        raise AssertionError("unreachable")

    async def _on(self, connection: Connection, order: calls.Order, context: CallContext) -> object:
        questions = self._started().questions.get(connection)
        if questions is None:
            raise ConnectionBroke(connection.lost or "it was closed", sent=False)
        try:
            return await calls.make(connection, order, context, questions)
        except ProtocolError as error:
            if error.code != HEADER_MISMATCH:
                raise
            # Refused before it was read: what of the arguments goes into headers has changed since it was listed.
            await self._started().list_tools(connection)
            return await calls.make(connection, order, context, questions)

    def _tell_of_loss(self, tool: str, key: Key) -> None:
        """A server that held something for this key ended since its last call: that is said once, not passed over."""
        why = self._gone.pop(key, None)
        if why is not None:
            message = f"the server behind {tool} ended ({why}), and what it held for this {key[0]} is gone"
            raise CallError("tool_unavailable", message, retriable=True, hint="the next call starts a new one")

    # how it is

    def status(self) -> ServerStatus:
        """How it is at this moment. Starts nothing."""
        life = self._life
        members = life.pool.members if life is not None else ()
        state, reason = self._state()
        connection = next((m.connection for m in members if m.connection is not None), None)
        session = connection.client.session if connection is not None else None
        info = session.server_info if session is not None else None
        failed = life is not None and life.failure is not None
        return ServerStatus(
            connector=self.name,
            scope=f"every running server of `{self.name}` in this process, {_SHARED_BY[self.sharing.scope]}",
            place=self.server.place,
            state=state,
            reason=reason,
            tools=self._catalogue.tools,
            extras=self._catalogue.extras,
            era=connection.era if connection is not None else None,
            protocol_version=session.protocol_version if session is not None else None,
            server=f"{info.name} {info.version}".strip() if info is not None else None,
            restarts=life.restarts if life is not None else 0,
            retry_in_s=life.backoff.wait_s(life.now()) if life is not None and failed else None,
            calls_failed=self._calls_failed,
            last_call_error=self._last_error,
            problems=self._catalogue.problems,
            excluded=tuple(f"{name}: {why}" for name, why in self._catalogue.excluded.items()),
            members=tuple(
                MemberStatus(
                    connection_id=self._connection_id(member.number),
                    shared_by=member.key[0],
                    state="starting" if member.connection is None else "connected",
                    pid=member.connection.program.pid if member.connection is not None else None,
                    calls_under_way=member.uses,
                    calls=member.served,
                )
                for member in members
            ),
            logs=tuple(f"{line.level}: {line.text}" for line in connection.logs) if connection is not None else (),
        )

    def _state(self) -> tuple[State, str | None]:
        life = self._life
        if life is None:
            return ("not_started", None)
        members = life.pool.members
        if any(member.connection is not None for member in members):
            return ("degraded", "it does not answer") if life.degraded else ("connected", None)
        if life.failure is not None:
            return ("needs_auth" if life.failure.needs_auth else "failed", life.failure.whole)
        if members or life.catalogue is None or life.reopening:
            return ("starting", life.lost)
        return ("idle", None)

    def _connection_id(self, number: int) -> str:
        return f"{self.name}-{self._ids}-{number}"


def _lost(tool: str, broke: ConnectionBroke) -> CallError:
    message = f"{tool} got no answer: {broke}"
    if broke.sent:
        message += ". It may have been carried out all the same"
    data = {"may_have_happened": broke.sent}
    hint = "look whether it happened before you call it again" if broke.sent else None
    return CallError("tool_unavailable", message, data=data, retriable=not broke.sent, hint=hint)
