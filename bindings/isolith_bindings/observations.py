"""What methods that declare no result gave, as schemas learnt from their results. In memory, for the life of a host.

No value is kept, only types and keys that look like names: see `schema.observed`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from isolith_bindings.schema.observed import OBSERVED, observe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import JsonSchema, Method

MAX_METHODS = 2_000
"""Methods of which something is remembered; those that were first seen are forgotten first."""
MAX_RESULTS = 50
"""Results of one method that are looked at: after so many nothing is learnt any more."""


class Observations:
    """Learns from results. From any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._learnt: dict[tuple[str, str], JsonSchema] = {}

    def saw(self, connector: str, method: Method, value: object) -> object:
        """Learn from one result of a method, which is returned; nothing where it declares what it returns."""
        if method.returns is None:
            self._learn((connector, method.name), value)
        return value

    def _learn(self, key: tuple[str, str], value: object) -> None:
        with self._lock:
            before = self._learnt.get(key)
            seen = before[OBSERVED] if before else 0
            if isinstance(seen, int) and seen >= MAX_RESULTS:
                return
            self._learnt[key] = observe(value, before)
            while len(self._learnt) > MAX_METHODS:
                del self._learnt[next(iter(self._learnt))]

    def of(self, connector: str) -> Mapping[str, JsonSchema]:
        """What was learnt of a connector's methods, by name."""
        with self._lock:
            return {method: schema for (owner, method), schema in self._learnt.items() if owner == connector}
