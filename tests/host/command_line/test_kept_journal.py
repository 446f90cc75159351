"""The journal that a command names: what cannot be one, and one that is not there, are wrong use and never made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner, Result

from isolith.command_line import cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ISOLITH_JOURNAL", raising=False)
    return tmp_path


def isolith(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments))


@pytest.mark.parametrize(
    ("journal", "reason"),
    [
        (".", "it is a directory"),
        ("file/x.db", "what it is in is no directory"),
        ("file/a/x.db", "what it is in is no directory"),
    ],
)
def test_what_cannot_be_opened_is_wrong_use(here: Path, journal: str, reason: str) -> None:
    """It was called a bug of ours."""
    (here / "file").touch()
    result = isolith("tokens", "create", "ada", "--journal", journal)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"isolith: the journal `{journal}` cannot be opened: {reason}\n"


READING = [
    ("executions", "list"),
    ("executions", "show", "4f2a"),
    ("executions", "approve", "4f2a", "1"),
    ("executions", "verify"),
    ("executions", "export"),
    ("executions", "grants", "list"),
    ("snippets", "list"),
    ("tokens", "list"),
]


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_journal_that_is_not_there_is_not_made_by_looking_into_it(
    here: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], *, by_variable: bool
) -> None:
    if by_variable:
        monkeypatch.setenv("ISOLITH_JOURNAL", "nosuch.db")
    result = isolith(*arguments, *([] if by_variable else ["--journal", "nosuch.db"]))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "isolith: there is no journal `nosuch.db`: the file does not exist\n"
    assert not list(here.glob("nosuch.db*"))


def test_the_user_s_own_journal_need_not_be_there() -> None:
    result = isolith("executions", "list")
    assert (result.exit_code, result.stdout) == (0, "")


def test_what_puts_something_into_a_journal_makes_it(here: Path) -> None:
    assert isolith("tokens", "create", "ada", "--journal", "new.db").exit_code == 0
    assert (here / "new.db").exists()
    assert isolith("tokens", "list", "--journal", "new.db").exit_code == 0
    given = isolith("executions", "grants", "give", "bank.pay", "--uses", "1", "--journal", "other.db")
    assert given.exit_code == 0, given.output
