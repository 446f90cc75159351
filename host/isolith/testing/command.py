"""`isolith test`: scripts against what they are expected to come to, for people and for CI."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith.command_line import command
from isolith.command_line.command import Configured, Connect, PolicyName, guarded
from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith.testing.cases import read_cases
from isolith.testing.junit import junit
from isolith.testing.suite import run_cases, write_expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from isolith.command_line.terminal import Terminal
    from isolith.configuration.config import ConfigFile
    from isolith.testing.cases import Case
    from isolith.testing.expectation import Expectation
    from isolith.testing.suite import Result

_AT_ONCE = 4


@guarded
def run_all(  # noqa: PLR0913 - one parameter a flag
    paths: Annotated[list[Path], typer.Argument(metavar="DIR|SCRIPT", help="Folders of cases, or scripts.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write what scripts came to as what is expected, to be reviewed.")
    ] = False,
    junit_file: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")
    ] = None,
    at_once: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=64, help="Scripts at a time.")
    ] = _AT_ONCE,
    json: command.Json = False,
) -> None:
    """Run scripts and compare what they come to with NAME.expect.json or .toml beside them.

    Ends with 1 where one differs, with 5 where that is a bug of Isolith's.
    """
    cases = read_cases(paths)
    config = command.read_configuration(configured)
    code_mode = CodeMode(
        command.connectors_of(specs, config),
        policy=command.policy_of(policy, config),
        ceilings=config.config.granted if config else None,
        reverts=config.config.reverts if config else None,
    )
    terminal = command.terminal()
    with redirect_stdout(sys.stderr):
        results = asyncio.run(_run(code_mode, cases, _budgets(config), at_once))
    if junit_file is not None:
        _write(junit_file, junit(results))
    written = (
        [_updated(result, expected) for result, (_, expected) in zip(results, cases, strict=True)] if update else []
    )
    _answer(results, written or [False] * len(results), terminal, json=json)
    left = _left_in_toml(results) if update else []
    for case in left:
        terminal.say(f"isolith: `--update` writes JSON: change `{case.beside}` by hand, or remove it")
    raise typer.Exit(_exit_code(results, updated=update and not left))


async def _run(
    code_mode: CodeMode, cases: Sequence[tuple[Case, Expectation]], budgets: Budgets, at_once: int
) -> list[Result]:
    async with code_mode:
        return [result async for result in run_cases(code_mode, cases, budgets, at_once)]


def _budgets(config: ConfigFile | None) -> Budgets:
    return (config.config.budgets if config else None) or Budgets()


def _left_in_toml(results: Iterable[Result]) -> list[Case]:
    """What differs and is not written, because its expectation is in TOML, with whatever comments are in it."""
    return [result.case for result in results if result.case.beside.suffix == ".toml" and not result.passed]


def _updated(result: Result, expected: Expectation) -> bool:
    try:
        return write_expectation(result, expected)
    except OSError as error:
        raise UsageError(f"`{result.case.beside}` cannot be written: {error.strerror}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from error


def _exit_code(results: Sequence[Result], *, updated: bool) -> int:
    """0 where all came out as expected, or as is expected from now on; 1 where one differs; 5 for a bug of ours."""
    if any(result.internal for result in results):
        return 5
    return 0 if updated or all(result.passed for result in results) else 1


def _answer(results: Sequence[Result], written: Sequence[bool], terminal: Terminal, *, json: bool) -> None:
    if json:
        told = [_told(result, updated=new) for result, new in zip(results, written, strict=True)]
        terminal.write(to_json_text({"results": told}))
        return
    for result, new in zip(results, written, strict=True):
        if new:
            terminal.say(f"written {result.case.beside.as_posix()}", "yellow")
        elif result.passed:
            terminal.say(f"ok      {result.case.name}", "green")
        else:
            terminal.say(f"FAILED  {result.case.name}", "red")
            for line in "\n".join(result.differences).splitlines():
                terminal.say(f"    {line}")
            if result.outcome.error is not None:
                terminal.diagnostic(result.outcome.error, "error")
    failed = sum(not result.passed and not new for result, new in zip(results, written, strict=True))
    terminal.write(f"{len(results):,} script{'s' * (len(results) != 1)}, {failed:,} failed, {sum(written):,} written")


def _told(result: Result, *, updated: bool) -> dict[str, object]:
    return {
        "script": result.case.name,
        "passed": result.passed,
        "updated": updated,
        "differences": list(result.differences),
        "seconds": round(result.seconds, 3),
        "outcome": result.outcome.to_json(),
    }
