"""The guest's event loop: asyncio's own, with nothing to select on but the host.

`turn` runs until nothing is ready and says when the next timer is due. Between two turns nothing is on the wasm
stack. Only a synchronous wait (`wait_for`) stays inside: it flushes what the script wants and reads in the host.
"""

from __future__ import annotations

import asyncio
import gc
import heapq
import time
from asyncio import events, tasks
from collections.abc import Awaitable, Callable
from typing import Any

STEP_S = 1e-3
"""Seconds by which the clock moves: `RESOLUTION_NS` of inputs.py."""

_PAST_S = 1e-6
"""Seconds, far under a step and far above what floats lose, by which the clock is past a time."""

_APART_S = 1e-11
"""Seconds, above what floats lose, between timers that were set for one time."""


def failed_unseen() -> list[asyncio.Task[object]]:
    """The tasks that failed and whose exception nobody has looked at: found once, at the end, so that tasks stay cheap.

    What was there before the script is frozen and not looked through.
    """
    try:
        return [task for task in gc.get_objects() if type(task) is asyncio.Task and task._log_traceback]
    except MemoryError:
        return []


class _NoSelector:
    """Never reports an event and never waits; remembers nothing."""

    def select(self, _timeout: float | None) -> list[object]:
        return []

    def close(self) -> None:
        return None


class GuestLoop(asyncio.BaseEventLoop):
    """An event loop that is turned from outside. `park` crosses to the host and waits there."""

    def __init__(self, park: Callable[[float | None], None]) -> None:
        super().__init__()
        self._selector = _NoSelector()
        # Negative: a timer is due when the clock has gone past it. The clock moves in steps (inputs.py), may have been
        # a step behind when the timer was set, and a difference of floats may be less than what was added.
        self._clock_resolution = -_PAST_S
        self._park = park
        self._timers = 0

    def close(self) -> None:
        """Nothing: the loop is the run's, whatever a script does with it."""

    def time(self) -> float:
        """Seconds on the execution's own monotonic clock."""
        return time.monotonic()

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """As asyncio's own. In a step of the clock many timers are set for one time: they are due in their order."""
        self._timers += 1
        return super().call_at(when + self._timers * _APART_S, callback, *args, context=context)

    def _process_events(self, event_list: list[object]) -> None:
        return None

    def _write_to_self(self) -> None:
        return None

    def turn(self) -> float | None:
        """Run until nothing is ready. Returns the seconds until the next timer, or None without one."""
        events._set_running_loop(self)
        try:
            self._run_ready()
        finally:
            events._set_running_loop(None)
        return self.next_timer()

    def _run_ready(self) -> None:
        """What asyncio's own `_run_once` does, without asking for the time where no timer is set."""
        ready = self._ready  # type: ignore[attr-defined]
        while True:
            if self._scheduled:  # type: ignore[attr-defined]
                self._run_once()  # type: ignore[attr-defined]
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:
                    handle._run()
            if not ready:
                return

    def next_timer(self) -> float | None:
        """Seconds until the next timer is due, 0 or more, or None when there is none."""
        scheduled = self._scheduled  # type: ignore[attr-defined]
        while scheduled and scheduled[0].cancelled():
            self._timer_cancelled_count -= 1  # type: ignore[attr-defined]
            heapq.heappop(scheduled)._scheduled = False
        return max(0.0, scheduled[0].when() + STEP_S - self.time()) if scheduled else None

    def wait_for(self, future: asyncio.Future[object]) -> object:
        """Wait synchronously for a future, other tasks running meanwhile, and return its result."""
        outer = tasks.current_task(self)
        if outer is not None:
            tasks._leave_task(self, outer)
        try:
            while not future.done():
                self._run_ready()
                if not future.done():
                    self._park(self.next_timer())
        finally:
            if outer is not None:
                tasks._enter_task(self, outer)
        return future.result()

    def run_until_complete(self, future: Awaitable[Any]) -> Any:  # type: ignore[override]
        """What `asyncio.run` inside a script does, too: run it on this loop and wait for it."""
        return self.wait_for(asyncio.ensure_future(future, loop=self))

    def sleep_blocking(self, seconds: float) -> None:
        """What `time.sleep` does: wait in the host, burning no CPU."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        now = self.time()
        until = now + seconds
        while seconds > 0 and now < until + _PAST_S:
            self._park(until + STEP_S - now)
            now = self.time()
