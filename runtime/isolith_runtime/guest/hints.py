"""What to try instead, for the mistakes that models make."""

from __future__ import annotations

import builtins
import difflib
import re
from types import TracebackType

from isolith_runtime.guest.capabilities import SCRIPT

_JAVASCRIPT = {
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
}
_NOT_HERE = "only the standard library is here; reach anything else through a connector"


def hint_for(error: BaseException) -> str | None:
    """The hint for an uncaught exception, or None."""
    if isinstance(error, NameError):
        return _name_hint(error)
    if isinstance(error, ModuleNotFoundError):
        return _NOT_HERE if " is not " not in str(error) else None
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        return "a script ends with its last expression or `return`"
    if isinstance(error, RecursionError):
        return "use a loop, or a list as a stack"
    if isinstance(error, MemoryError):
        return "work on less at a time, or let a connector do it; `memory_mb` is the budget"
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
    if name in _JAVASCRIPT:
        return f"this is Python: {_JAVASCRIPT[name]}"
    scope = _globals_of(error.__traceback__)
    known = [n for n in [*scope, *dir(builtins)] if isinstance(n, str) and not n.startswith("__")]
    close = difflib.get_close_matches(name, known, 1, 0.7)
    if close:
        return f"did you mean `{close[0]}`?"
    tools = scope.get("tools")
    connectors = dir(tools) if tools is not None else []
    return f"the connectors of this run: {', '.join(connectors)}" if connectors else None


def _type_hint(error: TypeError) -> str | None:
    text = str(error)
    if "can't be awaited" in text or "can't be used in 'await' expression" in text:
        return "leave out `await`: this is a value already"
    if "coroutine" in text:
        return "write `await` before the call"
    return None


def _attribute_hint(error: AttributeError) -> str | None:
    obj, name = error.obj, error.name
    if isinstance(obj, dict) and name in obj:
        return f"this is a dict: write [{name!r}]"
    if isinstance(obj, dict):
        return f"this is a dict with the keys: {', '.join(map(str, list(obj)[:20]))}"
    if isinstance(obj, list) and name in {"length", "push", "map", "filter", "forEach", "includes"}:
        return "this is Python: len(x), x.append(y), [f(y) for y in x], y in x"
    if obj is not None and name:
        close = difflib.get_close_matches(name, dir(obj), 1, 0.7)
        return f"did you mean `.{close[0]}`?" if close else None
    return None


def _key_hint(error: KeyError) -> str | None:
    tb = error.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or not error.args or not isinstance(error.args[0], str):
        return None
    wanted = error.args[0]
    for value in tb.tb_frame.f_locals.values():
        if isinstance(value, dict) and 0 < len(value) <= 200 and wanted not in value:
            close = difflib.get_close_matches(wanted, [k for k in value if isinstance(k, str)], 1, 0.6)
            if close and re.fullmatch(r"[\w .-]+", close[0]):
                return f"did you mean {close[0]!r}?"
    return None
