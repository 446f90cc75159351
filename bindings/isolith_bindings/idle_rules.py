"""The rules of a policy that fit nothing of what is connected: a name that was misspelt, perhaps. Pure.

A rule that forbids and is misspelt forbids nothing, so whoever wrote it is told, of its method as of the arguments that
it asks about. Of a connector that has not said what it offers nobody knows whether a rule fits: nothing is told of a
rule that may be about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from isolith_bindings.availability import why_absent
from isolith_bindings.names import did_you_mean, fold
from isolith_bindings.policy import ungoverned
from isolith_bindings.predicates import parts_of
from isolith_bindings.schema.astray import astray
from isolith_bindings.schema.listed import listed_names
from isolith_bindings.schema.parts import mapping
from isolith_bindings.search import SNIPPETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from isolith_bindings.connector import Connector, Method
    from isolith_bindings.policy import Policy
    from isolith_bindings.rules import Rule

_OF_SNIPPETS: Final = f"{SNIPPETS}."
"""What is approved later is meant as well, and no connector has it."""


def idle_rules(policy: Policy, connectors: Iterable[Connector]) -> list[str]:
    """Of each such rule, that it fits nothing, by what it names; none where nothing is connected."""
    every = list(connectors)
    return [
        f"{rule.name or f'rule {number}'} ({rule.described}) {told}"
        for number, rule in enumerate(policy.rules, 1)
        for told in (_idle(rule, every) if every else ())
    ]


def _idle(rule: Rule, connectors: list[Connector]) -> Iterator[str]:
    if any(pattern.startswith(_OF_SNIPPETS) for pattern in rule.match):
        return
    meant = [connector for connector in connectors if rule.means(connector.name)]
    unknown = any(why_absent(connector) is not None for connector in meant)
    methods = _reached(rule, meant)
    if next(methods, None) is None:
        if not unknown:
            yield "fits no method of what is connected"
    elif not unknown:
        for path in rule.where:
            yield from _idle_path(path, _reached(rule, meant))


def _reached(rule: Rule, connectors: list[Connector]) -> Iterator[tuple[str, Method]]:
    for connector in connectors:
        for method in ungoverned(connector).methods.values():
            if rule.reaches(connector.name, method):
                yield f"{connector.name}.{method.name}", method


def _idle_path(path: str, methods: Iterable[tuple[str, Method]]) -> Iterator[str]:
    """That a path of `where` leads nowhere in what any of these methods can be given."""
    paths: list[str] = []
    known: dict[str, None] = {}
    part = ""
    for called, method in methods:
        found = _astray(parts_of(path), method)
        if found is None:
            return
        part, names = found
        paths.append(called)
        known.update(dict.fromkeys(names))
    asked = f"`{path}`" if part == path else f"`{part}` of `{path}`"
    none = f"none of the {len(paths):,} methods that it fits has such an argument"
    who = f"{paths[0]} has no such argument" if len(paths) == 1 else none
    close = did_you_mean(part, known)
    yield f"asks about {asked}, and {who}{f'; {close}' if close else ''}"


def _astray(path: list[str], method: Method) -> tuple[str, tuple[str, ...]] | None:
    """The part of a path that no call of a method can give, and what can be given; None where one can, or may."""
    first, *rest = path
    names = listed_names(method.parameters)
    if names is None or not (names or method.parameters.get("additionalProperties") is False):
        return None
    meant = next((name for name in names if name == first or fold(name) == fold(first) != ""), None)
    if meant is None:
        return first, names
    found = astray(mapping(method.parameters["properties"])[meant], rest, method.parameters)
    return None if found is None else (found.part, found.known)
