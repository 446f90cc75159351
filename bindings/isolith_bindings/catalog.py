"""The catalogue: everything that the scripts of one host may reach, found by every spelling, by words, by path.

It looks at its connectors anew each time, for their methods may change, and holds nothing of any execution.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol, get_args, runtime_checkable

from isolith_bindings import names
from isolith_bindings.availability import may_change
from isolith_bindings.describe import (
    BUDGETS,
    Description,
    Detail,
    describe_all,
    describe_connector,
    describe_method,
    describe_several,
    describe_snippet,
    describe_type,
)
from isolith_bindings.errors import CallError, NameCollision
from isolith_bindings.listing import DEFAULT_BUDGET, Listing, list_all
from isolith_bindings.observations import Observations
from isolith_bindings.offering import offering
from isolith_bindings.policy import ungoverned
from isolith_bindings.rendering import brief, one_of
from isolith_bindings.search import SNIPPETS, Hit, Kind, Scope, SearchIndex, SearchPage, Snippet, exact
from isolith_bindings.targets import Targets, no_such_type, other

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isolith_bindings.connector import Connector, Method

MAX_LIMIT = 50
"""Results of one page."""
MAX_TARGETS = 20
"""Things described at once."""
MAX_QUERY = 1000
"""Characters of a query or a target."""

_TEXT = f"text of at most {MAX_QUERY:,} characters"


@runtime_checkable
class _Changing(Protocol):
    """A connector that says when its methods have changed."""

    def on_change(self, listener: Callable[[object], None]) -> object: ...


class Catalog:
    """The connectors of a host under their names. Raises NameCollision where two have one name.

    `snippets` is asked for the reviewed scripts before each search.
    """

    def __init__(self, connectors: Iterable[Connector], snippets: Callable[[], Iterable[Snippet]] = tuple) -> None:
        self._snippets = snippets
        self._index = SearchIndex()
        self.observations = Observations()
        self._reading: threading.Thread | None = None
        self._changed_since = False
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []
        self.connectors: dict[str, Connector] = {}
        for connector in connectors:
            other = self.connectors.setdefault(connector.name, connector)
            if other is not connector:
                raise NameCollision(
                    f"two connectors are called `{connector.name}`: {other!r} and {connector!r}. "
                    'Give one of them another name: of functions, as_connector(FUNCTIONS, "NAME")'
                )
        self._targets = Targets(self.connectors)

    def resolve(self, connector: str, method: str, *, hinted: bool = True) -> tuple[Connector, Method]:
        """Any spelling of a connector and a method. Raises CallError `unknown_tool`, if `hinted` with near names.

        What is denied is found as well: that it may not be called is the host's to say.
        """
        return self._targets.method(connector, method, hinted=hinted)

    def capabilities(self) -> dict[str, list[str]]:
        """The Python names that scripts are given: of each connector, its methods. Without what is denied."""
        return {name: list(offering(connector).methods) for name, connector in self.connectors.items()}

    def granted(self) -> dict[str, dict[str, object]]:
        """The capabilities as the guest takes them: `{connector: {"methods": "a b", "aliases": '{"A": "a"}'}}`.

        `"aliases"` is left out where there are none. `"open": True` is there where the connector may change under way,
        so that a name which is not among these is asked for all the same.
        """
        return {
            name: {**offering(connector).granted, **_openness(connector)} for name, connector in self.connectors.items()
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

    def follow(self) -> None:
        """Read everything soon, and again whenever a connector says that its methods have changed."""
        for connector in self.connectors.values():
            followed = ungoverned(connector)
            if isinstance(followed, _Changing):
                followed.on_change(self._changed)
        self.refresh_soon()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have a function called, on any thread, whenever what a connector offers has changed; `follow` begins that."""
        self._listeners.append(listener)

    def refresh_soon(self) -> None:
        """Read on a thread what has changed, so that no search has to wait for it. Returns at once."""
        with self._lock:
            self._changed_since = True
            if self._reading is None:
                self._reading = threading.Thread(target=self._read, name="isolith-search", daemon=True)
                self._reading.start()

    def listing(self, budget_tokens: int = DEFAULT_BUDGET, pinned: Iterable[str] = ()) -> Listing:
        """What a model is told before it asks for more: at most so many tokens, pinned paths before all others.

        Raises CallError for a budget that is no whole number.
        """
        _check("catalog", "budget_tokens", budget_tokens, _is_whole(budget_tokens, 0), "a whole number, 0 or more")
        return list_all(self.connectors.values(), budget_tokens, pinned=pinned)

    def describe(
        self,
        target: str | list[str] | None = None,
        detail: Detail = "signature",
        budget_tokens: int | None = None,
    ) -> Description:
        """A connector, a method, a type of one or a snippet by path; several at once; or the whole catalogue.

        The text is within `budget_tokens`, else within what is usual for the detail. Raises CallError `unknown_tool`,
        with the nearest names, where there is no such thing; among several that is said in the text.
        """
        details = get_args(Detail)
        _check("describe", "detail", detail, detail in details, f"one of {one_of(details)}")
        fits = budget_tokens is None or _is_whole(budget_tokens, 1)
        _check("describe", "budget_tokens", budget_tokens, fits, "a whole number, 1 or more")
        if target is None:
            return describe_all(self.connectors.values(), detail, budget_tokens)
        if not isinstance(target, list):
            _check("describe", "target", target, _is_text(target), _TEXT)
            return self._described(target, detail, budget_tokens)
        listed = 0 < len(target) <= MAX_TARGETS and all(map(_is_text, target))
        _check("describe", "target", target, listed, f"1 to {MAX_TARGETS} paths, each {_TEXT}")
        most = BUDGETS[detail] * min(len(target), 3) if budget_tokens is None else budget_tokens
        return describe_several((self._said(path, detail, most // len(target)) for path in target), most)

    def _said(self, path: str, detail: Detail, budget: int) -> Description | str:
        try:
            return self._described(path, detail, max(budget, 1))
        except CallError as error:
            return f"{path}: {error}{f'; {error.hint}' if error.hint else ''}"

    def _described(self, path: str, detail: Detail, budget: int | None) -> Description:
        if path.strip() == SNIPPETS and SNIPPETS not in self.connectors:
            every = [describe_snippet(snippet, detail) for snippet in self._snippets()]
            return describe_several(every or ["there are no snippets"], budget or BUDGETS[detail])
        snippet = self._snippet(path)
        if snippet is not None:
            return describe_snippet(snippet, detail, budget)
        found = self._targets.find_or_type(path)
        if found.method is None:
            learnt = self.observations.of(found.connector.name)
            return describe_connector(found.connector, detail, budget, learnt)
        if found.rest and found.rest not in found.method.variants:
            declared = describe_type(found.connector, found.method, found.rest, detail, budget)
            if declared is None:
                raise no_such_type(found)
            return declared
        learnt_of_it = self.observations.of(found.connector.name).get(found.method.name)
        return describe_method(found.connector, found.method, detail, budget, learnt_of_it)

    def _snippet(self, path: str) -> Snippet | None:
        first, _, name = path.strip().removeprefix("tools.").partition(".")
        if first != SNIPPETS or not name or SNIPPETS in self.connectors:
            return None
        known = {snippet.name: snippet for snippet in self._snippets()}
        found = names.resolve(name, {name: name for name in known})
        if found is None:
            raise CallError("unknown_tool", f"there is no snippet `{name}`", hint=other(name, known, f"{SNIPPETS}."))
        return known[found]

    def _changed(self, _: object) -> None:
        self.refresh_soon()
        for listener in tuple(self._listeners):
            listener()

    def _read(self) -> None:
        """Until nothing has changed since the last reading began."""
        try:
            while self._more_to_read():
                self._refresh()
        except BaseException:
            self._reading = None  # the next change begins anew
            raise

    def _more_to_read(self) -> bool:
        with self._lock:
            more, self._changed_since = self._changed_since, False
            if not more:
                self._reading = None
            return more

    def _refresh(self) -> None:
        self._index.refresh(list(self.connectors.values()), self._snippets())

    def _scope(self, name: object) -> str:
        return SNIPPETS if name == SNIPPETS and SNIPPETS not in self.connectors else self._targets.connector(name).name

    def _exact(self, query: str, scope: Scope) -> list[Hit]:
        """What a path leads to, where the query is one."""
        if not {".", "["} & set(query):
            return []
        try:
            found = self._targets.find(query)
        except CallError:
            return []
        return [] if found.rest else exact(found.connector, found.method, scope)


def _openness(connector: Connector) -> dict[str, object]:
    return {"open": True} if may_change(connector) else {}


def _page(found: list[Hit], limit: int, offset: int) -> SearchPage:
    page = [hit.shown() for hit in found[offset : offset + limit]]
    remaining = max(0, len(found) - offset - limit)
    return SearchPage(page, remaining, offset + limit if remaining else None)


def _check(function: str, name: str, value: object, fits: object, expected: str) -> None:
    if not fits:
        raise CallError("invalid_arguments", f"{function}: `{name}`: expected {expected}, was given {brief(value):.80}")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_QUERY


def _is_whole(value: object, low: int, high: int | None = None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low and (high is None or value <= high)
