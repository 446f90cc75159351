"""Whose turn it is: so many calls of a run at a time, and so many of them on one connector."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith.budgets import Budgets
    from isolith.calling.use import Use


class Turns:
    """The calls that wait, and how many are being made. In the order of the calls, past those of a busy connector."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets
        self._queue: collections.deque[Use] = collections.deque()
        self._running: collections.Counter[str] = collections.Counter()
        self._making = 0
        self.most = self.most_of_one = 0
        """How many were made at one time, and how many of them on one connector."""

    def wait(self, use: Use) -> None:
        """A call takes its place."""
        self._queue.append(use)

    def leave(self, use: Use) -> None:
        """A call that was given up waits no more."""
        if use in self._queue:
            self._queue.remove(use)

    def ready(self) -> list[Use]:
        """The calls whose turn it is now; each is given back with `done`."""
        found: list[Use] = []
        waiting: collections.deque[Use] = collections.deque()
        while self._queue and self._making < self._budgets.concurrent_calls:
            use = self._queue.popleft()
            if self._running[use.frame.connector] >= self._budgets.concurrent_calls_per_connector:
                waiting.append(use)
                continue
            self._running[use.frame.connector] += 1
            self._making += 1
            self.most = max(self.most, self._making)
            self.most_of_one = max(self.most_of_one, self._running[use.frame.connector])
            found.append(use)
        if waiting:
            self._queue = waiting + self._queue
        return found

    def done(self, use: Use) -> None:
        """A call is not being made any more."""
        self._running[use.frame.connector] -= 1
        self._making -= 1
