"""What a server asks a person, at the command line: shown as the server's words, answered there, and gone on with."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from isolith.command_line import cli

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "sdk_server.py"


@pytest.fixture
def servers(tmp_path: Path) -> str:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"bench": {"command": sys.executable, "args": [str(SERVER)]}}}))
    return str(path)


def isolith(*arguments: str) -> Result:
    result = CliRunner().invoke(cli.app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_a_question_is_shown_answered_and_gone_on_with(servers: str) -> None:
    paused = isolith("run", "--connect", servers, "--questions", "pause", "-c", "await bench.delete()")
    assert (paused.exit_code, paused.stdout) == (4, "")
    waits, form, command = paused.stderr.splitlines()
    assert waits == ("waiting for an answer: bench.delete(): the server of bench.delete asks: > Delete everything?")
    assert json.loads(form.removeprefix("    JSON by the schema "))["required"] == ["sure"]
    found = re.fullmatch(
        r"    isolith executions approve (\w+) 1 --digest (\w{12}) --answer JSON    # or: reject", command
    )
    assert found is not None
    execution, digest = found.groups()
    asked = ("executions", "approve", execution, "1", "--digest", digest)
    wrong = isolith(*asked, "--answer", '{"sure": "perhaps"}')
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "isolith: the answer does not fit what the server asks for: `sure`: expected boolean, was given 'perhaps' "
        "(string)\n",
    )
    assert isolith(*asked, "--answer", "[]").stderr == (
        "isolith: `--answer` takes a JSON object: what the server asks for, by its schema\n"
    )
    final = isolith(*asked, "--answer", '{"sure": true}', "--who", "ada")
    assert (final.exit_code, final.stdout, final.stderr) == (0, "accept True\n", "call 1 is answered by ada\n")


def test_a_server_is_told_of_the_folders_that_its_entry_names(servers: str, tmp_path: Path) -> None:
    path = Path(servers)
    entry = json.loads(path.read_text())
    entry["mcpServers"]["bench"]["isolith"] = {"roots": ["docs"]}
    path.write_text(json.dumps(entry))
    done = isolith("run", "--connect", servers, "-c", "await bench.folders()")
    assert (done.exit_code, json.loads(done.stdout), done.stderr) == (0, [(tmp_path / "docs").as_uri()], "")


def test_a_question_that_nobody_is_asked_is_shown_and_declined(servers: str) -> None:
    done = isolith("run", "--connect", servers, "-c", "await bench.delete()")
    assert (done.exit_code, done.stdout) == (0, "decline\n")
    assert done.stderr.splitlines() == [
        "the server of bench.delete asked: > Delete everything?",
        "    declined: nobody is there to ask; with `--questions pause` the run waits for a person",
    ]
