"""A real type checker over a script and the stubs of its tools, where one is installed: ty, else pyright, else mypy.

It sees what the check's own pass does not: types through functions, names bound twice, results that may be None. What
it says is a maybe, and only what is about values is kept: names, arguments that are written out and keys are known
better to the pass, which knows every spelling and what connectors take all the same.
"""

from __future__ import annotations

import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from isolith.errors import UsageError
from isolith.run.tested_parts import Place, tested_uses
from isolith.run.type_folder import TypeFolder
from isolith.run.type_remark import Remark, remark_of
from isolith.run.type_server import NoAnswer, bound, surroundings
from isolith.run.type_servers import servers
from isolith.run.type_stubs import FIRST, SCRIPT, files, imports_namesake, named_connectors
from isolith_bindings.check import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isolith_bindings.connector import Connector

Name = Literal["ty", "pyright", "mypy"]
Types = Literal["auto", "ty", "pyright", "mypy", "off"]
"""Which checker is asked. `auto`: the first there is; before a run only ty, for the others take seconds."""

_TIMEOUT_S = 20.0
_FAST_TIMEOUT_S = 5.0
RUN_TIMEOUT_S = 0.5
"""Seconds that ty may take beside a run; it takes a few thousandths, and for the first script some hundredths more."""
_MAX_KNOWN = 1_000
_MAX_KEPT = 100
_known: collections.OrderedDict[bytes, tuple[Finding, ...]] = collections.OrderedDict()
"""What was said of the same files before, by their digest: an agent runs the same script again and again."""
_LEAST = FIRST.count("\n")


@dataclass(frozen=True)
class _Dialect:
    """How one checker is asked, and which of its rules are about values.

    `arguments`: the rule of arguments that do not fit, which is kept only where `certain` is found in its message.
    """

    command: tuple[str, ...]
    read: Callable[[str], Iterable[Remark]]
    kept: frozenset[str]
    arguments: str
    certain: re.Pattern[str]


@dataclass(frozen=True)
class TypeChecker:
    """One that is installed. `command`: the path of its program."""

    name: Name
    command: str

    @property
    def fast(self) -> bool:
        """Whether a run can wait for it."""
        return self.name == "ty"

    @property
    def timeout_s(self) -> float:
        """Seconds it may take where somebody waits for nothing else. On some scripts it would never end."""
        return _FAST_TIMEOUT_S if self.fast else _TIMEOUT_S


def type_checker(wanted: Types = "auto") -> TypeChecker | None:
    """The checker beside this Python, or on the path. Raises UsageError where one is named that is not there."""
    if wanted == "off":
        return None
    names: tuple[Name, ...] = ("ty", "pyright", "mypy") if wanted == "auto" else (wanted,)
    for name in names:
        found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        if found:
            return TypeChecker(name, found)
    if wanted != "auto":
        raise UsageError(f"`{wanted}` is not installed: `pip install {wanted}`, or leave `--types` to what there is")
    return None


def types_of(
    text: str,
    connectors: Mapping[str, Connector],
    checker: TypeChecker,
    *,
    synchronous: bool,
    timeout_s: float | None = None,
) -> tuple[Finding, ...]:
    """What a checker says of a script; nothing where it cannot be asked or is late. Blocks, runs nothing of it."""
    if "__future__" in text or not named_connectors(text, connectors):  # the first stands where our own line does
        return ()
    if imports_namesake(text, connectors):
        return ()
    read = dict(files(text, connectors, synchronous=synchronous))
    key = hashlib.sha256(json.dumps([checker.name, checker.command, read]).encode()).digest()
    found = _known.get(key)
    if found is None:
        remarks = _remarks(checker, read, checker.timeout_s if timeout_s is None else timeout_s)
        found = () if remarks is None else tuple(_findings(checker.name, remarks, text))
        if remarks is not None and len(found) <= _MAX_KEPT:
            _keep(key, found)
    return found


def get_ready(wanted: Types) -> None:
    """Begin what a checker needs before its first script, beside what is done meanwhile; as `type_checker` raises."""
    checker = type_checker(wanted)
    if checker is not None and checker.fast:
        servers.get_ready(checker.command)


def _keep(key: bytes, found: tuple[Finding, ...]) -> None:
    _known[key] = found
    while len(_known) > _MAX_KNOWN:
        _known.popitem(last=False)


def _remarks(checker: TypeChecker, read: dict[str, str], timeout_s: float) -> list[Remark] | None:
    """What it says of these files; None where it did not come to say it."""
    until = time.monotonic() + timeout_s
    if checker.fast:
        stubs = {name: content for name, content in read.items() if name != SCRIPT}
        try:
            return servers.ask(checker.command, read[SCRIPT], stubs, timeout_s)
        except NoAnswer as none:
            if none.final:
                return None
    return _asked_once(checker, read, until - time.monotonic())


def _asked_once(checker: TypeChecker, read: dict[str, str], timeout_s: float) -> list[Remark] | None:
    """The same from a process that is there for it alone."""
    folder = TypeFolder()
    try:
        folder.hold(read)
        with subprocess.Popen(  # noqa: S603 - a fixed command; the script is a file to it
            [checker.command, *_DIALECTS[checker.name].command, SCRIPT],
            cwd=folder.path,
            # Pyright keeps what it runs on in the user's cache folder.
            env=surroundings(Path.home() if checker.name == "pyright" else folder.path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            output = _output(process, checker, timeout_s)
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        folder.close()
    return None if process.returncode not in {0, 1} else list(_DIALECTS[checker.name].read(output))


def _output(process: subprocess.Popen[bytes], checker: TypeChecker, timeout_s: float) -> str:
    if checker.fast:
        bound(process)
    try:
        return process.communicate(timeout=timeout_s)[0].decode(errors="replace")
    except BaseException:
        process.kill()
        raise


def _findings(name: Name, remarks: Iterable[Remark], text: str) -> Iterator[Finding]:
    dialect, told_apart = _DIALECTS[name], _TELLS_FAILURES.search(text) is not None
    listed = list(remarks)
    tested = tested_uses(text) if any("None" in said.message for said in listed) else frozenset[Place]()
    for said in listed:
        if "None" in said.message and (said.line - _LEAST, said.column) in tested:
            continue
        if told_apart and "BaseException" in said.message:
            continue
        if said.line <= _LEAST or said.rule not in dialect.kept or _NOT_KEPT.search(said.message):
            continue
        if said.rule == dialect.arguments and not dialect.certain.search(said.message):
            continue
        yield Finding("check", f"{said.message} ({name}: {said.rule})", said.line - _LEAST, said.column)


# ---------------------------------------------------------------------------------------------- three dialects

_CONTAINERS = r"(list\[|dict\[|set\[|tuple\[|Coroutine(Type)?\[|None[`\"])"
"""What no connector makes of anything else; a date may be text, and a whole float a number."""
_NOT_KEPT = re.compile(
    r"<module |\bModule\b|ModuleType|module [`\"]|__isolith|Unknown|Operator [`\"]\|="
    r"|[`\"]object[`\"]|type \"str\" for \"str\""
)
"""`object` is what `"key" in x` leaves of a type without that key: nobody declared it. A text by a key is mypy's word
for what is text or a dict; where it can be text alone, the pass says so."""
_TELLS_FAILURES = re.compile(r"isinstance\([^()]+, *\(?(Exception|ToolError|ValueError)\b")
"""`gather(..., return_exceptions=True)` is said to give a BaseException; what failed is an Exception all the same."""
_FILE = re.escape(SCRIPT)
_TY = re.compile(rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): (?:error|warning)\[(?P<rule>[\w-]+)\] (?P<message>.*)")
_MYPY = re.compile(rf"{_FILE}:(?P<line>\d+):(?P<column>\d+): error: (?P<message>.*)  \[(?P<rule>[\w-]+)\]")


def _by_line(pattern: re.Pattern[str]) -> Callable[[str], Iterable[Remark]]:
    def read(output: str) -> Iterator[Remark]:
        for found in filter(None, map(pattern.fullmatch, output.splitlines())):
            yield Remark(int(found["line"]), int(found["column"]), found["message"], found["rule"])

    return read


def _read_pyright(output: str) -> list[Remark]:
    try:
        told = cast("dict[str, list[dict[str, object]]]", json.loads(output))["generalDiagnostics"]
        return [remark_of(one, "rule") for one in told]
    except (ValueError, KeyError, TypeError):
        return []


_DIALECTS: dict[Name, _Dialect] = {
    "ty": _Dialect(
        ("check", "--python-version", "3.14", "--output-format", "concise"),
        _by_line(_TY),
        # An attribute that is not there had another name until 2026.
        frozenset(
            {"invalid-argument-type", "not-subscriptable", "not-iterable", "unsupported-operator"}
            | {"unresolved-attribute", "missing-attribute"}
        ),
        "invalid-argument-type",
        re.compile(rf"found `{_CONTAINERS}"),
    ),
    "pyright": _Dialect(
        ("--pythonversion", "3.14", "--outputjson"),
        _read_pyright,
        frozenset(
            {"reportArgumentType", "reportIndexIssue", "reportOperatorIssue", "reportAttributeAccessIssue"}
            | {"reportOptionalSubscript", "reportOptionalMemberAccess", "reportOptionalIterable"}
            | {"reportOptionalOperand"}
        ),
        "reportArgumentType",
        re.compile(rf"Argument of type \"{_CONTAINERS}"),
    ),
    "mypy": _Dialect(
        (
            *("--python-version", "3.14", "--no-incremental", "--cache-dir", os.devnull, "--config-file="),
            *("--show-column-numbers", "--no-error-summary", "--no-site-packages", "--hide-error-context"),
        ),
        _by_line(_MYPY),
        frozenset({"arg-type", "index", "operator", "union-attr", "attr-defined"}),
        "arg-type",
        re.compile(rf"incompatible type \"{_CONTAINERS}"),
    ),
}
