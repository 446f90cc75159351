"""What clients of the MCP server were told of the tools, and telling them when that has changed.

A client is told in three ways, for clients differ in what they heed: by `notifications/tools/list_changed`, on a
`subscriptions/listen` stream where its era has those; by a `tools/list` that is always fresh; and, where a connection
goes on, by what differs, beside the next answer of `execute` or `search`. What is remembered of a connection is only
what it was told last. Where that is forgotten, nothing but this third way is missing.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import anyio
import anyio.to_thread
from mcp.server import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ToolsListChanged
from mcp.shared.exceptions import MCPError

from isolith.instructions import INSTRUCTIONS, Described, Shown, described
from isolith_bindings.health import health
from isolith_bindings.listing_changes import changes
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession

    from isolith_bindings.catalog import Catalog
    from isolith_bindings.listing import Listing

MAX_REMEMBERED = 200
"""Connections of which is known what they were told; the longest silent is forgotten first."""
_PATIENCE_S = 5.0
"""Seconds that a client may take to accept a notification."""
_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError, TimeoutError)


class FollowedServer(Server):
    """One that says that its list of tools may change, in the era that is told so at the beginning, too."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """What is said of this server in the handshake."""
        changes = self.get_request_handler("subscriptions/listen") is not None
        options = notification_options or NotificationOptions(tools_changed=changes)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class _Told(NamedTuple):
    listing: Listing | None
    """What was shown of the connectors; None where nothing of them is."""
    session: ServerSession


class _Now(NamedTuple):
    text: str
    listing: Listing | None


_List: TypeAlias = tuple[str, dict[str, object]]
"""What a list of tools is told by from another: the description of `execute`, and the tools beside the four."""


class Following:
    """The description of `execute` as it is now, for clients of one server. In one event loop.

    `beside`: the tools that are listed beside the four, where there may be some.
    """

    def __init__(
        self, catalog: Catalog, shown: Shown, beside: Callable[[], Mapping[str, object]] | None = None
    ) -> None:
        self.bus = InMemorySubscriptionBus()
        self._catalog = catalog
        self._shown = shown
        self._made: tuple[object, Described] | None = None
        self._told: OrderedDict[str, _Told] = OrderedDict()
        self._beside = beside
        self._announced: _List | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._telling: asyncio.Task[None] | None = None
        self._again = False
        if self.follows:
            catalog.on_change(self._changed)

    @property
    def follows(self) -> bool:
        """Whether the list of tools may change."""
        return self._shown.tokens > 0 or self._beside is not None

    async def description(self, context: ServerRequestContext) -> str:
        """What `execute` says of itself now, for this client."""
        if not self.follows:
            return INSTRUCTIONS
        self._loop = asyncio.get_running_loop()
        now = await self._now()
        if self._announced is None:
            self._announced = self._listed(now)
        elif self._announced != self._listed(now):
            self._begin()  # this one asked before the others were told
        self._remember(context, now.listing)
        return now.text

    def _listed(self, now: _Now) -> _List:
        return now.text, {} if self._beside is None else dict(self._beside())

    async def news(self, context: ServerRequestContext) -> str:
        """What has changed since this client was told of the tools; empty for nothing, and for who is not known."""
        key = _connection(context)
        told = self._told.get(key) if key is not None else None
        if told is None or told.listing is None:
            return ""
        now = (await self._now()).listing
        if now is None or now is told.listing:
            return ""
        said = await anyio.to_thread.run_sync(changes, told.listing, now)
        self._remember(context, now)
        return said.text

    def _remember(self, context: ServerRequestContext, listing: Listing | None) -> None:
        key = _connection(context)
        if key is not None:
            self._told[key] = _Told(listing, context.session)
            self._told.move_to_end(key)
            while len(self._told) > MAX_REMEMBERED:
                self._told.popitem(last=False)

    async def _now(self) -> _Now:
        """The description, made anew where a connector has changed."""
        if not self._shown.tokens:
            return _Now(INSTRUCTIONS, None)
        of = tuple(
            (each.name, each.description, tuple(ungoverned(each).methods.values()), health(each))
            for each in self._catalog.connectors.values()
        )
        made = self._made
        if made is None or made[0] != of:
            made = self._made = of, await anyio.to_thread.run_sync(self._make)
        return _Now(made[1].text, made[1].listing)

    def _make(self) -> Described:
        return described(lambda room: self._catalog.listing(room, self._shown.pinned), self._shown.tokens)

    # telling

    def _changed(self) -> None:
        """From any thread. Before anybody has asked there is nobody to be told."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._again = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        """Tell everybody, where the list is another; what changes meanwhile is told with it, or once more."""
        while self._again:
            self._again = False
            now = self._listed(await self._now())
            if now == self._announced:
                continue
            self._announced = now
            await self.bus.publish(ToolsListChanged())
            for key, told in list(self._told.items()):
                await self._notify(key, told.session)

    async def _notify(self, key: str, session: ServerSession) -> None:
        try:
            with anyio.fail_after(_PATIENCE_S):
                await session.send_tool_list_changed()
        except _GONE:
            self._told.pop(key, None)


def _connection(context: ServerRequestContext) -> str | None:
    """What stands for a connection that goes on: the session of HTTP, or the one client of a pipe; None for no such."""
    request = cast("object", context.request)
    if request is None:
        return ""
    headers = cast("Mapping[str, str]", getattr(request, "headers", {}))
    return headers.get("mcp-session-id")
