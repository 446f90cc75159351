"""A server from `start` to `aclose`: connected in the background, listed, restarted when it goes, listened to."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import dataclasses
import functools
import logging
import time
from typing import TYPE_CHECKING

import mcp_types as types

from isolith_bindings.errors import CallError
from isolith_bindings.mcp.backoff import Backoff
from isolith_bindings.mcp.catalogue import Catalogue, read_catalogue
from isolith_bindings.mcp.connection import Callbacks, Connection, Report, Terms
from isolith_bindings.mcp.descriptions import HttpServer
from isolith_bindings.mcp.failures import BadAnswer, ConnectionBroke, ProtocolError, StartFailed
from isolith_bindings.mcp.freshness import Lists
from isolith_bindings.mcp.listing import Listing, all_pages
from isolith_bindings.mcp.oauth import authentication
from isolith_bindings.mcp.pool import Pool
from isolith_bindings.mcp.questions import Questions
from isolith_bindings.mcp.scopes import SHARED, SPARE, Key
from isolith_bindings.mcp.signing import person

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx2

    from isolith_bindings.mcp.freshness import Kept
    from isolith_bindings.mcp.options import Plan

_log = logging.getLogger(__name__)

PATIENCE_S = 2.0
"""A call waits this long for the next try of a server that failed; if that is later, it is told why."""

OVERHANG_S = 5.0
"""How much longer than its start may take a server that did not start is waited for: until it has been stopped."""

PROBE_S = 10.0
_QUIET_S = 0.05
_MANY = 200
_SETTLE_S = 5.0
_LONGEST_ABOUT = 4_000
_AGAIN_S = 5.0
_HEADER = "x-mcp-header"


@dataclasses.dataclass(frozen=True)
class _Tools:
    """A list of tools: until when it may be believed, of which server, and whether by other connections as well."""

    until: float
    server: object
    anyones: bool

    @classmethod
    def of(cls, listing: Listing, connection: Connection, now: float) -> _Tools | None:
        """None where its server does not say how long."""
        said = listing.freshness
        if said.ttl_s == 0:
            return None
        # What of the arguments goes into headers, the SDK knows of what it has listed itself.
        anyones = said.public and _HEADER not in repr([entry.get("inputSchema") for entry in listing.entries])
        return cls(now + said.ttl_s, _identity(connection), anyones)


def _identity(connection: Connection) -> object:
    session = connection.client.session
    return (connection.era, session.protocol_version, session.server_info, session.server_capabilities)


class Life:
    """What lives in one event loop.

    `publish` is given each new catalogue; `mourn` the key of a server that ended after it had served it, and why.
    """

    def __init__(
        self,
        plan: Plan,
        publish: Callable[[Catalogue], None],
        mourn: Callable[[Key, str], None],
    ) -> None:
        self.plan = plan
        self.pool = Pool(plan.sharing, self._connect)
        self.backoff = Backoff()
        self.catalogue: Catalogue | None = None
        self.failure: StartFailed | None = None
        self.restarts = 0
        self.degraded = False
        self.told = asyncio.Event()
        self.questions: dict[Connection, Questions] = {}
        self.lost: str | None = None
        self._lists: dict[str, Kept] = {}
        self._tools: _Tools | None = None
        self._publish = publish
        self._mourn = mourn
        self._auth: httpx2.Auth | None = None
        self._legacy = plan.options.legacy
        self._stale: dict[Connection, None] = {}
        self._event = asyncio.Event()
        self._listing: Connection | None = None
        self._listed_again = asyncio.Event()
        self.reopening = True
        self._closed = False
        self._probes: set[asyncio.Task[None]] = set()
        # As every running server (`Pool`): in the context of nobody who calls.
        self._keeper = asyncio.create_task(self._keep(), context=contextvars.Context())

    def now(self) -> float:
        """The clock that all times here are of: that of the event loop, for other threads as well."""
        return time.monotonic()

    async def aclose(self) -> None:
        """Stop everything that was started. Idempotent."""
        self._closed = True
        for task in (self._keeper, *self._probes):
            task.cancel()
        try:
            await asyncio.wait({self._keeper, *self._probes})
        finally:
            await self.pool.aclose()

    async def listed(self, timeout_s: float) -> bool:
        """Wait until it is known what the server offers; False if that failed or takes longer.

        Who would wait as long as a start may take waits for its end, `OVERHANG_S` more at the most: that says why.
        """
        if self.catalogue is None:
            start_s = self.plan.options.start_s
            if timeout_s >= start_s:
                timeout_s = max(timeout_s, start_s + OVERHANG_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.told.wait(), timeout_s)
        return self.catalogue is not None

    async def renew(self) -> Connection:
        """Stop what runs, and start and list anew, at once. Raises StartFailed, and CallError of a credential."""
        self._tools = None
        self._lists.clear()
        await self.pool.release(lambda _: True)
        self.backoff.reset()
        return await self.pool.warm(self._warm_key)

    def suspect(self, connection: Connection) -> None:
        """A call got no answer: see, in the background, whether the server still gives any."""
        if not self._closed and connection.lost is None:
            probe = asyncio.create_task(self._probe(connection))
            self._probes.add(probe)
            probe.add_done_callback(self._probes.discard)

    # connecting

    @property
    def _warm_key(self) -> Key:
        return SHARED if self.plan.sharing.scope == "shared" else SPARE

    async def _connect(self, number: int) -> Connection:
        pause = self.backoff.wait_s(self.now())
        if pause > PATIENCE_S and self.failure is not None:
            raise StartFailed(f"{self.failure}; the next try is in {pause:.0f} s", needs_auth=self.failure.needs_auth)
        await asyncio.sleep(pause)
        try:
            connection = await self._opened()
        except (StartFailed, CallError) as error:
            self._failed(error if isinstance(error, StartFailed) else StartFailed(str(error)))
            raise
        except Exception as error:
            # A bug of ours or of the SDK, which a server may have found: it costs that server, and is no silence.
            _log.exception("connecting to %s failed", self.plan.server.place)
            failure = StartFailed(f"{self.plan.server.place} could not be connected: {type(error).__name__}")
            self._failed(failure)
            raise failure from error
        self.failure = None
        self.degraded = False
        self.restarts += number > 1
        return connection

    def _failed(self, failure: StartFailed) -> None:
        self.failure = failure
        self.backoff.failed(self.now())
        self.told.set()

    async def _opened(self) -> Connection:
        """A connection that has listed its tools, which a session needs to know before they are called."""
        server = self.plan.server
        if self._auth is None and isinstance(server, HttpServer) and server.oauth is not None:
            # One for all connections: only one of them may renew a token that is good for one renewal.
            self._auth = await authentication(server.url, server.oauth, person(server.oauth))
        questions = Questions(self.plan.options.sampling, self.plan.options.roots)
        born = self.now()
        callbacks = Callbacks(
            elicit=questions.elicit,
            sample=questions.sample,
            roots=questions.list_roots,
            changed=lambda report: self._changed(connection, report),
            ended=lambda: self._ended(connection, born),
        )
        terms = Terms(
            self.plan.options.start_s, "legacy" if self._legacy else None, self.plan.options.log_level, self._auth
        )
        connection = Connection(self.plan.server, callbacks, terms, Lists(self._lists, self.now))
        await connection.open()
        self.questions[connection] = questions
        # What was old yesterday need not be probed for today; a newer server still answers the old way.
        self._legacy = connection.lost is None and connection.era == "legacy"
        try:
            if not self._known_of(connection):
                await self.list_tools(connection)
        except (ConnectionBroke, ProtocolError, BadAnswer) as error:
            await connection.close()
            raise StartFailed(f"{self.plan.server.place} does not list its tools: {error}") from error
        except BaseException:
            await connection.close()
            raise
        return connection

    def _known_of(self, connection: Connection) -> bool:
        """Whether what this server offers was read already, by a connection that read it for everyone."""
        known = self._tools
        return (
            known is not None and known.anyones and self.now() < known.until and known.server == _identity(connection)
        )

    async def refresh(self, timeout_s: float = _SETTLE_S) -> None:
        """Read the tools anew where their time is over; what is known counts until that is done."""
        member = next((member for member in self.pool.members if member.connection is not None), None)
        if self._tools is not None and self.now() >= self._tools.until and member is not None and member.connection:
            self._changed(member.connection, "tools")
            await self.settle(member.connection, timeout_s)

    async def settle(self, connection: Connection, timeout_s: float = _SETTLE_S) -> None:
        """Let a list that the server said has changed be read, if it said so; at most a few seconds."""
        if connection in self._stale:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(timeout_s, _SETTLE_S)):
                    while connection in self._stale or connection is self._listing:
                        await self._listed_again.wait()

    async def list_tools(self, connection: Connection) -> None:
        """Read all that the server offers, and publish it. Raises what a request raises."""
        declared = connection.client.session.server_capabilities or types.ServerCapabilities()
        capabilities = {name for name in ("resources", "prompts") if getattr(declared, name) is not None}

        async def fetch(cursor: str | None) -> dict[str, object]:
            params = types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            return await connection.request(types.ListToolsRequest(params=params), timeout_s=self.plan.options.start_s)

        # A server of prompts alone says so, and refuses to list tools.
        listing = Listing(()) if declared.tools is None and capabilities else await all_pages(fetch, "tools")
        modern = connection.era == "modern"
        tasks = declared.tasks.requests if declared.tasks is not None else None
        if tasks is not None and tasks.tools is not None and tasks.tools.call is not None:
            capabilities.add("tasks")
        read = functools.partial(read_catalogue, listing, capabilities, modern=modern, trusted=self.plan.trusted)
        # Thousands of tools take a second.
        catalogue = read() if len(listing.entries) <= _MANY else await asyncio.to_thread(read)
        about = connection.client.session.instructions or ""
        changing = declared.tools is not None and declared.tools.list_changed is True
        catalogue = dataclasses.replace(catalogue, about=about[:_LONGEST_ABOUT], changing=changing)
        self.catalogue = catalogue
        self._tools = _Tools.of(listing, connection, self.now()) if modern else None
        self._publish(catalogue)
        self.told.set()

    # what happens by itself

    def _changed(self, connection: Connection, report: Report) -> None:
        if report == "tools":
            self._stale[connection] = None
            self._event.set()

    def _ended(self, connection: Connection, born: float) -> None:
        self._stale.pop(connection, None)
        self.questions.pop(connection, None)
        member = self.pool.find(connection)
        self.pool.ended()
        # One that never came to be is a failure to start, and was counted as that.
        if connection.closing or self._closed or member is None or not member.opened:
            return
        self.lost = connection.lost
        # What is started in its place may be another version of it, whatever it had said.
        self._tools = None
        self.backoff.ended(self.now() - born, self.now())
        if member.served and self.plan.sharing.scope != "shared":
            self._mourn(member.key, connection.lost or "")
        self.reopening = self.plan.sharing.scope == "shared"
        self._event.set()

    async def _keep(self) -> None:
        """Connect first of all, list what changed, and start a shared server anew when it went."""
        while True:
            self._event.clear()
            if self.reopening:
                await self._open_again()
            while self._stale:
                await self._list_again(next(iter(self._stale)))
            if not self.reopening:
                await self._event.wait()

    async def _list_again(self, connection: Connection) -> None:
        # Several changes often come at once.
        await asyncio.sleep(_QUIET_S)
        self._stale.pop(connection, None)
        self._listing = connection
        try:
            await self.list_tools(connection)
        except (ConnectionBroke, ProtocolError, BadAnswer):
            # What was listed last still counts; a connection that broke is listed when it is back.
            if self._tools is not None:
                self._tools = dataclasses.replace(self._tools, until=max(self._tools.until, self.now() + _AGAIN_S))
            return
        finally:
            self._listing = None
            listed, self._listed_again = self._listed_again, asyncio.Event()
            listed.set()

    async def _open_again(self) -> None:
        try:
            await asyncio.sleep(self.backoff.wait_s(self.now()))
            await self.pool.warm(self._warm_key)
        except (StartFailed, CallError):
            return
        self.reopening = False

    async def _probe(self, connection: Connection) -> None:
        """A server that does not even say that it is there is started anew, unless others or a state depend on it."""
        try:  # it may be gone by now, even before it is asked
            request = types.DiscoverRequest() if connection.era == "modern" else types.PingRequest()
            await connection.request(request, timeout_s=PROBE_S)
        except ProtocolError:
            self.degraded = False
        except (ConnectionBroke, BadAnswer):
            self.degraded = True
            member = self.pool.find(connection)
            if member is not None and member.uses == 0 and self.plan.sharing.scope == "shared":
                connection.drop("it no longer answered")
        else:
            self.degraded = False
