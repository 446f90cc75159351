"""The catalogue: everything that the scripts of one host may reach, found by every spelling, by words, by path.

It looks at its connectors anew each time, for their methods may change, and holds nothing of any execution.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, get_args

from isolith_bindings import names
from isolith_bindings.connector import Connector, Method, offered
from isolith_bindings.describe import Description, Detail, describe_all, describe_connector, describe_method
from isolith_bindings.errors import CallError, NameCollision
from isolith_bindings.listing import DEFAULT_BUDGET, Listing, list_all
from isolith_bindings.rendering import one_of
from isolith_bindings.search import SNIPPETS, Hit, Kind, Scope, SearchIndex, SearchPage, Snippet, exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_LIMIT = 50
"""Results of one page."""
MAX_QUERY = 1000
"""Characters of a query or a target."""

_TEXT = f"text of at most {MAX_QUERY:,} characters"
_BRACKETS = re.compile(r"""\[\s*(?:"([^"]*)"|'([^']*)')\s*\]""")


class Catalog:
    """The connectors of a host under their names. Raises NameCollision where two have one name.

    `snippets` is asked for the reviewed scripts before each search.
    """

    def __init__(self, connectors: Iterable[Connector], snippets: Callable[[], Iterable[Snippet]] = tuple) -> None:
        self._snippets = snippets
        self._index = SearchIndex()
        self._reading: threading.Thread | None = None
        self.connectors: dict[str, Connector] = {}
        for connector in connectors:
            other = self.connectors.setdefault(connector.name, connector)
            if other is not connector:
                raise NameCollision(
                    f"two connectors are called `{connector.name}`: {other!r} and {connector!r}. "
                    "Give one of them another name"
                )

    def resolve(self, connector: str, method: str) -> tuple[Connector, Method]:
        """Any spelling of a connector and a method. Raises CallError `unknown_tool`, with the nearest names.

        What is denied is found as well: that it may not be called is the host's to say.
        """
        found = self._connector(connector)
        known = {name: bound.original for name, bound in found.methods.items()}
        name = names.resolve(method, known)
        if name is None:
            raise _unknown_method(found, method)
        return found, found.methods[name]

    def capabilities(self) -> dict[str, list[str]]:
        """The Python names that scripts are given: of each connector, its methods. Without what is denied."""
        return {name: list(offered(connector)) for name, connector in self.connectors.items()}

    def granted(self) -> dict[str, dict[str, object]]:
        """The capabilities as the guest takes them: `{connector: {"methods": [...], "aliases": {...}}}`.

        `aliases` maps original names to Python ones, where they differ.
        """
        return {
            name: {"methods": methods, "aliases": _aliases(self.connectors[name])}
            for name, methods in self.capabilities().items()
        }

    def search(
        self,
        query: str = "",
        connector: str | None = None,
        kind: Kind | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SearchPage:
        """What fits the words of a query. An exact path gives that alone; an empty query browses, sorted by path.

        The first search after a change reads what has changed: see `refresh_soon`. Raises CallError for arguments that
        make no sense and for an unknown connector.
        """
        _check("search", "query", query, _is_text(query), _TEXT)
        _check("search", "kind", kind, kind is None or kind in get_args(Kind), f"one of {one_of(get_args(Kind))}")
        _check("search", "limit", limit, _is_whole(limit, 1, MAX_LIMIT), f"a whole number from 1 to {MAX_LIMIT}")
        _check("search", "offset", offset, _is_whole(offset, 0), "a whole number, 0 or more")
        scope = Scope(None if connector is None else self._scope(connector), kind)
        found = self._exact(query, scope)
        if not found:
            found = self._index.find(query, self.connectors.values(), self._snippets(), scope)
        return _page(found, limit, offset)

    def refresh_soon(self) -> None:
        """Read on a thread what has changed, so that no search has to wait for it. Returns at once."""
        if self._reading is None or not self._reading.is_alive():
            self._reading = threading.Thread(target=self._refresh, name="isolith-search", daemon=True)
            self._reading.start()

    def listing(self, budget_tokens: int = DEFAULT_BUDGET, pinned: Iterable[str] = ()) -> Listing:
        """What a model is told before it asks for more: at most so many tokens, pinned paths before all others.

        Raises CallError for a budget that is no whole number.
        """
        _check("catalog", "budget_tokens", budget_tokens, _is_whole(budget_tokens, 0), "a whole number, 0 or more")
        return list_all(self.connectors.values(), budget_tokens, pinned=pinned)

    def describe(self, target: str | None = None, detail: Detail = "signature") -> Description:
        """A connector or a method by path, or without a target the whole catalogue.

        Raises CallError `unknown_tool`, with the nearest names, where there is no such thing.
        """
        details = get_args(Detail)
        _check("describe", "detail", detail, detail in details, f"one of {one_of(details)}")
        if target is None:
            return describe_all(self.connectors.values(), detail)
        _check("describe", "target", target, _is_text(target), _TEXT)
        connector, method = self._at(target)
        return describe_connector(connector, detail) if method is None else describe_method(connector, method, detail)

    def _refresh(self) -> None:
        self._index.refresh(list(self.connectors.values()), self._snippets())

    def _scope(self, name: object) -> str:
        return SNIPPETS if name == SNIPPETS and SNIPPETS not in self.connectors else self._connector(name).name

    def _connector(self, name: object) -> Connector:
        text = name if isinstance(name, str) else repr(name)
        found = names.resolve(text, {known: known for known in self.connectors})
        if found is None:
            raise CallError("unknown_tool", f"there is no connector `{text}`", hint=_other(text, self.connectors))
        return self.connectors[found]

    def _at(self, path: str) -> tuple[Connector, Method | None]:
        """What a path leads to, in any spelling: `crm.list`, `tools.crm.list`, `tools["crm"]["list"]`."""
        plain = _BRACKETS.sub(lambda match: f".{match[1] or match[2]}", path).strip().removeprefix("tools.")
        first, _, rest = plain.partition(".")
        if not rest:
            return self._connector_or_hint(first), None
        connector, method = self.resolve(first, rest)
        if method.policy == "deny":
            raise _unknown_method(connector, rest)
        return connector, method

    def _connector_or_hint(self, name: str) -> Connector:
        """A connector; where a method was named alone, the error says its path."""
        try:
            return self._connector(name)
        except CallError as error:
            paths = [
                f"{connector.name}.{method}"
                for connector in self.connectors.values()
                for method in [names.resolve(name, {n: m.original for n, m in offered(connector).items()})]
                if method
            ]
            if not paths:
                raise
            hint = f"did you mean {' or '.join(f'`{path}`' for path in paths[:3])}?"
            raise CallError("unknown_tool", f"there is no connector `{name}`", hint=hint) from error

    def _exact(self, query: str, scope: Scope) -> list[Hit]:
        """What a path leads to, where the query is one."""
        if not {".", "["} & set(query):
            return []
        try:
            connector, method = self._at(query)
        except CallError:
            return []
        return exact(connector, method, scope)


def _aliases(connector: Connector) -> dict[str, str]:
    return {method.original: name for name, method in offered(connector).items() if method.original != name}


def _unknown_method(connector: Connector, method: str) -> CallError:
    reason = connector.excluded.get(method)
    if reason is not None:
        return CallError("unknown_tool", f"{connector.name} has no method `{method}`: {reason}")
    hint = _other(method, offered(connector), f"{connector.name}.")
    return CallError("unknown_tool", f"{connector.name} has no method `{method}`", hint=hint)


def _other(name: str, known: Mapping[str, object], prefix: str = "") -> str:
    """What to write instead: the names that look like this one, or all there are."""
    close = names.nearest(name, known)
    if close:
        return f"did you mean {' or '.join(f'`{prefix}{match}`' for match in close)}?"
    return f"there are: {one_of(sorted(known))}" if known else "there are none"


def _page(found: list[Hit], limit: int, offset: int) -> SearchPage:
    page = [hit.shown() for hit in found[offset : offset + limit]]
    remaining = max(0, len(found) - offset - limit)
    return SearchPage(page, remaining, offset + limit if remaining else None)


def _check(function: str, name: str, value: object, fits: object, expected: str) -> None:
    if not fits:
        raise CallError("invalid_arguments", f"{function}: `{name}`: expected {expected}, was given {value!r:.80}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_QUERY


def _is_whole(value: object, low: int, high: int | None = None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low and (high is None or value <= high)
