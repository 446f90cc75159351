"""Isolates made and touched ahead of time, so that their page faults are off the caller's path. Each is used once."""

from __future__ import annotations

import collections
import threading
from typing import TYPE_CHECKING

from isolith_runtime import paging, protocol
from isolith_runtime.inputs import Inputs
from isolith_runtime.isolate import Isolate
from isolith_runtime.limits import Limits

if TYPE_CHECKING:
    from isolith_runtime.engine import Engine

NOTHING: dict[str, object] = {
    "source": "1 + 1",
    "input": None,
    "connectors": {},
    "snippets": [],
    "limits": {},
    "seed": "0",
    "log_bytes": 0,
    "emit_events": 0,
    "value_bytes": 1000,
}
"""What a guest is told where it is nobody's: a script that does nothing, and nothing for it to reach."""


class IsolatePool:
    """Up to `size` fresh isolates in waiting. `take` makes one where none waits."""

    def __init__(self, engine: Engine, size: int = 2) -> None:
        self._engine = engine
        self._size = size
        self._waiting: collections.deque[Isolate] = collections.deque()
        self._lock = threading.Lock()
        self._making = 0
        self._closed = False
        self._untouched: Isolate | None = None

    def calibrate(self) -> None:
        """Learn which pages a script dirties whatever it does, from one that does nothing. Once, on a guest thread.

        The image's record knows the pages whose content changed; a page that was written with what it held (a
        reference counted up and down) costs the same fault.
        """
        isolate = Isolate(self._engine)
        try:
            isolate.begin(Limits(), Inputs(), lambda _data: None, lambda: None)
            isolate.step(protocol.batch([protocol.start(NOTHING)]))
            pages = isolate.memory.private_pages()
            if pages is not None:
                self._engine.warm_pages = paging.runs(pages)
        finally:
            isolate.close()

    @property
    def waiting(self) -> int:
        """How many isolates wait."""
        return len(self._waiting)

    def take(self) -> Isolate:
        """A fresh isolate: the one that was made last, of which a processor may still know most."""
        try:
            return self._waiting.pop()
        except IndexError:
            return Isolate(self._engine)

    def untouched(self) -> Isolate:
        """An isolate in which nothing runs: what the image looks like. Kept, because it costs no memory of its own."""
        with self._lock:
            if self._untouched is None:
                self._untouched = Isolate(self._engine)
            return self._untouched

    def replenish(self) -> None:
        """Make one isolate where one is missing; on a thread with time for it."""
        with self._lock:
            if self._closed or len(self._waiting) + self._making >= self._size:
                return
            self._making += 1
        isolate = None
        try:
            isolate = Isolate(self._engine)
        finally:
            with self._lock:
                self._making -= 1
                if isolate is not None and not self._closed:
                    self._waiting.append(isolate)
                    isolate = None
        if isolate is not None:
            isolate.close()

    def warm_up(self) -> None:
        """Calibrate, then fill the pool; on a guest thread."""
        self.calibrate()
        for _ in range(self._size):
            self.replenish()

    def close(self) -> None:
        """Drop what waits."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = list(self._waiting), collections.deque()
            if self._untouched is not None:
                waiting.append(self._untouched)
                self._untouched = None
        for isolate in waiting:
            isolate.close()
