"""What waits to be delivered to a guest: the answers of its calls, and its next timer."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.run.allowance import Allowance

    Deliver = Callable[[list[str], tuple[int, ...]], None]


class Post:
    """Answers that are ready together cross together. `ready`: whether the guest takes something now.

    What waits here is counted in the run's allowance, so that no more calls are made for a guest that takes nothing.
    """

    def __init__(self, ready: Callable[[], bool], deliver: Deliver, allowance: Allowance) -> None:
        self._allowance = allowance
        self._loop = asyncio.get_running_loop()
        self._ready = ready
        self._deliver = deliver
        self._out: list[tuple[int, str]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._flushing = False
        self.held = False
        """While a batch is taken: what is refused at once crosses when the batch is done."""

    @property
    def empty(self) -> bool:
        """Whether nothing waits, no timer either."""
        return not self._out and self._timer is None

    def put(self, number: int, frame: str, *, more: bool) -> None:
        """The answer of a call. `more`: others may become ready in this turn of the loop, so wait for the next."""
        self._out.append((number, frame))
        self._allowance.untaken += sys.getsizeof(frame)
        if self.held:
            return
        if not more:
            self.flush()
        elif not self._flushing:
            self._flushing = True
            self._loop.call_soon(self.flush)

    def rest(self, delay: float | None) -> bool:
        """The guest waits, for `delay` seconds at most. Whether something will wake it."""
        self.stop()
        if self._out:
            self.flush()
            return True
        if delay is not None:
            self._timer = self._loop.call_later(delay, self._due)
            return True
        return False

    def flush(self) -> None:
        """Deliver what there is."""
        self._flushing = False
        if self._out and self._ready():
            self.stop()
            self._send()

    def stop(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        """A timer of the script is due."""
        self._timer = None
        if self._ready():
            self._send()

    def _send(self) -> None:
        out, self._out = self._out, []
        self._allowance.untaken = 0
        self._deliver([frame for _, frame in out], tuple(number for number, _ in out))
