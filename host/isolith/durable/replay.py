"""A script run again against its journal: what each of its calls is answered with, and in which order. Pure.

The guest is given the same clock, seed, input and deliveries, so it asks for the same calls. They are identified by
method, arguments and occurrence, not by number: calls made together may be numbered in another order by another
version of the guest, and stay parallel.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Identification = tuple[str, str, str]
"""Connector, method, digest of the arguments."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One call as the journal has it, as far as a replay must know. `settled`: it has an outcome."""

    number: int
    connector: str
    method: str
    digest: str
    settled: bool
    arguments: str = ""
    """As they are shown where a script goes another way."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with a call of a script that is replayed.

    `deliver`: the outcome of `entry` is its answer. `go_on`: `entry` was not settled; what becomes of it is decided
    anew. `perform`: the journal ends before it. `diverge`: the journal says that something else happened.
    """

    action: Literal["deliver", "go_on", "perform", "diverge"]
    entry: Entry | None = None
    recorded: str = ""
    """With `diverge`: what the journal has instead."""


class Replay:
    """Walks one journal. `batches`: the numbers of the calls whose outcomes were delivered together, in order.

    `again`: what was asked for, came to nothing, and is made again, while the journal may still go on beside it.
    """

    def __init__(
        self, entries: Sequence[Entry], batches: Sequence[Sequence[int]], again: Iterable[Identification] = ()
    ) -> None:
        self._again = collections.Counter(again)
        self._waiting: dict[Identification, collections.deque[Entry]] = {}
        for entry in entries:
            key = (entry.connector, entry.method, entry.digest)
            self._waiting.setdefault(key, collections.deque()).append(entry)
        self._batches = collections.deque(tuple(batch) for batch in batches)
        self._numbers: dict[int, int] = {}
        self._open = sum(not entry.settled for entry in entries)

    @property
    def under_way(self) -> bool:
        """Whether deliveries of the journal are left."""
        return bool(self._batches)

    @property
    def owes(self) -> bool:
        """Whether the script still has to ask for what the journal has no outcome of.

        That is in the journal behind all that was delivered before it: a script that has been given that, and rests,
        has asked for it, or goes another way.
        """
        return self._open > 0

    def knows(self, connector: str, method: str, digest: str) -> bool:
        """Whether a call is still to be asked for, or made again."""
        what = (connector, method, digest)
        return bool(self._waiting.get(what)) or self._again[what] > 0

    def meet(self, number: int, connector: str, method: str, digest: str) -> Verdict:
        """The script asks for call `number`."""
        found = self._waiting.get((connector, method, digest))
        if found:
            entry = found.popleft()
            self._open -= not entry.settled
            self._numbers[entry.number] = number
            return Verdict("deliver" if entry.settled else "go_on", entry)
        if self._again[connector, method, digest]:
            self._again[connector, method, digest] -= 1
            return Verdict("perform")
        if not self._batches:
            return Verdict("perform")
        return Verdict("diverge", recorded=self._expected())

    def next_batch(self) -> tuple[int, ...] | None:
        """The next delivery, in this run's numbers; None where the script never asked for what was delivered."""
        batch = self._batches.popleft()
        if any(number not in self._numbers for number in batch):
            return None
        return tuple(self._numbers[number] for number in batch)

    def missing(self) -> str:
        """Calls of the journal that the script, at the end of it, has not asked for; empty where there are none."""
        return self._expected() if any(self._waiting.values()) else ""

    def _expected(self) -> str:
        left = sorted((entry for found in self._waiting.values() for entry in found), key=lambda entry: entry.number)
        names = [f"{entry.connector}.{entry.method}{entry.arguments} (call {entry.number})" for entry in left[:3]]
        return " and ".join(names) if names else "no further call"
