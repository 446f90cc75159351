"""What happens in an execution, in order: kept, so that whoever comes late can follow from any sequence number."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from isolith.durable.telling import Teller

MAX_EVENTS = 20_000
"""How many events of one execution are kept; past it one `truncated` event, then only the outcome."""

Event = dict[str, object]


class EventLog:
    """The events of one execution. Appended to and followed in one event loop."""

    def __init__(self, execution_id: str, teller: Teller | None = None) -> None:
        self._execution_id = execution_id
        self._teller = teller
        self._events: list[tuple[str, float, dict[str, object]]] = []
        self._closed = False
        self._waited_for = False
        self._changed = asyncio.Event()

    def append(self, name: str, /, **parts: object) -> None:
        """Add one event with the present time."""
        if len(self._events) >= MAX_EVENTS and name != "outcome":
            if len(self._events) > MAX_EVENTS:
                return
            name, parts = "truncated", {"message": f"more than {MAX_EVENTS:,} events; the rest is left out"}
        at = time.time()
        self._events.append((name, at, parts))
        if self._teller is not None:
            self._teller.tell(name, at, parts)
        if self._waited_for:
            self._changed.set()

    def close(self) -> None:
        """There will be no more."""
        self._closed = True
        self._changed.set()

    async def follow(self, after: int = 0) -> AsyncIterator[Event]:
        """The events behind sequence number `after`, as they come, to the last one."""
        position = after
        while True:
            while position < len(self._events):
                name, at, parts = self._events[position]
                position += 1
                head: Event = {"event": name, "execution_id": self._execution_id, "seq": position}
                yield {**head, "at": datetime.fromtimestamp(at, UTC), **parts}
            if self._closed:
                return
            self._waited_for = True
            changed = self._changed = asyncio.Event() if self._changed.is_set() else self._changed
            await changed.wait()
