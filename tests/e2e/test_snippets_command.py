"""`isolith snippets` and `isolith executions rollback`, as a person uses them: each command a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.e2e.conftest import isolith_command
from tests.e2e.serving import link_images

if TYPE_CHECKING:
    from subprocess import CompletedProcess

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "sdk_server.py"

BANK = '''
"""Money."""

from pathlib import Path

from isolith import connector

DONE = Path(__file__).with_name("done.txt")


@connector("bank")
class Bank:
    """An account."""

    async def balance(self, account: str) -> int:
        """What is there."""
        return 100 + len(account)

    async def pay(self, amount: int) -> str:
        """Send money."""
        with DONE.open("a") as file:
            file.write(f"{amount}\\n")
        return f"paid {amount}"

    async def take_back(self, amount: int, receipt: str) -> None:
        """Have it sent back."""
        with DONE.open("a") as file:
            file.write(f"{-amount} for {receipt}\\n")
'''
CONFIG = """
connect = ["bank.py"]

[reverts]
"bank.pay" = { method = "bank.take_back", arguments = { amount = "$arguments.amount", receipt = "$result" } }
"""
SCRIPT = 'await bank.pay(amount=await bank.balance(account=input["account"]))'


class Shell:
    """Commands in one folder, with state of their own and the image that is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str) -> CompletedProcess[str]:
        return subprocess.run(
            [isolith_command(), *arguments],
            cwd=self.folder,
            env={**os.environ, "ISOLITH_HOME": str(self.folder / "home"), "COLUMNS": "300"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def document(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        return cast("dict[str, Any]", json.loads(done.stdout))

    def done(self) -> list[str]:
        return (self.folder / "done.txt").read_text().splitlines()


@pytest.fixture
def shell(tmp_path: Path, supply: Supply) -> Shell:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    link_images(home)
    (tmp_path / "bank.py").write_text(BANK)
    (tmp_path / "isolith.toml").write_text(CONFIG)
    return Shell(tmp_path)


def test_from_a_run_to_a_snippet_and_back(shell: Shell) -> None:
    outcome = shell.document("run", "-c", SCRIPT, "--input", '{"account": "abc"}', "--config", "isolith.toml")
    proposed = shell.run("snippets", "propose", outcome["execution_id"][:8], "send", "--description", "Send it all.")
    assert proposed.returncode == 0, proposed.stderr
    [approve] = [line.split("`")[3].split() for line in proposed.stderr.splitlines() if "snippets approve" in line]
    wrong = shell.run(*approve[1:-1], "0" * 12)
    assert (wrong.returncode, "read it again with `isolith snippets show send --version 1`" in wrong.stderr) == (
        2,
        True,
    )
    assert shell.run(*approve[1:]).returncode == 0  # the command that was printed, as it stands
    assert shell.done() == ["103"]
    ran = shell.run("snippets", "run", "send", "--input", '{"account": "x"}')
    assert (ran.returncode, ran.stdout) == (0, "paid 101\n")
    again = shell.document("run", "-c", "await snippets.send(account='xy')", "--config", "isolith.toml")
    assert again["value"] == "paid 102"
    back = shell.run("executions", "rollback", again["execution_id"])
    assert (back.returncode, "snippets.send  reverted" in back.stdout) == (0, True)
    assert shell.done() == ["103", "101", "102", "-102 for paid 102"]
    assert shell.document("executions", "show", again["execution_id"])["status"] == "rolled_back"
    assert shell.run("executions", "verify").returncode == 0


def test_the_servers_that_a_run_had_are_started_for_its_snippet(shell: Shell) -> None:
    """It used to say of every server that it had not been started, and to name nothing that could be done."""
    servers = {"bench": {"command": sys.executable, "args": [str(SERVER)]}}
    (shell.folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    outcome = shell.document("run", "-c", "await bench.add(a=41)", "--connect", "mcp.json")
    proposed = shell.run("snippets", "propose", outcome["execution_id"], "plus", "--description", "One more.")
    assert (proposed.returncode, proposed.stdout) == (0, "plus, version 1: proposed\n"), proposed.stderr
    approved = shell.run("snippets", "approve", "plus")
    assert (approved.returncode, approved.stdout) == (0, "plus, version 1: approved\n"), approved.stderr
    assert shell.run("snippets", "run", "plus").stdout == "42\n"


def test_files_and_a_revocation(shell: Shell) -> None:
    outcome = shell.document("run", "-c", SCRIPT, "--input", '{"account": "abc"}', "--config", "isolith.toml")
    shell.run("snippets", "propose", outcome["execution_id"], "send", "--description", "Send it all.")
    assert shell.run("snippets", "export", "send").stdout.split() == ["snippets/send.py"]
    file = shell.folder / "snippets" / "send.py"
    same = shell.document("snippets", "import", "snippets/send.py")
    assert (same["version"], same["state"]) == (1, "proposed")
    file.write_text(file.read_text() + "\n'another value'")
    changed = shell.document("snippets", "import", "snippets/send.py")
    assert (changed["version"], changed["state"]) == (2, "proposed")
    assert "+'another value'" not in shell.run("snippets", "show", "send", "--version", "1").stdout
    refused = shell.run("snippets", "approve", "send", "--version", "2")
    assert (refused.returncode, "another value" in refused.stderr) == (2, True)
    assert "run its script as it is now, and propose that execution" in refused.stderr
    told = shell.run("snippets", "import", "snippets/send.py").stderr
    assert "what it changes: `isolith snippets diff send`" in told
    assert shell.document("snippets", "approve", "send", "--version", "1")["state"] == "approved"
    assert shell.document("snippets", "revoke", "send", "--reason", "no longer")["reason"] == "no longer"
    gone = shell.run("snippets", "run", "send", "--input", '{"account": "x"}')
    assert (gone.returncode, "no version of snippet send is approved" in gone.stderr) == (2, True)
    listed = shell.run("snippets", "list").stdout.splitlines()
    assert [line.split()[1:3] for line in listed] == [["1", "revoked"], ["2", "proposed"]]
