"""Running servers, shared out by key: opened when they are wanted, waited for in order, stopped when they are idle."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith_bindings.mcp.failures import StartFailed
from isolith_bindings.mcp.scopes import SPARE, Key, Sharing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    from isolith_bindings.mcp.connection import Connection


@dataclass(eq=False)
class Member:
    """One server of the pool. `uses`: calls that hold it now; `served`: all that ever did."""

    key: Key
    number: int
    opening: asyncio.Task[Connection]
    uses: int = 0
    served: int = 0
    idle: asyncio.TimerHandle | None = None

    @property
    def opened(self) -> Connection | None:
        """The connection, once it is open, and after it was lost."""
        if not self.opening.done() or self.opening.cancelled() or self.opening.exception() is not None:
            return None
        return self.opening.result()

    @property
    def connection(self) -> Connection | None:
        """The connection, once it is open and as long as it is."""
        return self.opened if self.opened is not None and self.opened.lost is None else None

    @property
    def over(self) -> bool:
        """Whether it can serve no more calls."""
        return self.opening.done() and self.connection is None


@dataclass(eq=False)
class _Ticket:
    key: Key
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class Pool:
    """The running servers of one connector, in one event loop. `connect` opens one; it is given its number."""

    def __init__(self, sharing: Sharing, connect: Callable[[int], Coroutine[object, object, Connection]]) -> None:
        self._sharing = sharing
        self._connect = connect
        self._members: list[Member] = []
        self._queue: list[_Ticket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._opened = 0
        self._closed = False

    @property
    def members(self) -> tuple[Member, ...]:
        """All that are open or opening."""
        return tuple(member for member in self._members if not member.over)

    def find(self, connection: Connection) -> Member | None:
        """The member whose connection it is."""
        return next((member for member in self._members if member.opened is connection), None)

    @contextlib.asynccontextmanager
    async def lease(self, key: Key) -> AsyncGenerator[Connection]:
        """A server of the key for a call, on its turn. Raises StartFailed, and CallError of a credential."""
        connection: Connection | None = None
        while connection is None:
            member = await self._take(key)
            try:
                connection = await _opened(member)
                if connection is not None:
                    yield connection
            finally:
                self._give_back(member)

    async def warm(self, key: Key = SPARE) -> Connection:
        """Have a server running before anyone calls; the first that needs one gets it. Raises StartFailed."""
        while not self._closed:
            member = next((m for m in self._members if not m.over), None) or self._open(key)
            try:
                if (connection := await _opened(member)) is not None:
                    return connection
            finally:
                if member.uses == 0:
                    self._rest(member)
        raise StartFailed(_CLOSED)

    async def release(self, fits: Callable[[Key], bool]) -> None:
        """Stop the servers of all keys that fit, and wait until they have ended."""
        for member in [m for m in self._members if fits(m.key)]:
            self._drop(member)
        await self._settle()

    async def aclose(self) -> None:
        """Stop all servers. Those that wait for one are told. Idempotent."""
        self._closed = True
        self._wake()
        await self.release(lambda _: True)

    # on whose turn

    async def _take(self, key: Key) -> Member:
        ticket = _Ticket(key)
        self._queue.append(ticket)
        try:
            while True:
                if self._closed:
                    raise StartFailed(_CLOSED)
                ticket.turn.clear()
                member = self._try(ticket)
                if member is not None:
                    break
                await ticket.turn.wait()
        finally:
            self._queue.remove(ticket)
            self._wake()
        member.uses += 1
        member.served += 1
        if member.idle is not None:
            member.idle.cancel()
            member.idle = None
        return member

    def _try(self, ticket: _Ticket) -> Member | None:
        """The member for a ticket if it is its turn."""
        self._members = [member for member in self._members if not member.over]
        own = [member for member in self._members if member.key == ticket.key]
        ahead = self._queue[: self._queue.index(ticket)]
        if not self._sharing.exclusive and own:
            return own[0]
        if any(other.key == ticket.key for other in ahead):
            return None
        free = next((member for member in own if member.uses == 0), None)
        if free is not None or len(own) >= self._sharing.most_of_a_key:
            return free
        return None if any(self._needs_room(other) for other in ahead) else self._another(ticket.key)

    def _needs_room(self, ticket: _Ticket) -> bool:
        own = sum(member.key == ticket.key for member in self._members)
        return own < self._sharing.most_of_a_key

    def _another(self, key: Key) -> Member | None:
        """One more server for a key: the spare one, a new one, or a new one in the place of one that is idle."""
        spare = next((member for member in self._members if member.key == SPARE), None)
        if spare is not None:
            spare.key = key
            return spare
        if len(self._members) < self._sharing.most:
            return self._open(key)
        resting = [m for m in self._members if m.uses == 0 and m.key != key and m.opening.done()]
        # What a session holds is not taken from it by another one: only what is nobody's in particular.
        replaceable = next((m for m in resting if m.key[0] in {"shared", "spare", "call"}), None)
        if replaceable is None:
            return None
        self._drop(replaceable)
        return self._open(key)

    def _wake(self) -> None:
        for ticket in self._queue:
            ticket.turn.set()

    # from open to closed

    def _open(self, key: Key) -> Member:
        self._opened += 1
        # In a context of its own: it serves many, and is told nothing of who happened to come first.
        opening = asyncio.create_task(self._connect(self._opened), context=contextvars.Context())
        member = Member(key, self._opened, opening)
        opening.add_done_callback(self._opened_or_not)
        self._members.append(member)
        return member

    def _opened_or_not(self, task: asyncio.Task[Connection]) -> None:
        if not task.cancelled():
            # Seen by whoever waits for it; where nobody does, there is nobody to tell.
            task.exception()
        self._wake()

    def _give_back(self, member: Member) -> None:
        member.uses -= 1
        if member.uses == 0:
            if member.key[0] == "call" or self._closed:
                self._drop(member)
            else:
                self._rest(member)
        self._wake()

    def _rest(self, member: Member) -> None:
        if member.idle is not None:
            member.idle.cancel()
        loop = asyncio.get_running_loop()
        member.idle = loop.call_later(self._sharing.idle_s, self._stop_if_idle, member)

    def _stop_if_idle(self, member: Member) -> None:
        if member.uses == 0 and len(self.members) > self._sharing.least:
            self._drop(member)

    def ended(self) -> None:
        """A connection was lost: whoever waits may now open another."""
        self._members = [member for member in self._members if not member.over]
        self._wake()

    def _drop(self, member: Member) -> None:
        if member.idle is not None:
            member.idle.cancel()
            member.idle = None
        if member in self._members:
            self._members.remove(member)
        task = asyncio.create_task(_close(member))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._wake()

    async def _settle(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))


_CLOSED = "the connector was closed"


async def _opened(member: Member) -> Connection | None:
    """Its connection; None where it was stopped before it was open, and another is to be had. Raises as opening does.

    It is waited for and not awaited: one call that is cancelled stops no server that others wait for, and a server that
    is stopped cancels nobody who waits.
    """
    await asyncio.wait({member.opening})
    return None if member.opening.cancelled() else member.opening.result()


async def _close(member: Member) -> None:
    if not member.opening.done():
        member.opening.cancel()
        await asyncio.wait({member.opening})
    if not member.opening.cancelled() and member.opening.exception() is None:
        await member.opening.result().close()
