"""What is around every script: the names it has, the modules it can import, and what to write for what is not there.

The words are those of the guest, which says the same at run time; a test holds the two together.
"""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

from isolith_bindings.closest import closest
from isolith_bindings.names import GUEST_GLOBALS

if TYPE_CHECKING:
    from collections.abc import Iterable

# The host's Python may be older than the guest's, and its `site` adds names that no script has.
BUILTINS = frozenset(dir(builtins)) - {"help", "copyright", "credits", "license", "_"} | {
    "exit",
    "quit",
    "PythonFinalizationError",
    "__name__",
    "__builtins__",
    # Inside a class.
    "__class__",
    "__module__",
    "__qualname__",
}
_NEWER_MODULES = frozenset({"annotationlib", "compression", "pathlib", "string", "tomllib", "isolith_runtime"})
_NO_NETWORK = "there is no network here: call a connector"
NO_FILES = "there is no file system here: take data from `input`, keep bytes with artifact(...), or call a connector"
NO_PROCESSES = "there are no processes here: call a connector"
PROCESSES = frozenset({"subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_output"})
NOBODY_TO_ASK = "`input` is the caller's data, not a function; nobody is there to ask"
NOT_AWAITED = "write `await` before the call"
VALUE_ALREADY = "leave out `await`: this is a value already"
SEVERAL_CALLS = (
    "for several calls write `await asyncio.gather(*[...])`; leave out `await` where these are values already"
)
ONE_BY_ONE = (
    "asyncio.gather takes calls one by one, not a list of them, and none that was awaited: "
    "write `await asyncio.gather(*[...])`"
)
CALLS_GIVE_VALUES = (
    "in a script that never says `await` a call gives its value: use it as it is; "
    "to let calls overlap, write `await asyncio.gather(...)`"
)
_ONLY_STANDARD = "only the standard library is here; reach anything else through a connector"
_INSTALLING = "nothing can be installed here: the standard library and the connectors are what there is"
_JAVASCRIPT = "there is no JavaScript here: this is CPython without a browser"
ABSENT = {
    **dict.fromkeys(("requests", "httpx", "aiohttp", "urllib3"), _NO_NETWORK),
    **dict.fromkeys(("micropip", "pip", "ensurepip", "venv", "site"), _INSTALLING),
    **dict.fromkeys(("js", "pyodide"), _JAVASCRIPT),
    "numpy": "use the statistics and math modules, or a connector",
    "pandas": "use csv, json, collections and statistics, or a connector",
    "lib2to3": "it is not part of Python any more",
    "multiprocessing": NO_PROCESSES,
}
"""Modules that models try and that are refused with a reason."""
_NOT_THERE = frozenset(
    "ctypes dbm curses readline termios tty pty tkinter turtle turtledemo idlelib webbrowser antigravity grp pwd "  # noqa: SIM905
    "msvcrt nt winreg winsound resource syslog pydoc_data this isolith_runtime".split()
)
"""Those of Python's own that no script has, either."""

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
BY_NAME = frozenset({"call_tool", "callTool", "use_tool", "execute_tool", "invoke_tool", "use_mcp_tool"})
"""Functions that models call a tool through, by its name. There are none of them."""
_BY_NAME = "a method is called by its own name: write `{}`"
_CALLING = {
    **dict.fromkeys(("functions", "default_api"), "leave it out: connectors are there under their own names"),
    **dict.fromkeys(BY_NAME, _BY_NAME.format("await CONNECTOR.METHOD(NAME=VALUE)")),
}
"""Of which the guest says no more than that they are not there."""
_STDLIB = frozenset("json re math datetime time random collections itertools functools statistics uuid csv io".split())  # noqa: SIM905
_MAX_LISTED = 20
_MAX_NAME = 100


def is_there(module: str) -> bool:
    """Whether a module of this name may be importable; False only where it certainly is not."""
    top = module.partition(".")[0]
    if module in ABSENT or top in ABSENT:
        return False
    return top in sys.stdlib_module_names or top in _NEWER_MODULES or top.startswith("_")


def is_namesake(connector: str) -> bool:
    """Whether a connector is called like a module that a script could import."""
    return not connector.startswith("_") and connector not in _NOT_THERE and is_there(connector)


def by_name_hint(call: str, *, synchronous: bool) -> str:
    """What to write for a method that is called through a function which is not there."""
    return _BY_NAME.format(call if synchronous else f"await {call}")


def key_hint(name: str) -> str:
    """What to write for a name that nothing binds and that is a key of a dict."""
    return f"a key of a dict that is text stands in quotes: {{{name!r}: ...}}"


def import_failure(module: str) -> str:
    """What Python says of a module that is not there."""
    top = module.partition(".")[0]
    if top in ABSENT:
        return f"ModuleNotFoundError: {top} is not available: {ABSENT[top]}"
    return f"ModuleNotFoundError: No module named {top!r}"


def import_hint(module: str, connectors: Iterable[str], meant: Iterable[str] = ()) -> str | None:
    """What to do without a module; None where its failure says so already. `meant`: tools meant by what it has."""
    paths = [f"`{path}`" for path in meant]
    if paths:
        return _and_connectors(f"tools need no import: write {' or '.join(paths)}", connectors)
    return None if module.partition(".")[0] in ABSENT else _and_connectors(_ONLY_STANDARD, connectors)


def name_hint(name: str, own: Iterable[str], connectors: Iterable[str], meant: Iterable[str] = ()) -> str | None:
    """What to write for a name that nothing binds. `own` are those that the script binds, `meant` tools meant by it."""
    if name in _CALLING:
        return _CALLING[name]
    if name in _ELSEWHERE:
        return f"this is {'a script' if name == 'help' else 'Python'}: {_ELSEWHERE[name]}"
    if name in _STDLIB:
        return f"write `import {name}` first"
    listed = list(connectors)
    paths = [f"`{path}`" for path in meant]
    if paths:
        return _and_connectors(f"did you mean {' or '.join(paths)}?", listed)
    known = [*own, *sorted(GUEST_GLOBALS), *listed, *sorted(BUILTINS)]
    close = closest(name[:_MAX_NAME], known, 1, 0.7)
    return _and_connectors(f"did you mean `{close[0]}`?" if close else "", listed)


def _and_connectors(hint: str, connectors: Iterable[str]) -> str | None:
    names = ", ".join(sorted(connectors)[:_MAX_LISTED])
    if names and hint.endswith("?"):
        return f"{hint} The connectors of this run: {names}"
    return "; ".join(filter(None, [hint, names and f"the connectors of this run: {names}"])) or None
