"""How much one principal may ask for at a time: requests in a second, requests under way, runs under way."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from isolith.http.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_REMEMBERED: Final = 10_000
"""Principals; whoever has not asked for the longest time is forgotten, and by then has all of its burst again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of each principal. `burst`: requests that may come at once, after a pause."""

    per_second: float = 100.0
    burst: int = 400
    requests: int = 256
    """Under way; who follows events has one."""
    runs: int = 64
    """Under way on this host."""
    host_runs: int = 128
    """Under way on this host for all principals together, about 10 MB each; whoever comes then waits for a turn."""


@dataclass(slots=True)
class _Use:
    tokens: float
    at: float
    requests: int = 0
    runs: int = 0


class Rates:
    """What principals use at this host. In one event loop."""

    def __init__(self, limits: Limits | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits or Limits()
        self._clock = clock
        self._uses: OrderedDict[str | None, _Use] = OrderedDict()

    @contextmanager
    def request(self, principal: str | None) -> Generator[None]:
        """Around a request. Raises Problem 429 for one too many, with the time to wait."""
        use = self._use(principal)
        limits, now = self.limits, self._clock()
        use.tokens = min(limits.burst, use.tokens + (now - use.at) * limits.per_second)
        use.at = now
        if use.tokens < 1:
            raise _too_many(f"more than {limits.per_second:g} requests a second", (1 - use.tokens) / limits.per_second)
        if use.requests >= limits.requests:
            raise _too_many(f"{use.requests} requests are under way", 1)
        use.tokens -= 1
        use.requests += 1
        try:
            yield
        finally:
            use.requests -= 1

    def begin_run(self, principal: str | None) -> Callable[[], None]:
        """A run begins; call what is given at its end. Raises Problem 429 for one too many."""
        use = self._use(principal)
        if use.runs >= self.limits.runs:
            raise _too_many(f"{use.runs} runs are under way", 1)
        use.runs += 1

        def ended() -> None:
            use.runs -= 1

        return ended

    def under_way(self, principal: str | None) -> tuple[int, int]:
        """The requests and the runs that are counted for a principal now."""
        use = self._uses.get(principal)
        return (0, 0) if use is None else (use.requests, use.runs)

    def _use(self, principal: str | None) -> _Use:
        use = self._uses.get(principal)
        if use is None:
            use = self._uses[principal] = _Use(self.limits.burst, self._clock())
            self._forget()
        self._uses.move_to_end(principal)
        return use

    def _forget(self) -> None:
        """The oldest of those that have nothing under way."""
        if len(self._uses) > _REMEMBERED:
            idle = next((name for name, use in self._uses.items() if not use.requests and not use.runs), None)
            if idle is not None:
                del self._uses[idle]


def _too_many(detail: str, wait_s: float) -> Problem:
    seconds = str(max(1, math.ceil(wait_s)))
    return Problem(
        429, "too-many", f"{detail} for this principal: ask again in {seconds} s", "denied", {"Retry-After": seconds}
    )
