"""What everybody tries first, through `isolith run`: the exit code says how it ended, and the next script runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.security.samples import done_list
from typer.testing import CliRunner

from isolith import Outcome
from isolith.command_line import cli
from isolith.outcome import BUDGET_KINDS

if TYPE_CHECKING:
    from tests.security.corpus import Hostile

SCRIPTS = done_list()


def run(*arguments: str) -> tuple[int, Outcome]:
    """In this process, because a process of its own costs a second; `tests/e2e/test_command_line.py` has those."""
    result = CliRunner().invoke(cli.app, ["run", *arguments, "--json"])
    return result.exit_code, Outcome.model_validate(json.loads(result.stdout))


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_it_ends_with_its_kind_line_and_exit_code(script: Hostile) -> None:
    budgets = ("--cpu-ms", str(script.budgets.cpu_ms), "--memory-mb", str(script.budgets.memory_mb))
    code, outcome = run("-c", script.text, *budgets)
    assert script.wrong_but_for_calls(outcome) == []
    kind = None if outcome.error is None else outcome.error.kind
    assert code == (0 if kind is None else 3 if kind in BUDGET_KINDS else 1)
    assert run("-c", "1 + 1")[1].value == 2


def test_there_are_as_many_as_the_issue_names() -> None:
    assert len(SCRIPTS) == 17
