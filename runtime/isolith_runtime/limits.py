"""CPU time and the ways a guest is stopped.

CPU time is the guest thread's own clock around steps: waiting is free, and so is what the host collects there. Past
the soft limit the guest is interrupted at its next signal check, so that its traceback names the line; `GRACE_MS`
later it is stopped wherever it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from isolith_runtime.guest_clock import guest_clock_ns

GRACE_MS = 100
"""Milliseconds of CPU a script has to end itself after the interrupt, its `finally` blocks included."""


@dataclass(frozen=True)
class Limits:
    """What one isolate may use. Times in milliseconds of CPU, sizes in bytes; `fuel` in wasm instructions."""

    cpu_ms: int = 5_000
    memory_bytes: int = 256 * 1024 * 1024
    batch_bytes: int = 20 * 1024 * 1024
    fuel: int | None = None


class Stop(Enum):
    """Why an isolate was stopped from outside."""

    CPU = "cpu"
    CANCELLED = "cancelled"
    BROKEN = "broken"


class Meter:
    """The CPU time of one guest. Entered and left on the thread that runs a step."""

    def __init__(self, limits: Limits) -> None:
        self.limit_ns = limits.cpu_ms * 1_000_000
        self.used_ns = 0
        self.stop: Stop | None = None
        self.interrupted = False
        self._entered_ns = 0

    def enter(self) -> None:
        """A step begins on this thread."""
        self._entered_ns = guest_clock_ns()

    def leave(self) -> None:
        """The step is over."""
        self.used_ns += guest_clock_ns() - self._entered_ns

    def spent_ns(self) -> int:
        """CPU time so far; only on the guest's thread, inside a step."""
        return self.used_ns + guest_clock_ns() - self._entered_ns

    def left_ns(self) -> int:
        """CPU time to the soft limit; below 0 past it."""
        return self.limit_ns - self.spent_ns()

    def affords(self, nanoseconds: int) -> bool:
        """Whether there is as much left before the hard limit."""
        return nanoseconds <= self.left_ns() + GRACE_MS * 1_000_000

    def past_soft_limit(self) -> bool:
        """Whether the guest should be interrupted."""
        return self.left_ns() < 0

    def past_hard_limit(self) -> bool:
        """Whether the grace is over too."""
        return not self.affords(0)
