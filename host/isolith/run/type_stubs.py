"""A script and the tools that it names, as files that a type checker reads.

Only the methods whose names are words of the script are written: a checker reads what it is given, and that is most of
the time it takes. A stub is made once for a method.
"""

from __future__ import annotations

import builtins
import re
import sys
from dataclasses import replace
from keyword import iskeyword
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
_OR_NONE = re.compile(r" \| None\b")
"""Documents say of most fields that they may be null, and scripts rightly do not ask: it would be said of each line."""
_MAX_KEPT = 1_000
_MAX_PATH = 100
"""Bytes of a method's name that may be that of a file."""
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
    """Names and contents: the script, its globals, and a module for each connector, dotted prefix and method."""
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
        methods = _written_out(offering(connectors[name]).methods, words)
        native = is_native(connectors[name])
        yield from _modules(name, methods)
        for method in methods:
            written = _function(method, native=native, synchronous=synchronous, varied=varied)
            yield f"{_module_of(name, method.name)}.pyi", written


def _written_out(methods: Mapping[str, Method], words: set[str]) -> list[Method]:
    """Those whose names a script may have written, without what no module can hold: `a` where there is `a.b`."""
    found = {name: method for name, method in methods.items() if words.issuperset(name.split("."))}
    prefixes = {prefix for name in methods for prefix in _prefixes(name)}
    return [
        method
        for name, method in found.items()
        if all(part.isidentifier() and not iskeyword(part) for part in name.split("."))
        and name not in prefixes
        and methods.keys().isdisjoint(_prefixes(name))
        and len(name.encode()) <= _MAX_PATH
    ]


def _prefixes(path: str) -> list[str]:
    """`a.b.c` begins with `a` and `a.b`."""
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _module_of(connector: str, path: str) -> str:
    """The module of a method or of a prefix: that of no other."""
    if "." not in path:
        return f"__{connector}_{path}"
    return "__isolith_" + "_".join(f"{len(part)}{part}" for part in (connector, *path.split(".")))


def _modules(connector: str, methods: Iterable[Method]) -> Iterator[tuple[str, str]]:
    """A connector as a module, and one for each prefix of dotted names.

    Each method comes from a module of its own, so that no two types share a name.
    """
    lines: dict[str, list[str]] = {"": []}
    for method in methods:
        above, _, short = method.name.rpartition(".")
        for prefix in _prefixes(method.name):
            if prefix not in lines:
                outer, _, last = prefix.rpartition(".")
                # An alias alone would be nobody's outside of a stub.
                lines[outer].append(f"import {_prefix_module(connector, prefix)} as __{last}\n{last}: Final = __{last}")
                lines[prefix] = []
        lines[above].append(_imported(_module_of(connector, method.name), short))
    for prefix, its in lines.items():
        module = _prefix_module(connector, prefix) if prefix else connector
        yield f"{module}.pyi", "\n".join(["from typing import Any, Final", *its, _ANYTHING])


def _imported(module: str, short: str) -> str:
    """A method in the module that a script reaches it through, under its own name."""
    declared = _declared(short)
    if declared == short:
        return f"from {module} import {short} as {short}"
    return f"from {module} import {declared} as __{declared}\n{short}: Final = __{declared}"


def _declared(short: str) -> str:
    """What a method is called where its types are: not like one of them, `list`."""
    return f"{short}_" if hasattr(builtins, short) else short


def _prefix_module(connector: str, prefix: str) -> str:
    return f"{_module_of(connector, f'{prefix}.')}in"


def _function(method: Method, *, native: bool, synchronous: bool, varied: bool) -> str:
    """The stub of one method. `native`: what it answers keeps its Python types, a date is no text.

    `varied`: with `.raw` and `.pages`, which no function has. Of others a checker speaks more plainly.
    """
    key = (id(method), native, synchronous, varied and bool(method.variants))
    kept = _kept.get(key)
    if kept is not None and kept[0] is method:
        return kept[1]
    short = method.name.rpartition(".")[2]
    written = stub(Subject(method.name, method.parameters, method.returns, native=native, lenient=True))
    if not native:
        written = replace(written, types={name: _OR_NONE.sub("", type_) for name, type_ in written.types.items()})
    text = _variants(written, method, synchronous=synchronous) if key[-1] else written.text
    text = text.replace(f"async def {short}(", f"async def {_declared(short)}(")
    if synchronous:  # there a call gives its value
        for name in (_declared(short), "__call__"):
            text = text.replace(f"async def {name}(", f"def {name}(")
    made = f"{PRELUDE}{text}\n"
    if len(_kept) >= _MAX_KEPT:
        _kept.clear()
    _kept[key] = (method, made)
    return made


def _variants(written: Stub, method: Method, *, synchronous: bool) -> str:
    """A method as an object that can be called in more ways than one."""
    short = method.name.rpartition(".")[2]
    lines = [written.function.replace(f"def {short}(", "def __call__(self, ", 1).replace("(self, )", "(self)", 1)]
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
            f"{_declared(short)}: _Method",
        ]
    )
