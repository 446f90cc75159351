"""The commands, as the help names them before any of them is imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from isolith.command_line.commands import COMMANDS, Later


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command.name))
def test_what_is_said_of_a_command_is_what_it_says_itself(command: Later) -> None:
    own = command.loaded()
    assert (own.name, own.epilog) == (command.name, command.epilog)
    said, _, _ = own.help.partition("\n\n")
    assert " ".join(said.split()) == command.help


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_what_needs_no_command_imports_none(flag: str) -> None:
    code = (
        "import sys; from isolith.command_line.cli import app; app(sys.argv[1:], standalone_mode=False); "
        "slow = {'isolith.code_mode', 'isolith.command_line.command', 'pydantic', 'structlog', 'wasmtime'}; "
        "assert not slow & set(sys.modules), slow & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, flag], check=True, stdout=subprocess.DEVNULL)
