"""The rules of a policy that fit no method of what is connected: a name that was misspelt, perhaps. Pure.

A rule that forbids and is misspelt forbids nothing, so whoever wrote it is told. Of a connector that has not said what
it offers nobody knows whether a rule fits: nothing is told of a rule that may be about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from isolith_bindings.availability import why_absent
from isolith_bindings.policy import ungoverned
from isolith_bindings.search import SNIPPETS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.connector import Connector
    from isolith_bindings.policy import Policy
    from isolith_bindings.rules import Rule

_OF_SNIPPETS: Final = f"{SNIPPETS}."
"""What is approved later is meant as well, and no connector has it."""


def idle_rules(policy: Policy, connectors: Iterable[Connector]) -> list[str]:
    """Of each such rule, that it fits nothing, by what it names; none where nothing is connected."""
    every = list(connectors)
    return [
        f"{rule.name or f'rule {number}'} ({rule.described}) fits no method of what is connected"
        for number, rule in enumerate(policy.rules, 1)
        if every and not _may_fit(rule, every)
    ]


def _may_fit(rule: Rule, connectors: list[Connector]) -> bool:
    return any(pattern.startswith(_OF_SNIPPETS) for pattern in rule.match) or any(
        rule.means(connector.name)
        and (
            why_absent(connector) is not None
            or any(rule.reaches(connector.name, method) for method in ungoverned(connector).methods.values())
        )
        for connector in connectors
    )
