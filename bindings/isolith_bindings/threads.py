"""Blocking functions off the event loop, each in a thread of its own.

The threads are daemons, which those of a pool are not: a function that never returns must not keep the process alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
import weakref
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Threads:
    """At most `limit` threads in each event loop; further calls wait in order.

    A call that is cancelled is abandoned: its thread goes on and takes up its place until it ends. Nobody waits for its
    result then; `late` is told of it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._places: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    async def run(self, function: Callable[[], T], name: str, late: Callable[[T], None] | None = None) -> T:
        """The function's result, or what it raised. It sees the context variables of the caller."""
        loop = asyncio.get_running_loop()
        places = self._places.setdefault(loop, asyncio.Semaphore(self._limit))
        context = contextvars.copy_context()
        answer: asyncio.Future[T] = loop.create_future()

        def deliver(settle: Callable[[Any], None], result: object) -> None:
            places.release()
            if not answer.done():
                settle(result)
            elif late is not None and settle == answer.set_result:
                late(cast("T", result))

        def work() -> None:
            outcome: tuple[Callable[[Any], None], object]
            try:
                outcome = answer.set_result, context.run(function)
            except BaseException as error:  # noqa: BLE001 - carried to the caller, whatever it is
                outcome = answer.set_exception, error
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(deliver, *outcome)

        await places.acquire()
        try:
            threading.Thread(target=work, name=name, daemon=True).start()
        except BaseException:
            places.release()
            raise
        return await answer
