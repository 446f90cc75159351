"""How many calls a run may still make, and how much they may hold.

A script within a script spends its own and those of the one around it.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from isolith.budgets import MIB
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from isolith.budgets import Budgets
    from isolith_runtime.protocol import Call

MAX_HELD = 128 * MIB
"""Bytes of the host's memory that the arguments of a run's calls may take together, until these have ended."""

MAX_UNTAKEN = 32 * MIB
"""Bytes of the host's memory that answers may take before the guest has taken them; past it no further call is made."""


class Allowance:
    """Counts the calls of one run, and of every run within it."""

    def __init__(self, budgets: Budgets, around: Allowance | None = None) -> None:
        self.budgets = budgets
        self.around = around
        self.nested_cpu_ms = 0.0
        """CPU time that runs within this one have spent, and those within them."""
        self.nested_runs = 0
        """How many are under way."""
        # Kept beside the counter, because a call must not cost a walk over all of them.
        self.total = 0
        self._of: collections.Counter[str] = collections.Counter()
        self._held: dict[int, int] = {}
        self.argument_bytes = 0
        """Of the call with the largest arguments."""
        self.untaken = 0
        """Bytes of the answers that the guest has not taken yet."""

    @property
    def full(self) -> bool:
        """Whether a guest that is busy has to take answers before another call is made."""
        return self.untaken > MAX_UNTAKEN

    @property
    def most_of_one(self) -> int:
        """How many calls there were of the connector that was called most."""
        return max(self._of.values(), default=0)

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

    def spend_cpu(self, milliseconds: float) -> None:
        """What a run within this one has used, whatever became of it."""
        self.nested_cpu_ms += milliseconds
        if self.around is not None:
            self.around.spend_cpu(milliseconds)

    def share_of_cpu(self) -> int:
        """Milliseconds for a further run within this one; those under way may need their part of what is left."""
        return int((self.budgets.cpu_ms - self.nested_cpu_ms) / (1 + self.nested_runs))

    def hold(self, frame: Call) -> None:
        """The arguments of a call, until `release`. Raises CallError `invalid_arguments` where all are too much."""
        if not frame.weight:
            return
        if sum(self._held.values()) + frame.weight > MAX_HELD:
            message = f"the arguments of all calls under way take more than {MAX_HELD // MIB} MiB"
            raise CallError("invalid_arguments", message, hint="await some calls before you make more")
        self._held[frame.number] = frame.weight

    def release(self, number: int) -> None:
        """A call has ended."""
        self._held.pop(number, None)


_FEWER = "ask for more in one call, or have the host raise the budget `calls`"
