"""What an execution learns from outside beside its calls: a clock and entropy, both recorded.

The clock moves in steps of `RESOLUTION_NS` and is noted each time it moves, by the number of readings before; so a
replay sees the same time at the same reading, and a script cannot time the machine more finely. Entropy is one seed,
stretched by SHAKE-256.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESOLUTION_NS = 1_000_000
_MONOTONIC_START_NS = 10**12 + RESOLUTION_NS // 2
"""Never a whole second at a reading: CPython takes another way for those, of another number of instructions."""

_HIGHEST_BIT = 1 << 127


@dataclass(frozen=True)
class Recording:
    """The inputs of a run, enough to give them again. `clock`: (readings before it moved, nanoseconds since start)."""

    seed: bytes
    started_ns: int
    clock: tuple[tuple[int, int], ...] = ()
    readings: int = 0
    """How often the clock was read in all: so long a replay stands where the recording stood."""


@dataclass
class Inputs:
    """Clock and entropy of one execution; gives a recording's values first, then its own."""

    seed: bytes = field(default_factory=lambda: os.urandom(32))
    started_ns: int = field(default_factory=time.time_ns)
    monotonic_ns: Callable[[], int] = time.monotonic_ns
    replayed: tuple[tuple[int, int], ...] = ()
    replayed_readings: int = 0

    def __post_init__(self) -> None:
        self._origin = self.monotonic_ns()
        self._readings = 0
        self._elapsed = 0
        self._drawn = 0
        self._moves: list[tuple[int, int]] = []
        self._replay: Iterator[tuple[int, int]] = iter(self.replayed)
        self._next = next(self._replay, None)

    @classmethod
    def replay(cls, recording: Recording) -> Inputs:
        """The inputs that a recording holds; past its end the clock goes on from there."""
        return cls(recording.seed, recording.started_ns, replayed=recording.clock, replayed_readings=recording.readings)

    @classmethod
    def resume(cls, recording: Recording, drawn: int) -> Inputs:
        """The inputs of a run as they stood at the end of a recording: no time has passed for it since."""
        inputs = cls(recording.seed, recording.started_ns)
        inputs._elapsed = recording.clock[-1][1] if recording.clock else 0
        inputs._origin = inputs.monotonic_ns() - inputs._elapsed
        inputs._readings, inputs._drawn, inputs._moves = recording.readings, drawn, list(recording.clock)
        return inputs

    @property
    def drawn(self) -> int:
        """How often entropy was taken."""
        return self._drawn

    def elapsed_ns(self) -> int:
        """Nanoseconds since the start, as the script sees them."""
        self._readings += 1
        if self._readings <= self.replayed_readings:
            self._replayed_reading()
        else:
            now = (self.monotonic_ns() - self._origin) // RESOLUTION_NS * RESOLUTION_NS
            if now > self._elapsed:
                self._move(now)
        return self._elapsed

    def _replayed_reading(self) -> None:
        while self._next is not None and self._readings > self._next[0]:
            self._move(self._next[1])
            self._next = next(self._replay, None)
        if self._readings == self.replayed_readings:
            self._origin = self.monotonic_ns() - self._elapsed

    def _move(self, now: int) -> None:
        self._elapsed = now
        self._moves.append((self._readings - 1, now))

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return self.started_ns + self.elapsed_ns()

    def steady_ns(self) -> int:
        """A monotonic clock; its zero means nothing."""
        return _MONOTONIC_START_NS + self.elapsed_ns()

    def entropy(self, size: int) -> bytes:
        """Bytes nobody can guess who does not know the seed; never the same twice in a run."""
        self._drawn += 1
        return hashlib.shake_256(self.seed + self._drawn.to_bytes(8, "little")).digest(size)

    @property
    def random_seed(self) -> str:
        """The seed of the script's `random`, in octal digits: a guest reads it in as many instructions whatever it is.

        For that it is always as long, of a base that is a power of two, and has no digits that CPython's search for
        a tag (codec.py) would stop at.
        """
        seed = int.from_bytes(hashlib.sha256(b"random" + self.seed).digest()[:16], "little") | _HIGHEST_BIT
        return f"{seed:o}"

    def recording(self) -> Recording:
        """What has been given so far."""
        return Recording(self.seed, self.started_ns, tuple(self._moves), self._readings)
