"""Tokens: what they are as text, what they open, and `isolith tokens`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith.command_line.cli import app
from isolith.errors import UsageError
from isolith.tokens import ALL, Access, mint, read
from isolith.tokens.access import as_scopes

if TYPE_CHECKING:
    from pathlib import Path


def test_a_token_is_read_as_it_was_made_and_shows_its_secret_nowhere() -> None:
    made = mint()
    again = read(made.text)
    assert again == made
    assert made.secret not in repr(made)
    assert made.fits(made.digest)
    assert not mint().fits(made.digest)
    assert made.secret not in made.digest
    for other in (
        "",
        made.secret,
        made.text + "0",
        made.text[1:],
        made.text.replace("isolith", "Isolith"),
        f" {made.text}",
    ):
        assert read(other) is None


def test_scopes() -> None:
    ada, grace, root = (Access("x", frozenset(as_scopes([scope]))) for scope in ("execute", "approve", "admin"))
    assert [access.may("execute") for access in (ada, grace, root, ALL)] == [True, False, True, True]
    assert [access.may("admin") for access in (ada, grace, root, ALL)] == [False, False, True, True]
    assert [access.sees_all for access in (ada, grace, root, ALL)] == [False, True, True, True]
    assert as_scopes(["approve", "execute"]) == ("execute", "approve")
    for wrong in (["root"], []):
        with pytest.raises(UsageError, match="execute, approve, admin"):
            as_scopes(wrong)


def test_the_command(tmp_path: Path) -> None:
    def run(*arguments: str, status: int = 0) -> str:
        done = CliRunner().invoke(app, ["tokens", *arguments, "--journal", str(tmp_path / "journal.db")])
        assert done.exit_code == status, done.output
        return done.stdout if status == 0 else done.output

    text = run("create", "ada", "--scope", "execute", "--scope", "approve", "--expires", "30d").strip()
    secret = read(text)
    assert secret is not None
    listed = json.loads(run("list", "--json"))
    assert [(one["token_id"], one["principal"], one["scopes"]) for one in listed] == [
        (secret.token_id, "ada", ["execute", "approve"])
    ]
    assert secret.secret not in (tmp_path / "journal.db").read_bytes().decode(errors="ignore")
    assert (tmp_path / "journal.db").stat().st_mode & 0o777 == 0o600
    assert "never used" in run("list")
    run("revoke", secret.token_id)
    assert "revoked by" in run("list")
    assert "already revoked" in run("revoke", secret.token_id, status=2)
    assert json.loads(run("create", "eve", "--expires", "never", "--json"))["expires_at"] is None
    for wrong in (("a b",), ("ada", "--scope", "root"), ("ada", "--expires", "soon"), ("ada", "--expires", "0d")):
        run("create", *wrong, status=2)
