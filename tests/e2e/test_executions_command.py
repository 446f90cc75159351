"""`isolith executions`, as a person uses it after a run that paused: look, decide, go on; each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.e2e.conftest import isolith_command
from tests.e2e.serving import link_images

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.slow

BANK = '''
"""Money."""

from pathlib import Path

from isolith import connector, method

DONE = Path(__file__).with_name("done.txt")


@connector("bank")
class Bank:
    """An account."""

    async def balance(self) -> int:
        """What is there."""
        return 100

    @method(policy="ask", preview=lambda amount: f"send {amount} away")
    async def pay(self, amount: int) -> str:
        """Send money."""
        with DONE.open("a") as file:
            file.write(f"{amount}\\n")
        return f"paid {amount}"
'''
SCRIPT = "amount = await bank.balance() // 2\\nprint('about to pay')\\n[await bank.pay(amount=amount), amount]"


class Shell:
    """Commands in one folder, with state of their own and the image that is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def run(self, *arguments: str) -> CompletedProcess[str]:
        return subprocess.run(
            [isolith_command(), *arguments],
            cwd=self.folder,
            env={**os.environ, "ISOLITH_HOME": str(self.home), "COLUMNS": "300"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def document(self, *arguments: str) -> dict[str, Any]:
        done = self.run(*arguments, "--json")
        return cast("dict[str, Any]", json.loads(done.stdout))


@pytest.fixture
def shell(tmp_path: Path, supply: Supply) -> Shell:
    found = Shell(tmp_path)
    found.home.mkdir(mode=0o700)
    link_images(found.home)
    (tmp_path / "bank.py").write_text(BANK)
    return found


def test_a_run_that_pauses_is_approved_and_goes_on(shell: Shell) -> None:
    paused = shell.run("run", "-c", SCRIPT.replace("\\n", "\n"), "--connect", "bank.py")
    assert paused.returncode == 4
    assert "waiting for an answer: bank.pay(amount=50)" in paused.stderr
    assert "it would: send 50 away" in paused.stderr
    [command] = [line.split("#")[0].split() for line in paused.stderr.splitlines() if "executions approve" in line]
    listed = shell.run("executions", "list", "--status", "paused")
    assert ", 1 pending" in listed.stdout
    shown = shell.document("executions", "show", command[3])
    assert [waiting["arguments"] for waiting in shown["pending"]] == [{"amount": 50}]
    done = shell.run(*command[1:])  # the command that was printed, as it stands
    assert (done.returncode, json.loads(done.stdout)) == (0, ["paid 50", 50])
    assert (shell.folder / "done.txt").read_text() == "50\n"
    again = shell.run(*command[1:])
    assert again.returncode == 2
    assert "approved" in again.stderr or "completed" in again.stderr
    ended = shell.document("executions", "show", command[3])
    assert (ended["status"], ended["value"], ended["pending"]) == ("completed", ["paid 50", 50], [])
    assert shell.run("executions", "verify").returncode == 0
    exported = [json.loads(line) for line in shell.run("executions", "export").stdout.splitlines()]
    assert len(exported) > 5


def test_edited_rejected_cancelled_and_unknown(shell: Shell) -> None:
    def paused() -> str:
        outcome = shell.document("run", "-c", SCRIPT.replace("\\n", "\n"), "--connect", "bank.py")
        return cast("str", outcome["execution_id"])

    edited = shell.document("executions", "approve", paused(), "2", "--arguments", '{"amount": 7}')
    assert edited["value"] == ["paid 7", 50]
    rejected = shell.document("executions", "reject", paused(), "2", "--reason", "too much")
    assert (rejected["status"], rejected["error"]["kind"]) == ("rejected", "rejected")
    assert "too much" in rejected["error"]["message"]
    left = paused()
    decided = shell.document("executions", "approve", left, "2", "--no-continue")
    assert (decided["status"], decided["pending"]) == ("paused", [])
    assert shell.document("executions", "resume", left)["value"] == ["paid 50", 50]
    ended = paused()
    assert shell.document("executions", "cancel", ended, "--who", "ada")["status"] == "cancelled"
    assert "ada asked at " in shell.run("executions", "show", ended).stdout
    assert "cancelled" in shell.run("executions", "approve", ended, "2").stderr
    wrong = shell.run("executions", "approve", "nope", "2")
    assert (wrong.returncode, wrong.stderr.strip()) == (
        2,
        "isolith: no execution begins with `nope`: see `isolith executions list`",
    )
    waits = paused()
    stale = shell.run("executions", "approve", waits, "2", "--digest", "0" * 64)
    assert stale.returncode == 2
    assert "other arguments" in stale.stderr
    assert stale.stderr.endswith(f"look at what waits now: `isolith executions show {waits}`\n")


def test_a_run_that_failed_is_tried_again(shell: Shell) -> None:
    text = BANK.replace(
        "return 100",
        "if not DONE.exists():\n            DONE.touch()\n            raise OSError('down')\n        return 100",
    )
    (shell.folder / "bank.py").write_text(text.replace('policy="ask", ', ""))
    failed = shell.document("run", "-c", SCRIPT.replace("\\n", "\n"), "--connect", "bank.py")
    assert (failed["status"], failed["error"]["kind"]) == ("failed", "tool_error")
    done = shell.document("executions", "retry", failed["execution_id"])
    assert (done["status"], done["value"]) == ("completed", ["paid 50", 50])


def test_a_run_is_looked_at_once_more(shell: Shell) -> None:
    outcome = shell.document(
        "run", "-c", "import random\n[await bank.balance(), random.random()]", "--connect", "bank.py"
    )
    name = outcome["execution_id"]
    (shell.folder / "bank.py").write_text(BANK.replace("return 100", "return 7"))
    assert shell.document("executions", "replay", name)["value"] == outcome["value"]
    (shell.folder / "seen.py").write_text(
        "import random\nx = await bank.balance()\nprint('it was', x)\n[x, random.random()]"
    )
    seen = shell.run("executions", "replay", name, "--script", "seen.py")
    assert (json.loads(seen.stdout), seen.stderr) == (outcome["value"], "it was 100\n")
    other = shell.run("executions", "replay", name, "--script", "bank.py")
    assert (other.returncode, other.stdout) == (1, "")


def test_a_journal_that_was_set_back_is_found_by_what_was_kept_elsewhere(shell: Shell) -> None:
    def run() -> None:
        assert shell.run("run", "-c", "await bank.balance()", "--connect", "bank.py").returncode == 0

    run()
    [journal] = shell.home.rglob("*.db")
    before = journal.read_bytes()
    run()
    checked = shell.run("executions", "verify")
    [head] = [line.partition("--head ")[2] for line in checked.stderr.splitlines() if "--head" in line]
    assert shell.run("executions", "verify", "--head", head).returncode == 0
    journal.write_bytes(before)
    assert shell.run("executions", "verify").returncode == 0  # all that is there is as it was
    found = shell.run("executions", "verify", "--head", head)
    assert (found.returncode, found.stdout) == (
        1,
        "the journal itself, record 4: the record is missing: its hash was noted elsewhere\n",
    )
    wrong = shell.run("executions", "verify", "--head", "3:abc")
    assert (wrong.returncode, "as `isolith executions verify` prints it" in wrong.stderr) == (2, True)
