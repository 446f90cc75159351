"""Rules of a policy that fit nothing of what is connected, told to the log once each, as soon as that is known."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from isolith_bindings.idle_rules import idle_rules

if TYPE_CHECKING:
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.policy import Policy

_log = logging.getLogger(__name__)


class IdleRules:
    """Those of one policy, over one catalogue. A server says later what it offers, and is waited for."""

    def __init__(self, policy: Policy, catalog: Catalog) -> None:
        self._policy = policy
        self._catalog = catalog
        self._told: set[str] = set()
        if policy.rules:
            catalog.on_change(self.look)

    def look(self) -> None:
        """Tell of what turned out to fit nothing since. On any thread."""
        for idle in idle_rules(self._policy, self._catalog.connectors.values()):
            if idle not in self._told:
                self._told.add(idle)
                _log.warning("policy: %s", idle)
