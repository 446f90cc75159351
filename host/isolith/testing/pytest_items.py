"""An expectation as a file of pytest, with one test in it. Each runs in a `CodeMode` of its own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith.command_line import command
from isolith.errors import UsageError
from isolith.mcp.view import said_of
from isolith.testing.cases import Case, script_of
from isolith.testing.expectation import read_expectation
from isolith.testing.suite import Result, run_case

if TYPE_CHECKING:
    from collections.abc import Iterator


class ExpectationFile(pytest.File):
    """NAME.expect.json, beside NAME.py."""

    def collect(self) -> Iterator[ScriptTest]:
        """The one test."""
        script = script_of(self.path)
        if script is None or not script.is_file():
            raise self.CollectError(f"{self.path} has no script: {script} is not there")
        yield ScriptTest.from_parent(self, name=script.stem)  # pyright: ignore[reportUnknownMemberType]


class Differs(Exception):
    """A script came to something else."""

    def __init__(self, result: Result) -> None:
        error = result.outcome.error
        super().__init__("\n".join([*result.differences, *([] if error is None else [said_of(error)])]))


class ScriptTest(pytest.Item):
    """Runs the script, and compares."""

    def runtest(self) -> None:
        """Raises Differs, UsageError."""
        result = asyncio.run(self._run())
        for line in result.outcome.logs:
            self.add_report_section("call", "log", line.message)
        if not result.passed:
            raise Differs(result)

    async def _run(self) -> Result:
        config = self.config
        named = str(config.getini("isolith_config"))
        root = config.rootpath
        settings = command.read_configuration(str(root / named) if named else None)
        with _Within(root):
            connectors = command.connectors_of(list(config.getini("isolith_connect") or ()), settings)
            policy = command.policy_of(str(config.getini("isolith_policy")) or None, settings)
        code_mode = CodeMode(connectors, policy=policy, ceilings=settings.config.granted if settings else None)
        budgets = (settings.config.budgets if settings else None) or Budgets()
        script = script_of(self.path)
        assert script is not None  # noqa: S101 - it was collected
        async with code_mode:
            return await run_case(code_mode, Case(script, self.path), read_expectation(self.path), budgets)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:  # noqa: ARG002
        """What differs, without a traceback of ours."""
        if isinstance(excinfo.value, (Differs, UsageError)):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is."""
        return self.path, None, f"script: {self.name}"


class _Within:
    """The folder that relative paths of the settings are taken from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        self._before = Path.cwd()
        os.chdir(self._folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self._before)
