"""How long one call may take: `call_s` since it last showed progress, and `call_cap_s` in all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.budgets import Budgets
    from isolith.calling.use import Use
    from isolith.events import EventLog

    Perform = Callable[["Use", Callable[..., None]], Awaitable[object]]


async def within_time(use: Use, budgets: Budgets, events: EventLog, perform: Perform) -> object:
    """Make a call. Its progress is an event. Raises CallError `tool_timeout`, and whatever `perform` raises."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    limit = asyncio.timeout(min(budgets.call_s, budgets.call_cap_s))

    def note(parts: dict[str, object]) -> None:
        if use.open and not limit.expired():
            limit.reschedule(min(loop.time() + budgets.call_s, begun + budgets.call_cap_s))
            events.append("progress", call_id=use.call_id, **parts)

    def progress(done: float, total: float | None = None, text: str | None = None) -> None:
        parts: dict[str, object] = {"done": done, "total": total, "text": text}
        if _in_loop(loop):
            note(parts)
        else:
            loop.call_soon_threadsafe(note, parts)

    try:
        async with limit:
            return await perform(use, progress)
    except TimeoutError:
        if not limit.expired():
            raise
        took = loop.time() - begun
        message = f"{'.'.join(use.names)} gave no answer in {took:.3g} s"
        name = "call_cap_s" if took >= budgets.call_cap_s else "call_s"
        hint = f"ask for less at a time; `{name}` is the budget of a call"
        raise CallError("tool_timeout", message, hint=hint, retriable=True) from None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        # Nobody gave this call up: its connector let out the cancellation of something of its own. The script waits.
        raise CallError("tool_error", f"{'.'.join(use.names)} was cancelled from within") from error


def _in_loop(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False
