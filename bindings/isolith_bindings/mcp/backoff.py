"""When a server that failed is tried again: soon at first, then less and less often. Pure but for the dice."""

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST_S = 0.2
LONGEST_S = 60.0
STEADY_S = 30.0
"""A server that ran for this long is as good as one that never failed."""


@dataclass
class Backoff:
    """Times are seconds of the event loop's clock. `dice` gives numbers in [0, 1)."""

    failures: int = 0
    next_at: float = 0.0
    dice: random.Random | None = None

    def failed(self, now: float) -> None:
        """It could not be started, or ended by itself soon after it was."""
        pause: float = min(FIRST_S * 2**self.failures, LONGEST_S)
        # Many that failed together are not to come back together.
        jitter = 0.8 + 0.4 * (self.dice or random.SystemRandom()).random()
        self.failures = min(self.failures + 1, 32)
        self.next_at = now + pause * jitter

    def ended(self, lived_s: float, now: float) -> None:
        """It ended by itself after it had run for a while."""
        if lived_s >= STEADY_S:
            self.failures = 0
        self.failed(now)

    def reset(self) -> None:
        """A person wants it tried now, or it proved to work."""
        self.failures, self.next_at = 0, 0.0

    def wait_s(self, now: float) -> float:
        """Seconds until it may be tried."""
        return max(self.next_at - now, 0.0)
