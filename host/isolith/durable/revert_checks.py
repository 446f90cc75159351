"""Whether what a configuration says undoes a method can undo it: looked at as soon as both are known.

What is known when a `CodeMode` is made is refused there. A server says later what it offers, and may be away: what is
wrong with that is told to the log once, since runs that need none of it go on.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from isolith.durable.reverts import Revert, reverts_of
from isolith.errors import UsageError
from isolith_bindings.availability import why_absent
from isolith_bindings.errors import CallError
from isolith_bindings.hooks import missing_for
from isolith_bindings.names import did_you_mean
from isolith_bindings.rendering import no_argument, one_of
from isolith_bindings.schema.astray import astray
from isolith_bindings.schema.listed import listed_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isolith.durable.reverts import Reverts
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Method

_log = logging.getLogger(__name__)


class DeclaredReverts:
    """What a configuration declares, beside the catalogue that it is about. Raises UsageError for what cannot be."""

    def __init__(self, catalog: Catalog, given: Mapping[str, Revert | str] | None) -> None:
        self.reverts: Reverts = reverts_of(given)
        self._catalog = catalog
        self._told: set[str] = set()
        for problem in self.problems():
            raise UsageError(problem)
        if self.reverts:
            catalog.on_change(self.look)

    def look(self) -> None:
        """Tell the log of what turned out to be wrong since. On any thread."""
        for problem in (*self.problems(), *self._unconnected(), *self._lost()):
            if problem not in self._told:
                self._told.add(problem)
                _log.warning("%s", problem)

    def problems(self) -> list[str]:
        """What is certainly wrong, by what is known now: connector, method, what is to undo it, and the mend."""
        found = ((name, revert, _problem(self._catalog, name, revert)) for name, revert in self.reverts.items())
        return [
            f'reverts: "{name}" is to be undone by "{revert.method}": {told}' for name, revert, told in found if told
        ]

    def _unconnected(self) -> Iterator[str]:
        """What is not connected may have been, and calls of it may be in the journal."""
        for name in self.reverts:
            connector = name.partition(".")[0]
            if connector not in self._catalog.connectors:
                yield f'reverts: "{name}": no connector is called `{connector}`, and nothing that it did can be undone'

    def _lost(self) -> Iterator[str]:
        """Paths into a result that lead nowhere in what is declared: told, and not refused, for others may be given."""
        for name, revert in self.reverts.items():
            with suppress(CallError):
                undone = _method(self._catalog, name)
                for told in _nowhere(undone, revert) if undone is not None else ():
                    yield f'reverts: "{name}" is to be undone by "{revert.method}": {told}'


def _problem(catalog: Catalog, name: str, revert: Revert) -> str | None:
    """What is wrong with one; None where nothing is, or nothing can be said yet."""
    if "." in name and name.partition(".")[0] not in catalog.connectors:
        return None
    try:
        undone, undoing = _method(catalog, name), _method(catalog, revert.method)
    except CallError as error:
        return f"{error}{f'; {error.hint}' if error.hint else ''}"
    if undone is None or undoing is None:
        return None
    return next(_unfit(undone, undoing, revert), None)


def _method(catalog: Catalog, path: str) -> Method | None:
    """The method of this exact name; None where its connector has not said what it offers. Raises CallError."""
    name, dot, other = path.partition(".")
    if not (dot and name and other):
        raise CallError("unknown_tool", f"`{path}` is no connector.method")
    connector = catalog.connectors.get(name)
    if connector is not None and why_absent(connector) is not None:
        return None
    found, method = catalog.resolve(name, other)
    exact = f"{found.name}.{method.name}"
    if exact != path:
        raise CallError("unknown_tool", f"`{path}` is written `{exact}`")
    return method


def _unfit(undone: Method, undoing: Method, revert: Revert) -> Iterator[str]:
    """Why the one cannot be given what it would be given of the other."""
    names = listed_names(undone.parameters)
    if revert.arguments is None:
        missing = [] if names is None else missing_for(undoing, [*names, "result"])
        if missing:
            yield (
                f"it needs `{missing[0]}`, and is given the arguments of {undone.name} that it takes, and `result`: "
                f'say what it is given, {{ method = "{revert.method}", arguments = {{ {missing[0]} = "$result" }} }}'
            )
        return
    taken = listed_names(undoing.parameters)
    for name in revert.arguments:
        if taken is not None and name not in taken:
            yield no_argument(revert.method, name, taken)
    for name in missing_for(undoing, revert.arguments):
        yield f"it needs `{name}`: add that to its `arguments`"
    for text in _references(revert.arguments):
        yield from _astray(text, undone, names)


def _astray(text: str, undone: Method, names: Sequence[str] | None) -> Iterator[str]:
    """What is wrong with one `$...`, where that can be told before there is a call."""
    first, _, path = text[1:].partition(".")
    if first not in {"arguments", "result"}:
        written = f"a text that begins with `$` is written `${text}`"
        yield f"`{text}` is neither `$arguments...` nor `$result...`; {written}"
    elif first == "arguments" and path and names is not None and path.partition(".")[0] not in names:
        yield f"`{text}`: {no_argument(undone.name, path.partition('.')[0], names)}"


def _nowhere(undone: Method, revert: Revert) -> Iterator[str]:
    """Each `$result.PATH` that leads nowhere in the result that a method declares."""
    returns = undone.returns
    for text in _references(revert.arguments) if returns else ():
        first, *path = text[1:].split(".")
        found = astray(returns, path, returns) if first == "result" and returns else None
        if found is not None:
            close = did_you_mean(found.part, found.known) or f"there are: {one_of(found.known) or 'none'}"
            yield f"`{text}`: what {undone.name} gives has no `{found.part}`; {close}"


def _references(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith("$") and not value.startswith("$$"):
            yield value
        return
    if isinstance(value, dict):
        parts = list(cast("dict[str, object]", value).values())
    else:
        parts = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else []
    for part in parts:
        yield from _references(part)
