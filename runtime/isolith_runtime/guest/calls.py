"""The calls of one run: numbered and queued when they are made, so that calls made together overlap; then answered.

The guest can ask for a call; whether there is such a method and whether it may be used is decided outside, every time.
"""

from __future__ import annotations

import asyncio
import collections
import sys
from collections.abc import Callable, Coroutine, Generator
from typing import Any, NoReturn

from isolith_runtime.guest import channel, codec
from isolith_runtime.guest.loop import GuestLoop
from isolith_runtime.guest.toolerror import InvalidArguments, Place, ToolError, make
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
