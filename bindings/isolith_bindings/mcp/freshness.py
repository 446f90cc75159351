"""How long a list may be believed without asking again: what a server of 2026-07-28 says with it.

`ttlMs` is for how long, and `cacheScope` for whom: `public` for everyone, `private` for whoever was answered. A server
that says a list has changed is believed before that. Where nothing is said, or 0, a list counts until it is said to
have changed, or until its server is connected anew: to ask before every use is what a server means least.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LONGEST_S = 3_600.0
"""However long a server says, a list is read again after an hour."""


@dataclass(frozen=True)
class Freshness:
    """`ttl_s`: seconds that a list may be believed, 0 where that is not said. `public`: by every connection."""

    ttl_s: float = 0.0
    public: bool = False


UNSAID = Freshness()


def freshness_of(pages: Iterable[Mapping[str, object]]) -> Freshness:
    """Of a list in pages: as long as its shortest-lived page, and public if all of them are."""
    each = [Freshness(_seconds(page.get("ttlMs")), page.get("cacheScope") == "public") for page in pages]
    return Freshness(min((one.ttl_s for one in each), default=0.0), bool(each) and all(one.public for one in each))


def _seconds(ttl_ms: object) -> float:
    if not isinstance(ttl_ms, int | float) or isinstance(ttl_ms, bool) or not ttl_ms > 0:
        return 0.0
    return min(ttl_ms, LONGEST_S * 1000) / 1000 if isinstance(ttl_ms, int) or math.isfinite(ttl_ms) else LONGEST_S


@dataclass(frozen=True)
class Kept:
    """A list, and until when it may be believed, by the clock of `Lists`."""

    entries: tuple[dict[str, object], ...]
    until: float


@dataclass
class Lists:
    """Lists that one connection may believe, by the request that reads them. `shared`: the public ones, of all."""

    shared: dict[str, Kept] = field(default_factory=dict[str, Kept])
    now: Callable[[], float] = time.monotonic
    _own: dict[str, Kept] = field(default_factory=dict[str, Kept])
    changes: int = 0

    def get(self, kind: str) -> list[dict[str, object]] | None:
        """A copy of the list, if it may still be believed."""
        for kept in (self._own.get(kind), self.shared.get(kind)):
            if kept is not None and self.now() < kept.until:
                return copy.deepcopy(list(kept.entries))
        return None

    def keep(self, kind: str, entries: Iterable[object], freshness: Freshness, since: int) -> None:
        """Believe a list that was begun to be read when there had been `since` changes, unless it changed meanwhile."""
        if freshness.ttl_s > 0 and since == self.changes:
            found = tuple(cast("dict[str, object]", copy.deepcopy(entry)) for entry in entries)
            (self.shared if freshness.public else self._own)[kind] = Kept(found, self.now() + freshness.ttl_s)

    def forget(self, about: str) -> None:
        """Believe no list of `resources` or `prompts` any more: they have changed."""
        self.changes += 1
        for lists in (self._own, self.shared):
            for kind in [kind for kind in lists if kind.startswith(f"{about}/")]:
                del lists[kind]
