"""What to try instead, for the mistakes that models make."""

from __future__ import annotations

import builtins
import difflib
import re
from types import TracebackType

from isolith_runtime.guest.where import SCRIPT

_ELSEWHERE = {
    "console": "use print(...)",
    "JSON": "use the json module: json.dumps(...), json.loads(...)",
    "Promise": "use asyncio.gather(...)",
    "undefined": "use None",
    "null": "use None",
    "true": "use True",
    "false": "use False",
    "const": "leave it out: Python has no `const`",
    "Math": "use the math module, or round(), max(), min()",
    "fetch": "there is no network here: call a connector",
    "require": "use import",
    "requests": "there is no network here: call a connector",
    "httpx": "there is no network here: call a connector",
    "help": "use describe(...)",
}
_STDLIB = frozenset("json re math datetime time random collections itertools functools statistics uuid csv io".split())
_MAX_LISTED = 20
_MAX_COMPARED = 2000
_MAX_NAME = 100
_VALUES = (
    "in a script that never says `await` a call gives its value: use it as it is; "
    "to let calls overlap, write `await asyncio.gather(...)`"
)
_NOT_HERE = "only the standard library is here; reach anything else through a connector"


def hint_for(error: BaseException) -> str | None:  # noqa: PLR0911 - one line a class
    """The hint for an uncaught exception, or None."""
    if isinstance(error, NameError):
        return _name_hint(error)
    if isinstance(error, ModuleNotFoundError):
        return _and_connectors(_NOT_HERE, error) if " is not " not in str(error) else None
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        return "a script ends with its last expression or `return`"
    if isinstance(error, RecursionError):
        return "use a loop, or a list as a stack"
    if isinstance(error, MemoryError):
        return "work on less at a time, or let a connector do it; `memory_mb` is the budget"
    if type(error).__name__ == "OperationalError" and "unable to open database" in str(error):
        return "there is no file system here: use sqlite3.connect(':memory:')"
    if isinstance(error, TypeError):
        return _type_hint(error)
    if isinstance(error, AttributeError):
        return _attribute_hint(error)
    if isinstance(error, KeyError):
        return _key_hint(error)
    return None


def _globals_of(tb: TracebackType | None) -> dict[str, object]:
    scope: dict[str, object] = {}
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == SCRIPT:
            scope = {**tb.tb_frame.f_globals, **tb.tb_frame.f_locals}
        tb = tb.tb_next
    return scope


def _name_hint(error: NameError) -> str | None:
    name = error.name or ""
    if name in _ELSEWHERE:
        return f"this is {'a script' if name == 'help' else 'Python'}: {_ELSEWHERE[name]}"
    scope = _globals_of(error.__traceback__)
    known = [n for n in [*scope, *dir(builtins)] if isinstance(n, str) and not n.startswith("__")]
    close = _closest(name, known, 0.7)
    if name in _STDLIB:
        return f"write `import {name}` first"
    if close:
        return _and_connectors(f"did you mean `{close[0]}`?", error)
    return _and_connectors("", error)


def _closest(name: str, known: list[str], alike: float) -> list[str]:
    """The name that looks most like this one, or none; a script may have made a million of them."""
    return difflib.get_close_matches(name[:_MAX_NAME], known[:_MAX_COMPARED], 1, alike)


def _and_connectors(hint: str, error: BaseException) -> str | None:
    """The hint, and which connectors are there without an import."""
    tools = _globals_of(error.__traceback__).get("tools")
    names = ", ".join(dir(tools)[:_MAX_LISTED]) if tools is not None else ""
    return "; ".join(filter(None, [hint, names and f"the connectors of this run: {names}"])) or None


def _type_hint(error: TypeError) -> str | None:
    text = str(error)
    if "can't be awaited" in text or "can't be used in 'await' expression" in text:
        return "leave out `await`: this is a value already"
    if "PendingCall" in text or "coroutine'" in text:
        return "write `await` before the call"
    if "unhashable" in text or "coroutine or an awaitable is required" in text:
        return _gather_hint(error)
    if "object is not callable" in text and "input" in _names_at(error):
        return "`input` is the caller's data, not a function; nobody is there to ask"
    return None


def _gather_hint(error: TypeError) -> str | None:
    """In a script that never says `await` calls give values, and there is nothing to gather."""
    if _names_at(error) & {"gather", "wait", "wait_for", "as_completed", "create_task", "run_until_complete"}:
        return _VALUES
    return None


def _names_at(error: BaseException) -> set[str]:
    """The names that the script's failing code uses."""
    found: set[str] = set()
    tb = error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == SCRIPT:
            found = set(tb.tb_frame.f_code.co_names)
        tb = tb.tb_next
    return found


def _attribute_hint(error: AttributeError) -> str | None:
    obj, name = error.obj, error.name
    if isinstance(obj, dict) and name in obj:
        return f"this is a dict: write [{name!r}]"
    if isinstance(obj, dict):
        return f"this is a dict with the keys: {', '.join(map(str, list(obj)[:20]))}"
    if isinstance(obj, list) and name in {"length", "push", "map", "filter", "forEach", "includes"}:
        return "this is Python: len(x), x.append(y), [f(y) for y in x], y in x"
    if obj is not None and name:
        close = _closest(name, dir(obj), 0.7)
        return f"did you mean `.{close[0]}`?" if close else None
    return None


def _key_hint(error: KeyError) -> str | None:
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or not error.args or not isinstance(error.args[0], str):
        return None
    wanted = error.args[0]
    for name, value in tb.tb_frame.f_locals.items():
        # `__builtins__` is a dict that a script has not made.
        if isinstance(value, dict) and not name.startswith("__") and 0 < len(value) <= 200 and wanted not in value:
            close = _closest(wanted, [k for k in value if isinstance(k, str)], 0.6)
            if close and re.fullmatch(r"[\w .-]+", close[0]):
                return f"did you mean {close[0]!r}?"
    return None
