"""`isolith executions show`: what a run did, call by call, on stdout."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from typer.testing import CliRunner, Result

from isolith import Budgets, CodeMode, connector, method
from isolith.command_line.cli import app

if TYPE_CHECKING:
    from pathlib import Path


@connector("books")
class Books:
    """Books that can be taken away again."""

    async def count(self) -> int:
        """How many."""
        return 2

    @method(revert="delete")
    async def create(self, title: str) -> str:
        """Add one."""
        if not title:
            raise ValueError("no title")
        return title

    async def delete(self, title: str) -> None:
        """Take it away."""


def shown(journal: str, execution_id: str) -> Result:
    return CliRunner().invoke(app, ["executions", "show", execution_id, "--journal", journal])


def run(journal: str, script: str, *, rolled_back: bool = False) -> str:
    async def go() -> str:
        async with CodeMode([Books], journal=journal, tend=False, types="off") as code_mode:
            outcome = await code_mode.execute(script, budgets=Budgets(calls=203))
            if rolled_back:
                await code_mode.rollback(outcome.execution_id)
            return outcome.execution_id

    return asyncio.run(go())


def test_a_run_that_ended_is_shown_with_its_calls_and_its_value(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.db")
    script = "x = await books.count()\ntry:\n    await books.create(title='')\nexcept ToolError:\n    pass\nx"
    told = shown(journal, run(journal, script))
    assert (told.exit_code, told.stderr) == (0, "")
    lines = told.stdout.splitlines()
    assert lines[-4:] == [
        "call 1, books.count in line 1: completed",
        "call 2, books.create in line 3: failed",
        "value:",
        "2",
    ]
    assert lines[0].startswith("execution ")


def test_what_was_undone_is_said_of_each_call(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.db")
    script = "await books.count()\nawait books.create(title='a')\n1 / 0"
    told = shown(journal, run(journal, script, rolled_back=True))
    assert (told.exit_code, told.stderr) == (1, "")
    calls = [line for line in told.stdout.splitlines() if line.startswith("call ")]
    assert calls == [
        "call 1, books.count in line 1: completed",
        "call 2, books.create in line 2: made, and undone since",
    ]


def test_of_very_many_calls_the_first_are_shown(tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.db")
    told = shown(journal, run(journal, "for n in range(203):\n    await books.count()"))
    assert len([line for line in told.stdout.splitlines() if line.startswith("call ")]) == 200
    assert "\nand 3 more calls, which `--json` has\n" in told.stdout
