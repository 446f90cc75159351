"""What a script reaches: connectors as globals, their methods as callables.

The guest holds names only, which decide nothing: a call to any of them is judged outside.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from isolith_runtime.guest.calls import Caller
from isolith_runtime.guest.names import Names, fold, nearest
from isolith_runtime.guest.toolerror import InvalidArguments, UnknownTool


class Method:
    """One method, or the beginning of a dotted name."""

    def __init__(self, caller: Caller, connector: str, names: Names, name: str) -> None:
        self._parts = (caller, connector, names, name)

    def __call__(self, /, *arguments: object, **named: object) -> object:
        caller, connector, names, name = self._parts
        method = names.asked(name)
        if method is None:
            raise unknown(connector, name, names)
        return caller.call(connector, method, one_mapping(f"{connector}.{method}", arguments, named))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        caller, connector, names, prefix = self._parts
        longer = f"{prefix}.{name}"
        if names.resolve(longer) is None and not names.has_prefix(longer):
            method = names.asked(prefix)
            if name in VARIANTS and method is not None:
                return VARIANTS[name](caller, connector, method)
            if not names.open:
                raise unknown(connector, longer, names)
        return Method(caller, connector, names, longer)

    def __getitem__(self, name: str) -> Any:
        return self.__getattr__(name)

    def __repr__(self) -> str:
        return f"<method {self._parts[1]}.{self._parts[3]}>"

    @property
    def _path(self) -> str:
        return f"{self._parts[1]}.{self._parts[3]}"

    @property
    def __no_data_form__(self) -> str:
        return f"is the method {self._path}, which has no data form: call it, {self._path}(...)"


def _raw(caller: Caller, connector: str, method: str) -> Callable[..., object]:
    """The method as the other side answers it."""

    def raw(*arguments: object, **named: object) -> object:
        return caller.call(connector, f"{method}.raw", one_mapping(f"{connector}.{method}", arguments, named))

    return raw


def _pages(caller: Caller, connector: str, method: str) -> Callable[..., Pages]:
    """The items of all pages of the method."""

    def pages(*arguments: object, **named: object) -> Pages:
        return Pages(caller, (connector, method), one_mapping(f"{connector}.{method}", arguments, named))

    return pages


VARIANTS: dict[str, Callable[[Caller, str, str], Callable[..., object]]] = {"raw": _raw, "pages": _pages}
"""Other ways to use a method. Whether it can be used so is decided outside, as for any call."""


class Pages:
    """The items of every page, one after another: `async for`, or `for` in a synchronous script. One call a page."""

    def __init__(self, caller: Caller, path: tuple[str, str], arguments: dict[str, object]) -> None:
        self._caller, self._path, self._arguments = caller, path, arguments

    def _ask(self, cursor: object) -> Any:
        connector, method = self._path
        return self._caller.call(connector, f"{method}.pages", {"arguments": self._arguments, "cursor": cursor})

    async def __aiter__(self) -> AsyncIterator[object]:
        cursor = None
        while True:
            page = self._ask(cursor)
            page = page if self._caller.synchronous else await page
            for item in page["items"]:
                yield item
            cursor = page["cursor"]
            if cursor is None:
                return

    def __iter__(self) -> Iterator[object]:
        if not self._caller.synchronous:
            raise TypeError(f"{'.'.join(self._path)}.pages(...) is walked with `async for item in ...`")
        cursor = None
        while True:
            page = self._ask(cursor)
            yield from page["items"]
            cursor = page["cursor"]
            if cursor is None:
                return

    @property
    def __no_data_form__(self) -> str:
        return f"is {'.'.join(self._path)}.pages(...), not its items: [item async for item in ...]"


class Connector:
    """A connector's methods, as attributes or in brackets, under every spelling that tells them apart."""

    def __init__(self, caller: Caller, name: str, names: Names) -> None:
        self._name = name
        self._names = names
        self._caller = caller

    def __getattr__(self, name: str) -> Method:
        if name.startswith("__"):
            raise AttributeError(name)
        if not self._names.leads(name):
            raise unknown(self._name, name, self._names)
        return Method(self._caller, self._name, self._names, name)

    def __getitem__(self, name: str) -> Method:
        return self.__getattr__(name)

    def __dir__(self) -> list[str]:
        return sorted(self._names.methods)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names.methods))

    @property
    def _path(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<connector {self._name}: {', '.join(sorted(self._names.methods)[:20])}>"

    @property
    def __no_data_form__(self) -> str:
        return f"is the connector {self._name}, which has no data form: call one of its methods"


class Tools:
    """All connectors of the run: `tools.crm` and `tools["crm"]`."""

    def __init__(self, connectors: dict[str, Connector]) -> None:
        self._connectors = connectors

    def __getattr__(self, name: str) -> Connector:
        if name.startswith("__"):
            raise AttributeError(name)
        return find_connector(self._connectors, name)

    def __getitem__(self, name: str) -> Connector:
        return find_connector(self._connectors, name)

    def __dir__(self) -> list[str]:
        return sorted(self._connectors)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._connectors))

    def __repr__(self) -> str:
        return f"<tools: {', '.join(sorted(self._connectors))}>"

    @property
    def __no_data_form__(self) -> str:
        return "is `tools`, which has no data form: call a method of one of its connectors, or search(...)"


def find_connector(connectors: dict[str, Connector], name: str) -> Connector:
    """The connector of that name in any spelling. Raises `UnknownTool`."""
    found = connectors.get(name)
    if found is None:
        alike = [known for known in connectors if fold(known) == fold(name)]
        if len(alike) != 1:
            close = nearest(name, list(connectors))
            known = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(sorted(connectors))}"
            raise UnknownTool(
                f"there is no connector {name!r} in this run",
                connector=name,
                kind="unknown_tool",
                hint=known if connectors else "this run has no connectors",
            )
        found = connectors[alike[0]]
    return found


def unknown(connector: str, name: str, names: Names, *, imported: bool = False) -> UnknownTool:
    """The error of a spelling that leads to no method of a connector."""
    return UnknownTool(
        f"{connector} has no method {name!r}",
        connector=connector,
        method=name,
        kind="unknown_tool",
        hint=names.near(connector, name, imported=imported),
    )


def one_mapping(tool: str, arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
    """The arguments of a call: those by name, or the one dict in their place. Raises InvalidArguments."""
    if not arguments:
        return named
    [first, *more] = arguments
    if more or named or not isinstance(first, dict) or not all(isinstance(key, str) for key in first):
        connector, _, method = tool.partition(".")
        raise InvalidArguments(
            f"{tool} takes keyword arguments, or one dict: {tool}(name=value) or {tool}({{'name': value}})",
            connector=connector,
            method=method,
            kind="invalid_arguments",
        )
    return dict(first)


def connectors_for(caller: Caller, granted: dict[str, dict[str, Any]]) -> dict[str, Connector]:
    """The connectors of a run, from what the host granted: the arguments of `Names` by connector."""
    return {name: Connector(caller, name, Names(**parts)) for name, parts in granted.items()}
