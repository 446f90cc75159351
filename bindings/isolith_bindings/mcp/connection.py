"""One connection to one server, from its start to its end, in a task of its own.

The SDK's contexts have to be left by the task that entered them, and must outlive the call that wanted them first: so
one task owns them. Requests are sent from tasks of their own too, so that who cancels a call never waits for a server
that does not read.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from pydantic import BaseModel, ConfigDict, ValidationError

from isolith_bindings.errors import CallError
from isolith_bindings.mcp.descriptions import Server, StdioServer
from isolith_bindings.mcp.failures import BadAnswer, ConnectionBroke, ProtocolError, StartFailed
from isolith_bindings.mcp.freshness import Lists
from isolith_bindings.mcp.http import BROKE, FAILURE, TOO_LARGE, http_streams
from isolith_bindings.mcp.stdio import Program, stdio_streams
from isolith_bindings.mcp.tasks import Offered
from isolith_bindings.mcp.wire import Exchange, Tap, current_exchange
from isolith_bindings.secrets import redact, redact_beginning

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    import httpx2
    from mcp.client.session import ElicitationFnT, ListRootsFnT, SamplingFnT

    from isolith_bindings.mcp.wire import Streams

# What goes wrong is told by errors of ours; without a handler the SDK writes a traceback of each to standard error.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

Era = Literal["modern", "legacy"]
Report = Literal["tools", "prompts", "resources"]
_REPORTS: tuple[Report, ...] = ("tools", "prompts", "resources")

CANCEL_S = 0.25
"""Seconds that a cancelled request is given to tell the server, before it is left to do so by itself."""

_CLOSE_S = 10.0
_MOST_LOGS = 200
_LONGEST_LOG = 2_000


class _Taken(BaseModel):
    """Whatever the SDK gives: the result itself was seen on its way."""

    model_config = ConfigDict(extra="allow")


@dataclass(frozen=True)
class LogLine:
    """What a server logged, cut to 2,000 characters."""

    level: str
    text: str


@dataclass(frozen=True)
class Callbacks:
    """Who answers a server, and who is told of it. `changed` and `ended` must not wait."""

    elicit: ElicitationFnT
    sample: SamplingFnT | None
    roots: ListRootsFnT | None
    changed: Callable[[Report], None]
    ended: Callable[[], None]


@dataclass(frozen=True)
class Terms:
    """How a connection is made. `start_s`: seconds until the server must have answered as one."""

    start_s: float = 30.0
    era: Era | None = None
    log_level: types.LoggingLevel | None = "info"
    auth: httpx2.Auth | None = None


@dataclass(eq=False)
class Connection:
    """A running server, or a session with one. `lost` says why it is no longer one; None as long as it is."""

    server: Server
    callbacks: Callbacks
    terms: Terms
    lists: Lists = field(default_factory=Lists)
    program: Program = field(default_factory=Program)
    logs: deque[LogLine] = field(default_factory=lambda: deque[LogLine](maxlen=_MOST_LOGS))
    lost: str | None = None
    closing: bool = False

    def __post_init__(self) -> None:
        self._client: Client | None = None
        self._stop = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._loose: set[asyncio.Task[object]] = set()

    # from begin to end

    async def open(self) -> None:
        """Start the server and agree on a version. Raises StartFailed. Cancelling this closes what was begun."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(ready), name=f"mcp {self.server.place}")
        try:
            await ready
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        """Let go of the server; its program has ended when this returns. Idempotent."""
        self.closing = True
        self._stop.set()
        if self._client is None and self._owner is not None:
            # It waits for a server that has not answered yet.
            self._owner.cancel()
        if self._owner is not None and self._owner is not asyncio.current_task():
            done, _ = await asyncio.wait({self._owner}, timeout=_CLOSE_S)
            if not done:
                self._owner.cancel()
                await asyncio.wait({self._owner}, timeout=_CLOSE_S)

    async def _own(self, ready: asyncio.Future[None]) -> None:
        why = "it was closed"
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(self.terms.start_s):
                    self._client = await stack.enter_async_context(self._make_client())
                if not ready.done():
                    ready.set_result(None)
                self._listen()
                await self._stop.wait()
        except asyncio.CancelledError:
            why = "it was stopped"
        except BaseException as error:  # noqa: BLE001 - groups of whatever the SDK and its transports raise
            why = self._why(error)
            if not ready.done():
                words = self.program.last_words()
                ready.set_exception(StartFailed(why, needs_auth=_needs_auth(_innermost(error)), words=words))
        finally:
            self._end(why)
            if not ready.done():
                ready.set_exception(StartFailed(why))
                ready.exception()

    def _make_client(self) -> Client:
        calls = self.callbacks
        return Client(
            Tap(self._transport(), self._ended).as_transport(),
            mode="legacy" if self.terms.era == "legacy" else "auto",
            cache=None,
            elicitation_callback=calls.elicit,
            sampling_callback=calls.sample,
            list_roots_callback=calls.roots,
            logging_callback=self._log,
            log_level=self.terms.log_level,
            message_handler=self._notice,
            client_info=types.Implementation(name="isolith", version="0.1.0"),
            extensions=(Offered(),),
        )

    def _transport(self) -> AbstractAsyncContextManager[Streams]:
        if isinstance(self.server, StdioServer):
            return cast("AbstractAsyncContextManager[Streams]", stdio_streams(self.server, self.program))
        return http_streams(self.server, self.terms.auth)

    def _ended(self) -> None:
        """The server will say no more: from the middle of the SDK, so only noted."""
        if self.lost is None and not self._stop.is_set():
            self._end(self.program.ending() if isinstance(self.server, StdioServer) else "the session ended")
        self._stop.set()

    def _end(self, why: str) -> None:
        if self.lost is None:
            self.lost = why
            self._stop.set()
            self.callbacks.ended()

    def drop(self, why: str) -> None:
        """Give the server up: it does not answer, or no longer knows this session."""
        self._end(why)

    def _why(self, error: BaseException) -> str:
        place = self.server.place
        error = _innermost(error)
        if isinstance(error, TimeoutError):
            said = f"{place} started but did not answer as an MCP server within {self.terms.start_s:g} s"
        elif isinstance(error, StartFailed | CallError):
            said = str(error) if place in str(error) else f"{place}: {error}"
        elif isinstance(self.server, StdioServer) and self.program.process is not None:
            said = f"{place} did not answer as an MCP server: {self.program.ending()}"
        else:
            said = f"{place}: {str(error) or type(error).__name__}{_NO_POST if _status(error) in {405, 501} else ''}"
        if self.program.garbage:
            said += "; on its standard output it wrote what is not MCP"
        return redact(said)

    # what the server says by itself

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else repr(params.data)
        self.logs.append(LogLine(params.level, redact_beginning(text, _LONGEST_LOG)))

    async def _notice(self, message: types.ServerNotification | Exception) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed("tools")
        elif isinstance(message, types.PromptListChangedNotification):
            self._changed("prompts")
        elif isinstance(message, types.ResourceListChangedNotification):
            self._changed("resources")

    def _changed(self, report: Report) -> None:
        self.lists.forget(report)
        self.callbacks.changed(report)

    def _listen(self) -> None:
        declared = self.client.session.server_capabilities
        told: list[Report] = [name for name in _REPORTS if getattr(getattr(declared, name, None), "list_changed", None)]
        if self.era == "modern" and told:
            self._keep(asyncio.create_task(self._subscribe(told)))

    async def _subscribe(self, told: list[Report]) -> None:
        """Hold a stream of changes open (2026-07-28); what was missed between two streams is listed anew."""
        client, pause, again = self.client, 1.0, False
        while self.lost is None:
            try:
                async with client.listen(
                    tools_list_changed="tools" in told,
                    prompts_list_changed="prompts" in told,
                    resources_list_changed="resources" in told,
                ) as events:
                    for report in told if again else ():
                        self._changed(report)
                    pause = 1.0
                    async for _ in events:
                        pass
            except (MCPError, ListenNotSupportedError, ValidationError):
                return
            except (SubscriptionLost, TimeoutError):
                pass
            again = True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            pause = min(2 * pause, 60.0)

    # requests

    @property
    def client(self) -> Client:
        """The SDK's client. Raises ConnectionBroke before it is there and after it is gone."""
        if self._client is None or self.lost is not None:
            raise ConnectionBroke(self.lost or "it has not started", sent=False)
        return self._client

    @property
    def era(self) -> Era:
        """Which of the two protocols was agreed on."""
        return "modern" if self.client.session.discover_result is not None else "legacy"

    async def request(
        self,
        request: types.Request[Any, Any],
        *,
        told: Callable[[float, float | None, str | None], None] | None = None,
        timeout_s: float | None = None,
    ) -> dict[str, object]:
        """Send a request and give its result as it came; `told` is given its progress.

        Raises ConnectionBroke, ProtocolError and BadAnswer.
        """
        exchange = Exchange()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            if told is not None:
                told(progress, total, message)

        async def send() -> None:
            current_exchange.set(exchange)
            if isinstance(request, types.ListToolsRequest):
                # The SDK derives the headers of later calls from what it lists itself.
                await client.session.list_tools(params=request.params)
            else:
                await client.session.send_request(request, _Taken, progress_callback=None if told is None else report)

        client = self.client
        task = asyncio.create_task(send())
        self._keep(task)
        try:
            await asyncio.wait({task}, timeout=timeout_s)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task}, timeout=CANCEL_S)
            raise
        if not task.done():
            task.cancel()
            raise ConnectionBroke(f"it gave no answer within {timeout_s:g} s")
        self._raise_failure(task)
        if exchange.result is None:
            raise BadAnswer("the answer was lost")
        return exchange.result

    async def tell(self, request: types.Request[Any, Any]) -> None:
        """Send a request whose answer nobody waits for, but for a moment in which it leaves."""
        task = asyncio.create_task(self.request(request, timeout_s=_CLOSE_S))
        self._keep(task)
        await asyncio.wait({task}, timeout=CANCEL_S)

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._loose.add(task)
        task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[Any]) -> None:
        self._loose.discard(task)
        if not task.cancelled():
            # Whoever waited for it has seen it; of one that nobody waited for, nobody wants to know.
            task.exception()

    def _raise_failure(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            raise ConnectionBroke(self.lost or "it was closed")
        error = task.exception()
        if error is None:
            return
        if isinstance(error, MCPError):
            raise self._failure(error) from error
        if isinstance(error, ValidationError):
            raise BadAnswer(f"the answer is no result of MCP: {error.errors()[0]['msg']}") from error
        raise ConnectionBroke(self.lost or str(error) or type(error).__name__) from error

    def _failure(self, error: MCPError) -> Exception:
        """What the SDK reports as one kind of error, told apart."""
        code, message, data = error.error.code, error.error.message, error.error.data
        own = cast("dict[str, object]", data) if isinstance(data, dict) and FAILURE in data else None
        if own is not None:
            return self._http_failure(message, own)
        if code == types.INVALID_REQUEST and message == "Session terminated":
            self.drop("the server ended the session")
            return ConnectionBroke("the server ended the session", sent=False)
        if TOO_LARGE in message or message.startswith("SSE stream failed"):
            return BadAnswer(TOO_LARGE)
        if self.lost is not None:
            return ConnectionBroke(self.lost)
        if BROKE in message or (code == types.CONNECTION_CLOSED and data is None):
            return ConnectionBroke(BROKE)
        return ProtocolError(code, redact(message), cast("object", data))

    def _http_failure(self, message: str, data: dict[str, object]) -> Exception:
        if data[FAILURE] == "unreachable":
            return ConnectionBroke(message, sent=data["sent"] is not False)
        if data["status"] == 404 and data["session"]:
            self.drop("the server no longer knows the session")
            return ConnectionBroke("the server no longer knows the session", sent=False)
        return ProtocolError(types.INTERNAL_ERROR, message, {"status": data["status"]})


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _needs_auth(error: BaseException) -> bool:
    if isinstance(error, StartFailed):
        return error.needs_auth
    return _status(error) in {401, 403}


def _status(error: BaseException) -> object:
    """That of HTTP, where it was refused with one."""
    data = error.error.data if isinstance(error, MCPError) else None
    return cast("dict[str, object]", data).get("status") if isinstance(data, dict) else None


_NO_POST = (
    "; it takes no POST, as an MCP server does: an OpenAPI document is connected by its file, "
    "or by an address that ends in .json or .yaml"
)
