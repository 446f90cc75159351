"""What to try instead where a call is awaited that is none, or not awaited, or not in time."""

from __future__ import annotations

import re
from asyncio import CancelledError

from isolith_runtime.guest.tracebacks import awaits, names_used, raised_in

_VALUES = (
    "in a script that never says `await` a call gives its value: use it as it is; "
    "to let calls overlap, write `await asyncio.gather(...)`"
)
_ONE_BY_ONE = (
    "asyncio.gather takes calls one by one, not a list of them, and none that was awaited: "
    "write `await asyncio.gather(*[...])`"
)
_SEVERAL = "for several calls write `await asyncio.gather(*[...])`; leave out `await` where these are values already"
_CONTAINER = re.compile(r"'(list|tuple|set|generator)'")
_TAKERS = frozenset({"gather", "wait", "wait_for", "as_completed", "create_task", "run_until_complete"})


def waiting_hint(error: TypeError) -> str | None:
    """Of a TypeError about an awaitable, or the lack of one."""
    text = str(error)
    if "can't be awaited" in text or "can't be used in 'await' expression" in text:
        return _SEVERAL if _CONTAINER.search(text) else "leave out `await`: this is a value already"
    if "PendingCall" in text or "coroutine'" in text:
        return "write `await` before the call"
    if "unhashable" not in text and "coroutine or an awaitable is required" not in text:
        return None
    if awaits(error):
        return _ONE_BY_ONE if raised_in(error, "gather") else None
    return _VALUES if names_used(error) & _TAKERS else None


def timeout_hint(error: TimeoutError, _line: str) -> str | None:
    """Of a time that the script itself has set."""
    if not isinstance(error.__cause__, CancelledError):
        return None  # a tool's
    waiting = raised_in(error, "wait_for")
    timeout = waiting.f_locals.get("timeout") if waiting is not None else None
    if isinstance(timeout, (int, float)):
        return f"the script's own timeout of {timeout:g} s passed: wait longer, or ask for less at a time"
    return "the script's own timeout passed: wait longer, or ask for less at a time"
