"""`isolith check SCRIPT ...`: what is wrong with scripts, without running any.

The guest's parser is the authority for what is Python. Where this process's own says no, or does not look, and the
image is on this machine already, the guest is asked; it parses inside the wall and runs nothing.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, cast

import anyio.to_thread
import typer

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith.command_line import command
from isolith.command_line.command import Configured, Connect, Json, PolicyName, TypesOption, guarded
from isolith.command_line.hints import NOTHING_CONNECTED
from isolith.command_line.policy_command import say_idle_rules
from isolith.command_line.request import read_script
from isolith.command_line.script_files import script_names
from isolith.json_form import to_json_form, to_json_text
from isolith.outcome import Diagnostic
from isolith.run.checking import diagnostic, look
from isolith.run.foreign import not_a_script
from isolith.run.fragments import fragment_hint
from isolith.run.normalize import Prepared, prepare
from isolith.run.type_checker import TypeChecker, Types, get_ready, type_checker, types_of
from isolith.visible import visible
from isolith_bindings.policy import as_policy
from isolith_runtime.image.builder import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from isolith.command_line.terminal import Terminal
    from isolith.configuration.config import ConfigFile
    from isolith.json_form import JsonValue
    from isolith_bindings.check import Finding, Report
    from isolith_bindings.connector import Connector

Place = tuple[str, int, int]
"""What a parser says, and the line and column it says it of."""
Ask = Callable[[str], Awaitable[Place | None]]
"""How the guest is asked to parse a text."""

_PARSE = """
import ast
answer = None
try:
    ast.parse(input)
except SyntaxError as error:
    answer = [error.msg, error.lineno or 1, error.offset or 1]
except (RecursionError, MemoryError, ValueError):
    answer = ["the script is nested too deep to be compiled", 1, 1]
answer
"""


_NOT_LOOKED = "Python that is too large, too deep or too new for this machine's own, and was not looked at further"


@dataclass(frozen=True)
class Checked:
    """What is wrong with one script: `errors` certainly, `warnings` perhaps. `looked`: whether it was looked at."""

    script: str
    errors: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    looked: bool = True

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON data."""
        return {
            "script": self.script,
            "ok": not self.errors,
            "checked": self.looked,
            "errors": [to_json_form(error) for error in self.errors],
            "warnings": [to_json_form(warning) for warning in self.warnings],
        }


@guarded
def check(
    scripts: Annotated[list[str], typer.Argument(metavar="SCRIPT", help="Files, folders of them, or - for stdin.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    types: TypesOption = "auto",
    json: Json = False,
) -> None:
    """Say what is wrong with scripts without running them. Ends with 1 if one of them cannot work."""
    config = command.read_configuration(configured)
    decided = as_policy(command.policy_of(policy, config))
    names = script_names(scripts, _connected(specs or (), config))
    sources = [(name, read_script(name, Budgets().script_bytes)) for name in names]
    if specs or config:
        get_ready(types)

    async def use(connectors: list[Connector]) -> list[Checked]:
        say_idle_rules(decided, connectors)
        known = command.catalog_of(connectors, decided).connectors
        return await check_all(sources, known, Budgets().script_bytes, types)

    found = command.consulted(specs, config, use)
    raise typer.Exit(answer(found, command.terminal(), json=json))


def _connected(specs: Sequence[str], config: ConfigFile | None) -> list[str]:
    """What is connected by its path, also by the configurations among that. Raises UsageError."""
    configs = [config, *(command.read_configuration(spec) for spec in specs if spec.endswith(".toml"))]
    return [*specs, *(path for each in configs if each is not None for path in each.spec_paths)]


async def check_script(
    name: str,
    source: str | bytes,
    connectors: Mapping[str, Connector],
    max_bytes: int,
    guest: Callable[[], Ask | None],
    types: TypeChecker | None = None,
) -> Checked:
    """Everything that is wrong with one script.

    `guest` gives what has the guest parse a text, None where there is none; it is only called where it is needed, for
    to find one takes longer than the check. `types` is asked as well.
    """
    prepared = prepare(source, max_bytes)
    if not isinstance(prepared, Prepared):
        return Checked(name, (prepared.diagnostic,))
    report = await look(prepared.text, connectors, settled=True)
    doubtful = not report.looked or any(finding.kind == "syntax" for finding in report.findings)
    if doubtful:
        return await _of_doubtful(name, prepared, report, guest())
    findings = (*report.findings, *await _typed(prepared, connectors, report, types))
    errors = [diagnostic(finding, prepared, warning=False) for finding in findings if finding.certain]
    warnings = [diagnostic(finding, prepared, warning=True) for finding in findings if not finding.certain]
    return Checked(name, tuple(errors), (*prepared.warnings, *warnings))


async def _typed(
    script: Prepared, connectors: Mapping[str, Connector], report: Report, checker: TypeChecker | None
) -> list[Finding]:
    """What a type checker adds, on lines of which nothing has been said."""
    if checker is None:
        return []
    ask = partial(types_of, script.text, connectors, checker, synchronous=report.synchronous)
    lines = {finding.line for finding in report.findings}
    return [finding for finding in await anyio.to_thread.run_sync(ask) if finding.line not in lines]


async def _of_doubtful(name: str, script: Prepared, report: Report, ask: Ask | None) -> Checked:
    """A script that this process could not parse."""
    here = next(((found.message, found.line, found.column) for found in report.findings), None)
    foreign = not_a_script(script.text) if here is not None else None
    if foreign is not None:
        return Checked(name, (script.own_line(foreign),), script.warnings)
    certain = any(found.certain for found in report.findings)
    place = await ask(script.text) if ask is not None and not certain else here
    if place is None:
        return Checked(name, (), script.warnings, looked=False)
    error = _syntax(script, place, next((found.hint for found in report.findings), None))
    if certain or ask is not None:
        return Checked(name, (error,), script.warnings)
    version = ".".join(map(str, sys.version_info[:2]))
    authority = f"Python {version} of this machine says so; that of the guest, 3.14, decides: `isolith image build`"
    hint = f"{error.hint}; {authority}" if error.hint else authority
    return Checked(name, (), (*script.warnings, error.model_copy(update={"hint": hint})))


def _syntax(script: Prepared, place: Place, hint: str | None) -> Diagnostic:
    message, line, column = place
    hint, column = hint or fragment_hint(script.text, line), column + script.column_offset(line)
    found = Diagnostic(kind="syntax", message=message, line=line, column=column, hint=hint)
    return script.own_line(found)


async def parse_in_guest(text: str) -> Place | None:
    """What the guest's parser says of a text; None where it is Python."""
    outcome = await CodeMode(check="off").execute(_PARSE, input=text)
    if outcome.error is not None:
        return (outcome.error.message, 1, 1)
    if outcome.value is None:
        return None
    message, line, column = cast("list[object]", outcome.value)
    return (str(message), cast("int", line), cast("int", column))


async def check_all(
    sources: Sequence[tuple[str, str | bytes]],
    connectors: Mapping[str, Connector],
    max_bytes: int,
    types: Types = "auto",
) -> list[Checked]:
    """Check each in turn; the guest is asked where its image is on this machine, a type checker where there is one.

    Raises UsageError for a type checker that is named and not there.
    """
    checker = type_checker(types)
    guest = functools.cache(_guest)
    found = [await check_script(name, source, connectors, max_bytes, guest, checker) for name, source in sources]
    return found if connectors else [_of_nothing(checked) for checked in found]


def _guest() -> Ask | None:
    return parse_in_guest if open_store().info().image is not None else None


def _of_nothing(checked: Checked) -> Checked:
    """What is said of a script that was checked against no connector: a name it does not have may be that of one."""
    errors = tuple(
        error.model_copy(update={"hint": NOTHING_CONNECTED})
        if error.hint is None and error.message.startswith("NameError: ")
        else error
        for error in checked.errors
    )
    return replace(checked, errors=errors)


def answer(found: Sequence[Checked], terminal: Terminal, *, json: bool) -> int:
    """Write what was found and return the exit code: 1 where a script is certainly wrong."""
    if json:
        terminal.write(to_json_text({"scripts": [checked.to_json() for checked in found]}))
    else:
        for checked in found:
            for one, level in _in_order(checked):
                terminal.finding(checked.script, one, level)
            if not checked.looked:
                terminal.write(f"{visible(checked.script)}: {_NOT_LOOKED}")
        terminal.write(_summary(found))
    return 1 if any(checked.errors for checked in found) else 0


def _in_order(checked: Checked) -> list[tuple[Diagnostic, str]]:
    """As a reader goes through the script; of one place the error first."""
    told: list[tuple[Diagnostic, str]] = [(error, "error") for error in checked.errors]
    told += [(warning, "warning") for warning in checked.warnings]
    return sorted(told, key=lambda one: (one[0].line or math.inf, one[0].column or 0))


def _summary(found: Sequence[Checked]) -> str:
    errors, warnings = (sum(len(getattr(checked, name)) for checked in found) for name in ("errors", "warnings"))
    return ", ".join([_count(len(found), "script"), _count(errors, "error"), _count(warnings, "warning")])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
