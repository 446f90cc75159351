"""How many calls a run may still make. A script within a script spends its own and those of the one around it."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from isolith.budgets import Budgets


class Allowance:
    """Counts the calls of one run, and of every run within it."""

    def __init__(self, budgets: Budgets, around: Allowance | None = None) -> None:
        self.budgets = budgets
        self.around = around
        self.nested_cpu_ms = 0.0
        """CPU time that runs within this one have spent."""
        # Kept beside the counter, because a call must not cost a walk over all of them.
        self.total = 0
        self._of: collections.Counter[str] = collections.Counter()

    def admit(self, connector: str) -> None:
        """Raises CallError `calls_exceeded` where there is no further call to it. Counts nothing."""
        if self.around is not None:
            self.around.admit(connector)
        if self.total >= self.budgets.calls:
            raise CallError("calls_exceeded", f"this run may make {self.budgets.calls} calls, and has", hint=_FEWER)
        limit = self.budgets.calls_per_connector
        if self._of[connector] >= limit:
            message = f"this run may call {connector} {limit} times, and has"
            raise CallError("calls_exceeded", message, hint=_FEWER)

    def count(self, connector: str) -> None:
        """One call."""
        self.total += 1
        self._of[connector] += 1
        if self.around is not None:
            self.around.count(connector)


_FEWER = "ask for more in one call, or have the host raise the budget `calls`"
