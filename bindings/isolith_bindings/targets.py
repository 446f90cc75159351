"""What a text names among connectors: a connector, a method, a type of one, a snippet; in any spelling.

Where there is no such thing the answer is an error that says what is nearest, never another connector's method.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from isolith_bindings import names
from isolith_bindings.availability import why_absent
from isolith_bindings.connector import Connector, Method, offered
from isolith_bindings.errors import CallError
from isolith_bindings.rendering import brief, one_of
from isolith_bindings.schema.typenames import PRELUDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_CLASS = re.compile(r"\b[A-Z]\w*")
"""What may be a type that is declared, in a signature."""
_NO_TYPES = PRELUDE | {"None", "True", "False"}
"""Words in capitals of any signature."""
_MAX_NAME = 1000
_MAX_MEANT = 3
_MAX_LOOKED_THROUGH = 200
"""Methods of a connector whose signatures are looked through for a type: a document may have thousands to write yet."""
_MAX_PARTS = 8
"""Dots of a path at which the name of a method may end: each is looked for."""
_MAX_KEPT = 64
"""Connectors whose other spellings are kept, as long as they have the same methods."""


@dataclass(frozen=True)
class Target:
    """What was found. `rest`: what is behind the name of a method, such as a type or a variant."""

    connector: Connector
    method: Method | None = None
    rest: str = ""


class Targets:
    """Finds by path. Reads its connectors anew each time."""

    def __init__(self, connectors: Mapping[str, Connector]) -> None:
        self._connectors = connectors

    def connector(self, name: object, *, hinted: bool = True) -> Connector:
        """Any spelling of a connector. Raises CallError `unknown_tool`, if `hinted` with the nearest names."""
        text = name[:_MAX_NAME] if isinstance(name, str) else brief(name)
        found = names.resolve(text, {known: known for known in self._connectors})
        if found is None:
            hint = other(text, self._connectors) if hinted else None
            raise CallError("unknown_tool", f"there is no connector `{text}`", hint=hint)
        return self._connectors[found]

    def method(self, connector: str, method: str, *, hinted: bool = True) -> tuple[Connector, Method]:
        """Any spelling of a connector and a method, the denied included. Raises CallError `unknown_tool`."""
        found = self.connector(connector, hinted=hinted)
        return found, _method(found, method, hinted=hinted)

    def find(self, path: str) -> Target:
        """What a path leads to, without what is denied. Raises CallError `unknown_tool`, with the nearest names."""
        errors: list[CallError] = []
        for first, rest in names.paths(path, self._connectors):
            try:
                connector = self.connector(first) if rest else self._alone(first)
                return Target(connector) if not rest else self._inside(connector, rest)
            except CallError as error:
                errors.append(error)
                if rest and first in self._connectors:
                    raise  # the nearest names within it say more than those of all connectors
        raise errors[0]

    def find_or_type(self, path: str) -> Target:
        """The same, where `crm.Contact` may also be a type: that of the first method whose signature names it.

        So may `Contact` alone, where one connector has such a type.
        """
        try:
            return self.find(path)
        except CallError as error:
            for first, rest in names.paths(path, self._connectors):
                found = names.resolve(first, {known: known for known in self._connectors})
                method = None if found is None else _naming(self._connectors[found], rest)
                if found is not None and method is not None:
                    return Target(self._connectors[found], method, rest)
            alone = [] if "." in path or path in _NO_TYPES else list(self._with_type(path))
            if not alone:
                raise
            if len(alone) == 1:
                return alone[0]
            paths = " or ".join(f"`{target.connector.name}.{path}`" for target in alone[:_MAX_MEANT])
            raise CallError("unknown_tool", str(error), hint=f"did you mean {paths}?") from error

    def _with_type(self, name: str) -> Iterator[Target]:
        """The connectors that have a type of this name. The signatures of a large one may not be written yet."""
        for connector in self._connectors.values():
            if len(connector.methods) <= _MAX_LOOKED_THROUGH:
                method = _naming(connector, name)
                if method is not None:
                    yield Target(connector, method, name)

    def _inside(self, connector: Connector, rest: str) -> Target:
        try:
            return Target(connector, _offered(connector, rest))
        except CallError:
            for start, end in _halves(rest):
                method = _known(connector, start)
                if method is not None and method.policy != "deny":
                    return Target(connector, method, end)
            raise

    def _alone(self, name: str) -> Connector:
        """A connector; where a method was named alone, the error says its path."""
        try:
            return self.connector(name)
        except CallError as error:
            paths = [
                f"{connector.name}.{method}"
                for connector in self._connectors.values()
                for method in [names.resolve(name, _originals(offered(connector)))]
                if method
            ]
            if not paths:
                raise
            hint = f"did you mean {' or '.join(f'`{path}`' for path in paths[:3])}?"
            raise CallError("unknown_tool", f"there is no connector `{name}`", hint=hint) from error


def other(name: str, known: Mapping[str, object], prefix: str = "") -> str:
    """What to write instead: the names that look like this one, or all there are."""
    close = names.nearest(name, known)
    if close:
        return f"did you mean {' or '.join(f'`{prefix}{match}`' for match in close)}?"
    return f"there are: {one_of(sorted(known))}" if known else "there are none"


def unknown_method(connector: Connector, method: str, *, hinted: bool = True) -> CallError:
    """That there is none of this name, why, or what there is."""
    absent = why_absent(connector)
    if absent is not None:
        hint = (
            f"`isolith connectors status {connector.name}`, with the --connect or --config of this run, says more; "
            "other connectors are not concerned"
        )
        return CallError("tool_unavailable", f"{connector.name} is not there: {absent}", hint=hint, retriable=True)
    reason = connector.excluded.get(method)
    if reason is not None:
        return CallError("unknown_tool", f"{connector.name} has no method `{method}`: {reason}")
    near = other(method, offered(connector), f"{connector.name}.") if hinted else None
    return CallError("unknown_tool", f"{connector.name} has no method `{method}`", hint=near)


def no_such_type(target: Target) -> CallError:
    """That a method has no type, and no variant, of this name."""
    method = f"{target.connector.name}.{target.method.name if target.method else ''}"
    return CallError("unknown_tool", f"{method} has no type `{target.rest}`", hint=f'see describe("{method}")')


def _naming(connector: Connector, type_name: str) -> Method | None:
    """The first method whose signature names a type."""
    folded = names.fold(type_name)
    for method in offered(connector).values() if type_name[:1].isupper() else ():
        if folded in map(names.fold, _CLASS.findall(method.signature)):
            return method
    return None


def _known(connector: Connector, name: str) -> Method | None:
    exact = connector.methods.get(name)
    if exact is not None:
        return exact  # as most calls say it: the others are not looked through
    known = _originals(connector.methods)
    found = names.resolve(name, known)
    if found is None:
        shorter = _aliases(connector.name, tuple(known.items()))
        spelling = names.resolve(name, {alias: alias for alias in shorter})
        found = None if spelling is None else shorter[spelling]
    return None if found is None else connector.methods[found]


@lru_cache(_MAX_KEPT)
def _aliases(connector: str, bound: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return names.aliases(connector, dict(bound))


def _method(connector: Connector, name: str, *, hinted: bool = True) -> Method:
    found = _known(connector, name)
    if found is None:
        raise unknown_method(connector, name, hinted=hinted)
    return found


def _offered(connector: Connector, name: str) -> Method:
    found = _method(connector, name)
    if found.policy == "deny":
        raise unknown_method(connector, name)
    return found


def _originals(methods: Mapping[str, Method]) -> dict[str, str]:
    return {name: method.original for name, method in methods.items()}


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """`a.b.c` as (`a.b`, `c`) and (`a`, `b.c`)."""
    parts = text.split(".", _MAX_PARTS)
    for end in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:end]), ".".join(parts[end:])
