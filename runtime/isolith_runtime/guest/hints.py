"""What to try instead, for the mistakes that models make.

Each hint is a function of the exception and of the script's line that raised it. Those about the type of a value are in
`hints_of_types.py` and `hints_of_operands.py`, those about waiting in `hints_of_waiting.py`.
"""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Callable

from isolith_runtime.guest.hints_of_operands import format_hint
from isolith_runtime.guest.hints_of_types import NOT_BUILT, attribute_hint, key_hint, type_hint
from isolith_runtime.guest.hints_of_waiting import timeout_hint, waiting_hint
from isolith_runtime.guest.tracebacks import names_seen, script_frames

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
_IN_A_CLASS = "a comprehension in the body of a class does not see the names of the class: write a loop there"
_NOT_HERE = "only the standard library is here; reach anything else through a connector"

Hint = str | None


def hint_for(error: BaseException, line: str = "") -> Hint:
    """The hint for an uncaught exception that the text of that line raised, or None."""
    for kind, hint in _HINTS:
        if isinstance(error, kind):
            return hint(error, line)
    if type(error).__name__ == "OperationalError" and "unable to open database" in str(error):
        return "there is no file system here: use sqlite3.connect(':memory:')"
    return None


# names


def _name_hint(error: NameError, line: str) -> Hint:
    name = error.name or ""
    if name in _ELSEWHERE:
        return f"this is {'a script' if name == 'help' else 'Python'}: {_ELSEWHERE[name]}"
    if name in _STDLIB:
        return f"write `import {name}` first"
    if re.search(rf"[{{,]\s*{re.escape(name)}\s*:", line):
        return f"a key of a dict that is text stands in quotes: {{{name!r}: ...}}"
    seen = names_seen(error)
    if name in seen:
        return _IN_A_CLASS
    known = [n for n in [*seen, *dir(builtins)] if isinstance(n, str) and not n.startswith("__")]
    close = difflib.get_close_matches(name[:_MAX_NAME], known[:_MAX_COMPARED], 1, 0.7)  # a script may make a million
    return _and_connectors(f"did you mean `{close[0]}`?" if close else "", error)


def _unbound_hint(error: UnboundLocalError, _line: str) -> Hint:
    """An assignment anywhere in a function makes the name the function's own."""
    found = re.search(r"variable '(\w+)'", str(error))
    name = found[1] if found else ""
    if not name or not script_frames(error):
        return None
    *outer, inner = script_frames(error)
    if hasattr(inner.f_globals.get(name), "_path"):
        return f"`{name}` is the connector: give what is assigned here another name"
    if name in inner.f_globals:
        return f"say `global {name}` first in the function: an assignment makes `{name}` the function's own"
    if any(name in frame.f_code.co_varnames + frame.f_code.co_cellvars for frame in outer):
        return f"say `nonlocal {name}` first in the function: an assignment makes `{name}` the function's own"
    return f"assign `{name}` on every way that leads here"


def _and_connectors(hint: str, error: BaseException) -> Hint:
    """The hint, and which connectors are there without an import."""
    tools = names_seen(error).get("tools")
    names = ", ".join(dir(tools)[:_MAX_LISTED]) if tools is not None else ""
    if not names:
        return hint or None
    if hint.endswith("?"):
        return f"{hint} The connectors of this run: {names}"
    return "; ".join(filter(None, [hint, f"the connectors of this run: {names}"]))


def _module_hint(error: ModuleNotFoundError, _line: str) -> Hint:
    return _and_connectors(_NOT_HERE, error) if " is not " not in str(error) else None


def _import_hint(error: ImportError, _line: str) -> Hint:
    return NOT_BUILT.get(error.name_from or "")  # type: ignore[attr-defined] # of Python 3.12 and later


# what does not compile


def _syntax_hint(error: SyntaxError, line: str) -> Hint:
    if "outside async" not in error.msg and "outside of an async" not in error.msg:
        return None
    if re.search(r"\blambda\b", line):
        return "a lambda cannot await: write an `async def`, and `await` what it gives"
    return "write `async def` for a function that awaits, and `await` it where it is called"


# values, and waiting for them


def _type_hint(error: TypeError, line: str) -> Hint:
    return waiting_hint(error) or type_hint(error, line)


def _always(hint: str) -> Callable[[BaseException, str], Hint]:
    return lambda _error, _line: hint


_HINTS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], Callable[..., Hint]], ...] = (
    (UnboundLocalError, _unbound_hint),
    (NameError, _name_hint),
    (ModuleNotFoundError, _module_hint),
    (ImportError, _import_hint),
    ((KeyboardInterrupt, SystemExit), _always("a script ends with its last expression or `return`")),
    (RecursionError, _always("use a loop, or a list as a stack")),
    (MemoryError, _always("work on less at a time, or let a connector do it; `memory_mb` is the budget")),
    (SyntaxError, _syntax_hint),
    (TimeoutError, timeout_hint),
    (TypeError, _type_hint),
    (AttributeError, attribute_hint),
    (KeyError, key_hint),
    (ValueError, format_hint),
)
"""The first that fits is asked."""
