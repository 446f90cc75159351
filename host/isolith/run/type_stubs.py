"""A script and the tools that it names, as files that a type checker reads.

Only the methods whose names are words of the script are written: a checker reads what it is given, and that is most of
the time it takes. A stub is made once for a method.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from isolith_bindings.names import GUEST_GLOBALS
from isolith_bindings.offering import offering
from isolith_bindings.provenance import is_native
from isolith_bindings.schema.stubs import PRELUDE, Subject, stub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.connector import Connector, Method
    from isolith_bindings.schema.stubs import Stub

SCRIPT = "__isolith_script.py"
FIRST = "from __isolith import *\n"
"""Before the script, on lines of its own."""
_ANYTHING = "def __getattr__(name: str) -> Any: ...\n"
_WORD = re.compile(r"\w+")
_MAX_KEPT = 1_000
_kept: dict[tuple[int, bool, bool, bool], tuple[Method, str]] = {}
"""Stubs by the identity of their method, which is held so that it stays one."""


def named_connectors(text: str, connectors: Mapping[str, Connector]) -> list[str]:
    """Those that a script may name."""
    words = set(_WORD.findall(text))
    # A module of that name would stand before Python's own in the stubs, too.
    return [name for name in connectors if name in words and name not in sys.stdlib_module_names]


def imports_namesake(text: str, connectors: Mapping[str, Connector]) -> bool:
    """Whether a script imports a module that a connector is called like: it has both, which no stub can say."""
    namesakes = connectors.keys() & sys.stdlib_module_names
    lines = [line for line in text.splitlines() if "import" in line] if namesakes else []
    return any(not namesakes.isdisjoint(_WORD.findall(line)) for line in lines)


def files(text: str, connectors: Mapping[str, Connector], *, synchronous: bool) -> Iterator[tuple[str, str]]:
    """Names and contents: the script, its globals, and a module for each connector and each method."""
    words = set(_WORD.findall(text))
    named = named_connectors(text, connectors)
    anything = (GUEST_GLOBALS - {"ToolError", "print", "asyncio"}) | (connectors.keys() & sys.stdlib_module_names)
    known = [f"{name}: Any" for name in sorted(anything)]
    imports = [f"import {name} as {name}" for name in ("asyncio", *named)]
    error = "class ToolError(Exception):\n    def __getattr__(self, name: str) -> Any: ..."
    yield "__isolith.pyi", "\n".join(["from typing import Any", *imports, *known, error, ""])
    yield SCRIPT, f"{FIRST}{text}"
    for name in named:
        varied = not words.isdisjoint({"raw", "pages"})
        methods = [method for method in offering(connectors[name]).methods.values() if method.name in words]
        native = is_native(connectors[name])
        yield f"{name}.pyi", _module(name, methods)
        for method in methods:
            if method.name.isidentifier():
                yield (
                    f"__{name}_{method.name}.pyi",
                    _function(method, native=native, synchronous=synchronous, varied=varied),
                )


def _module(connector: str, methods: Iterable[Method]) -> str:
    """A connector as a module: each method from a module of its own, so that no two types share a name."""
    lines = [
        f"from __{connector}_{method.name} import {method.name} as {method.name}"
        for method in methods
        if method.name.isidentifier()
    ]
    return "\n".join(["from typing import Any", *lines, _ANYTHING])


def _function(method: Method, *, native: bool, synchronous: bool, varied: bool) -> str:
    """The stub of one method. `native`: what it answers keeps its Python types, a date is no text.

    `varied`: with `.raw` and `.pages`, which no function has. Of others a checker speaks more plainly.
    """
    key = (id(method), native, synchronous, varied and bool(method.variants))
    kept = _kept.get(key)
    if kept is not None and kept[0] is method:
        return kept[1]
    written = stub(Subject(method.name, method.parameters, method.returns, native=native, lenient=True))
    text = _variants(written, method, synchronous=synchronous) if key[-1] else written.text
    if synchronous:  # there a call gives its value
        text = text.replace(f"async def {method.name}(", f"def {method.name}(").replace(
            "async def __call__(", "def __call__("
        )
    made = f"{PRELUDE}{text}\n"
    if len(_kept) >= _MAX_KEPT:
        _kept.clear()
    _kept[key] = (method, made)
    return made


def _variants(written: Stub, method: Method, *, synchronous: bool) -> str:
    """A method as an object that can be called in more ways than one."""
    lines = [written.function.replace(f"def {method.name}(", "def __call__(self, ", 1).replace("(self, )", "(self)", 1)]
    if "raw" in method.variants:
        lines.append(f"{'' if synchronous else 'async '}def raw(self, *one: Any, **named: Any) -> Any: ...")
    if "pages" in method.variants:
        lines.append("def pages(self, *one: Any, **named: Any) -> _Pages: ...")
    walk = [f"def __aiter__(self) -> _AsyncIterator[{written.item}]: ..."]
    if synchronous:
        walk.append(f"def __iter__(self) -> _Iterator[{written.item}]: ...")
    return "\n".join(
        [
            "from collections.abc import AsyncIterator as _AsyncIterator, Iterator as _Iterator",
            *written.types.values(),
            "class _Pages:",
            *(f"    {line}" for line in walk),
            "class _Method:",
            *(f"    {line}" for text in lines for line in text.splitlines()),
            f"{method.name}: _Method",
        ]
    )
