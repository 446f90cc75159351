"""A real type checker over a script and the stubs of its tools, where one is installed: `ty`, of `isolith[check]`.

It sees what the check's own pass does not: types through functions, names bound twice, results that may be None. What
it says is a maybe, and only what is about values is kept: names, arguments that are written out and keys are known
better to the pass, which knows every spelling and what connectors take all the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from isolith_bindings.check import Finding
from isolith_bindings.connector import offered
from isolith_bindings.function_connector import FunctionConnector
from isolith_bindings.names import GUEST_GLOBALS
from isolith_bindings.policy import ungoverned
from isolith_bindings.schema.stubs import PRELUDE, Subject, stub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.connector import Connector, Method

TIMEOUT_S = 10.0
"""Seconds it may take; it takes a twentieth of one."""

_SCRIPT = "__isolith_script.py"
_LINE = re.compile(r"__isolith_script\.py:(\d+):(\d+): (?:error|warning)\[([\w-]+)\] (.*)")
_KEPT = frozenset(
    {"invalid-argument-type", "not-subscriptable", "not-iterable", "unsupported-operator", "unresolved-attribute"}
)
_CERTAIN = re.compile(r"found `(list\[|dict\[|set\[|tuple\[|CoroutineType\[|None`)")
"""What no connector makes of anything else; a date may be text, and a whole float a number."""
_NOT_KEPT = re.compile(r"<module |[Mm]odule `|`__isolith|Unknown|Operator `\|=`")
_WORD = re.compile(r"\w+")
_FIRST = "from __isolith import *\n"
_ANYTHING = "def __getattr__(name: str) -> Any: ...\n"


def type_checker() -> str | None:
    """The checker beside this Python, or on the path; None where there is none."""
    return shutil.which("ty", path=str(Path(sys.executable).parent)) or shutil.which("ty")


def types_of(text: str, connectors: Mapping[str, Connector], command: str, *, synchronous: bool) -> tuple[Finding, ...]:
    """What the checker at `command` says of a script; nothing where it cannot be asked. Blocks, runs nothing of it."""
    if "__future__" in text:  # which has to stand where our own first line does
        return ()
    with tempfile.TemporaryDirectory(prefix="isolith-check-") as folder:
        for name, content in _files(text, connectors, synchronous=synchronous):
            (Path(folder) / name).write_text(content, encoding="utf-8")
        arguments = [command, "check", "--python-version", "3.14", "--output-format", "concise", _SCRIPT]
        try:
            done = subprocess.run(  # noqa: S603 - a fixed command; the script is a file to it
                arguments,
                cwd=folder,
                env={"HOME": folder, "PATH": os.environ.get("PATH", "")},  # nothing of ours that it has no use for
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ()
    return tuple(_findings(done.stdout.decode(errors="replace")))


def _files(text: str, connectors: Mapping[str, Connector], *, synchronous: bool) -> Iterator[tuple[str, str]]:
    words = set(_WORD.findall(text))
    # A module of that name would stand before Python's own in the stubs, too.
    named = [name for name in connectors if name in words and name not in sys.stdlib_module_names]
    typed = {"Rejected", "ToolError", "print", "asyncio"}
    anything = (GUEST_GLOBALS - typed) | (connectors.keys() & sys.stdlib_module_names)
    known = [f"{name}: Any" for name in sorted(anything)]
    imports = [f"import {name} as {name}" for name in ("asyncio", *named)]
    error = (
        "class ToolError(Exception):\n    def __getattr__(self, name: str) -> Any: ...\nclass Rejected(ToolError): ..."
    )
    yield "ty.toml", ""
    yield "__isolith.pyi", "\n".join(["from typing import Any", *imports, *known, error, ""])
    yield _SCRIPT, f"{_FIRST}{text}"
    for name in named:
        methods = [method for method in offered(connectors[name]).values() if method.name in words]
        native = isinstance(ungoverned(connectors[name]), FunctionConnector)
        yield f"{name}.pyi", _module(name, methods)
        for method in methods:
            if method.name.isidentifier():
                yield f"__{name}_{method.name}.pyi", _function(method, native=native, synchronous=synchronous)


def _module(connector: str, methods: Iterable[Method]) -> str:
    """A connector as a module: each method from a module of its own, so that no two types share a name."""
    lines = [
        f"from __{connector}_{method.name} import {method.name} as {method.name}"
        for method in methods
        if method.name.isidentifier()
    ]
    return "\n".join(["from typing import Any", *lines, _ANYTHING])


def _function(method: Method, *, native: bool, synchronous: bool) -> str:
    """The stub of one method. `native`: what it answers keeps its Python types, a date is no text."""
    text = stub(Subject(method.name, method.parameters, method.returns, native=native, lenient=True)).text
    if synchronous:  # there a call gives its value
        text = text.replace(f"async def {method.name}(", f"def {method.name}(")
    return f"{PRELUDE}{text}\n"


def _findings(output: str) -> Iterator[Finding]:
    for line in output.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or found[3] not in _KEPT or _NOT_KEPT.search(found[4]):
            continue
        if found[3] == "invalid-argument-type" and not _CERTAIN.search(found[4]):
            continue
        number = int(found[1]) - _FIRST.count("\n")
        if number >= 1:
            yield Finding("check", f"{found[4]} (ty: {found[3]})", number, int(found[2]))
