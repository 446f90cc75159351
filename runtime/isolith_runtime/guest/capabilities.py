"""What a script reaches: connectors as globals, their methods as callables, a call as an awaitable.

The guest holds names only. It can ask for a call; whether there is such a method and whether it may be used is decided
outside, on every call. A call is numbered and queued when it is made, so that calls made together overlap.
"""

from __future__ import annotations

import asyncio
import collections
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from typing import Any, NoReturn

from isolith_runtime.guest import channel, codec
from isolith_runtime.guest.loop import GuestLoop
from isolith_runtime.guest.names import Names, fold, nearest
from isolith_runtime.guest.toolerror import InvalidArguments, Place, ToolError, UnknownTool, make
from isolith_runtime.guest.where import script_frame

_MAX_UNSEEN = 1000
_FRAME = 500
"""Characters of a call's frame beside its arguments; the host measures them to the byte."""
_FEWER = "ask for more in one call, or have the host raise the budget `calls`"


class PendingCall(Coroutine[object, object, object]):
    """A call under way: await it, gather it, make it a task. Used as a value it says so, with its line."""

    def __init__(self, caller: Caller, tool: str, future: asyncio.Future[object], place: Place) -> None:
        self._caller = caller
        self._tool = tool
        self._future = future
        self._place = place
        self._waiting: Generator[object, None, object] | None = None
        self._awaited = False

    def __await__(self) -> Generator[object, None, object]:
        self._awaited = True
        return self._future.__await__()

    def send(self, value: object) -> object:
        """One step of waiting, as a task takes it."""
        if self._waiting is None:
            self._waiting = self.__await__()
        return self._waiting.send(value)  # type: ignore[arg-type]

    def throw(self, *error: Any) -> object:
        """An exception delivered while waiting, a cancellation for one."""
        if self._waiting is None:
            self._waiting = self.__await__()
        return self._waiting.throw(*error)

    def close(self) -> None:
        """Stop waiting."""
        if self._waiting is not None:
            self._waiting.close()

    @property
    def _line(self) -> int:
        return self._place[2]

    @property
    def __no_data_form__(self) -> str:
        return f"is the call {self._tool}(...) of line {self._line}, not its result: write `await {self._tool}(...)`"

    def _misused(self, *_arguments: object) -> NoReturn:
        raise TypeError(
            f"{self._tool}(...) was called on line {self._line} but not awaited: write `await {self._tool}(...)`"
        )

    __repr__ = __str__ = __format__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = _misused
    __enter__ = __exit__ = __aenter__ = __aexit__ = __aiter__ = __call__ = _misused
    __add__ = __radd__ = __sub__ = __mul__ = __lt__ = __gt__ = __le__ = __ge__ = __int__ = __float__ = _misused

    def __eq__(self, other: object) -> bool:
        return self is other or self._misused()  # not False: what it is compared with is its result

    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith(("_", "cr_", "gi_", "ag_")):  # what asyncio and inspect look for
            raise AttributeError(name)
        self._misused()


class Caller:
    """Makes the calls of one run and matches answers to them."""

    def __init__(self, loop: GuestLoop, *, synchronous: bool, limits: dict[str, Any]) -> None:
        self.loop = loop
        self.synchronous = synchronous
        self.limit: int = limits.get("calls", sys.maxsize)
        self._value_bytes: int = limits.get("value_bytes", sys.maxsize)
        self._argument_bytes: int = limits.get("argument_bytes", sys.maxsize)
        self.waiting: dict[int, PendingCall] = {}
        self.unseen: collections.deque[PendingCall] = collections.deque(maxlen=_MAX_UNSEEN)
        self._last = 0

    def call(
        self,
        connector: str,
        method: str,
        arguments: dict[str, object],
        then: Callable[[object], object] | None = None,
    ) -> object:
        """Queue one call. Its value in a synchronous script, else its awaitable; `then` makes of it what is given."""
        tool = f"{connector}.{method}" if connector else method
        try:
            encoded = codec.encode(arguments)
        except (codec.NoDataForm, codec.TooLarge) as error:
            reason = str(error).replace("the value at $.", "argument ") if str(error) else "are too large"
            raise InvalidArguments(
                f"{tool}: {reason}", connector=connector, method=method, kind="invalid_arguments"
            ) from None
        if self._last > self.limit:  # the host has refused one; it need not hear of the others
            message = f"this run may make {self.limit} calls, and has"
            raise ToolError(message, connector=connector, method=method, kind="calls_exceeded", hint=_FEWER)
        place = _script_place()
        frame = codec.to_text(["call", self._last + 1, connector, method, encoded, place[2]])
        most = self._argument_bytes if connector else self._value_bytes  # an artifact may be as large as a value
        if len(frame) > most + _FRAME:
            message = f"the arguments of {tool} are larger than {most:,} bytes"
            hint = "send less at a time, or an artifact's handle"
            raise InvalidArguments(message, connector=connector, method=method, kind="invalid_arguments", hint=hint)
        self._last += 1
        future = _CallFuture(self, self._last)
        channel.send_text(frame)
        self.waiting[self._last] = pending = PendingCall(self, tool, future, place)
        if not self.synchronous:
            return pending if then is None else _converted(pending, then)
        value = self.loop.wait_for(future)
        return value if then is None else then(value)

    @property
    def made(self) -> int:
        """How many calls were made."""
        return self._last

    def answer(self, number: int, value: object) -> None:
        """Deliver a result."""
        pending = self.waiting.pop(number, None)
        if pending is not None and not pending._future.done():
            pending._future.set_result(value)

    def fail(self, number: int, error: dict[str, object]) -> None:
        """Deliver a failure."""
        pending = self.waiting.pop(number, None)
        if pending is not None and not pending._future.done():
            exception = error.pop("exception", None)
            failed = make(str(error["kind"]), exception)(**error)  # type: ignore[arg-type]
            failed.place = pending._place
            pending._future.set_exception(failed)
            pending._future.exception()  # seen: what nobody awaits is reported by name and line, not by asyncio
            if not pending._awaited and not self.synchronous:
                self.unseen.append(pending)


class _CallFuture(asyncio.Future[object]):
    """The answer of one call; the host is told when the script gives it up."""

    def __init__(self, caller: Caller, number: int) -> None:
        super().__init__(loop=caller.loop)
        self._caller, self._number = caller, number

    def cancel(self, msg: object = None) -> bool:
        """Give the call up."""
        cancelled = super().cancel(msg)
        if cancelled:
            self._caller.waiting.pop(self._number, None)
            channel.send("cancel", self._number)
        return cancelled


async def _converted(pending: PendingCall, then: Callable[[object], object]) -> object:
    return then(await pending)


def is_call(coroutine: object) -> bool:
    """Whether what a task runs is a call, which is reported as such."""
    return isinstance(coroutine, PendingCall) or getattr(coroutine, "cr_code", None) is _converted.__code__


def _script_place() -> Place:
    frame = script_frame()
    return (_script_place.__code__, 0, 0) if frame is None else (frame.f_code, frame.f_lasti, frame.f_lineno)


class Method:
    """One method, or the beginning of a dotted name."""

    def __init__(self, caller: Caller, connector: str, names: Names, name: str) -> None:
        self._parts = (caller, connector, names, name)

    def __call__(self, /, *arguments: object, **named: object) -> object:
        caller, connector, names, name = self._parts
        method = names.asked(name)
        if method is None:
            raise _unknown(connector, name, names)
        return caller.call(connector, method, _one_mapping(f"{connector}.{method}", arguments, named))

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
                raise _unknown(connector, longer, names)
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
        return caller.call(connector, f"{method}.raw", _one_mapping(f"{connector}.{method}", arguments, named))

    return raw


def _pages(caller: Caller, connector: str, method: str) -> Callable[..., Pages]:
    """The method page by page."""

    def pages(*arguments: object, **named: object) -> Pages:
        return Pages(caller, (connector, method), _one_mapping(f"{connector}.{method}", arguments, named))

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
            raise _unknown(self._name, name, self._names)
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


def _unknown(connector: str, name: str, names: Names) -> UnknownTool:
    close = nearest(name, names.methods)
    listed = ", ".join(sorted(names.methods)[:20]) or "none"
    hint = f"did you mean {' or '.join(f'{connector}.{n}' for n in close)}?" if close else f"its methods: {listed}"
    return UnknownTool(
        f"{connector} has no method {name!r}", connector=connector, method=name, kind="unknown_tool", hint=hint
    )


def _one_mapping(tool: str, arguments: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
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
