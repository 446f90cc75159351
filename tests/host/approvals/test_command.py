"""`isolith executions grants|link|redeem`, and where the command line keeps its journal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import pytest
from typer.testing import CliRunner, Result

from isolith.command_line import cli, kept_journal
from isolith_bindings.secrets import MASK, redact

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from isolith_runtime.driver import Supply

BANK = """
from pathlib import Path
from isolith import connector, method

PAID = Path(__file__).with_name("paid.txt")

@connector("bank")
class Bank:
    @method(policy="ask")
    async def pay(self, amount: int) -> str:
        "Send money."
        with PAID.open("a") as file:
            file.write(f"{amount} ")
        return f"paid {amount}"
"""


class Bench:
    """The command line in a folder of its own, with its journal there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bank = str(folder / "bank.py")
        (folder / "bank.py").write_text(BANK)

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli.app, arguments)

    def good(self, *arguments: str, code: int = 0) -> str:
        done = self.run(*arguments)
        assert done.exit_code == code, (done.stdout, done.stderr)
        return done.stdout

    def document(self, *arguments: str, code: int = 0) -> Any:  # noqa: ANN401 - whatever JSON it is
        return json.loads(self.good(*arguments, "--json", code=code))

    def wrong(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert (done.exit_code, done.stdout) == (2, ""), (done.stdout, done.stderr)
        return done.stderr

    def paused(self, script: str = "[await bank.pay(amount=n) for n in (1, 2, 3)]") -> str:
        return cast("str", self.document("run", "-c", script, "--connect", self.bank, code=4)["execution_id"])

    @property
    def paid(self) -> list[str]:
        file = self.folder / "paid.txt"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def bench(tmp_path: Path, supply: Supply, monkeypatch: pytest.MonkeyPatch) -> Bench:
    del supply  # the image is there
    monkeypatch.setattr(kept_journal, "data_folder", lambda: tmp_path / "data")
    for name in (kept_journal.JOURNAL, kept_journal.LINK_KEY, "ISOLITH_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return Bench(tmp_path)


def test_a_grant_with_an_approval_holds_for_so_many_calls_and_is_shown(bench: Bench) -> None:
    run = bench.paused()
    again = bench.document("executions", "approve", run, "1", "--grant", "1", "--for", "30m", "--who", "ada", code=4)
    assert (bench.paid, [call["arguments"] for call in again["pending"]]) == (["1", "2"], [{"amount": 3}])
    assert "no grant holds now" in bench.run("executions", "grants", "list").stderr
    [grant] = bench.document("executions", "grants", "list", "--spent")
    assert (grant["method"], grant["uses_left"], grant["who"], grant["execution_id"]) == ("bank.pay", 0, "ada", run)
    told = bench.run("executions", "show", run).stdout
    assert re.search(r"bank\.pay \(1\) approved by ada at [0-9: -]+ UTC\n", told)
    assert "bank.pay (2) approved by ada at " in told
    assert f"under {grant['grant_id']}" in told
    assert "executions approve" in told  # and the command for what still waits


def test_an_answer_that_counts_is_said_and_what_is_to_be_done_when_nothing_waits(bench: Bench) -> None:
    run = bench.paused("[await bank.pay(amount=1), await bank.pay(amount=2)]")
    assert "`9c1e` is too short for a digest" in bench.wrong("executions", "approve", run, "1", "--digest", "9c1e")
    first = bench.run("executions", "approve", run, "1", "--who", "ada")
    assert (first.exit_code, first.stderr.splitlines()[0]) == (4, "call 1 is approved by ada")
    second = bench.run("executions", "reject", run, f"{run}.2", "--who", "bob", "--no-continue")
    said = second.stderr.splitlines()
    assert (second.exit_code, said[0]) == (4, "call 2 is rejected by bob")
    assert said[-1] == f"it waits for nobody any more: `isolith executions resume {run}` goes on with it"
    assert bench.run("executions", "show", run).stdout.splitlines()[-1] == said[-1]
    assert bench.run("executions", "resume", run).exit_code == 1
    assert bench.paid == ["1"]


def test_grants_are_given_listed_and_revoked(bench: Bench) -> None:
    given = bench.document(
        "executions", "grants", "give", "bank.pay", "--uses", "2", "--for", "7d", "--reason", "payday"
    )
    line = bench.good("executions", "grants", "list")
    assert all(part in line for part in (given["grant_id"], "bank.pay", "2 left", "anybody's executions", "payday"))
    run = bench.paused()
    assert bench.paid == ["1", "2"]
    assert "0 left" in bench.good("executions", "grants", "list", "--spent")
    more = bench.document("executions", "grants", "give", "bank.*", "--uses", "1", "--execution", run[:8])
    assert more["execution_id"] == run
    assert "revoked by bob" in bench.good("executions", "grants", "revoke", more["grant_id"][:14], "--who", "bob")
    assert "already revoked by bob" in bench.wrong("executions", "grants", "revoke", more["grant_id"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("grants", "give", "pay", "--uses", "1"), "no connector.method"),
        (("grants", "give", "bank.pay", "--uses", "0"), "1 to 100,000 calls"),
        (("grants", "give", "bank.pay", "--uses", "1", "--for", "soon"), "`--for` takes a time such as 30m"),
        (("grants", "give", "bank.pay", "--uses", "1", "--for", "0h"), "at most 366 days"),
        (("grants", "revoke", "grant_no"), "no grant begins with `grant_no`"),
        (("approve", "x", "1", "--everywhere"), "`--everywhere` is about `--grant N`"),
        (("redeem", "hello"), "no approval link"),
    ],
)
def test_wrong_use_is_said(bench: Bench, arguments: tuple[str, ...], says: str) -> None:
    assert says in bench.wrong("executions", *arguments)


def test_a_link_is_made_shown_and_redeemed_once(bench: Bench) -> None:
    run = bench.paused("await bank.pay(amount=7)")
    made = bench.run("executions", "link", run, "1", "--to", "ada@example.com", "--base", "https://i.example/links/")
    url = made.stdout.strip()
    assert url.startswith("https://i.example/links/1.")
    assert "in the name of ada@example.com, once, until" in made.stderr
    assert bench.good("executions", "redeem", url, "--look") == 'approve: bank.pay({"amount":7})\n'
    assert bench.paid == []
    assert bench.good("executions", "redeem", url) == "paid 7\n"
    assert bench.paid == ["7"]
    assert "already approved by ada@example.com" in bench.wrong("executions", "redeem", url)
    assert "already approved by ada@example.com" in bench.wrong("executions", "redeem", url, "--look")
    assert "already approved by ada@example.com" in bench.wrong("executions", "link", run, "1", "--to", "bob")


def test_a_link_may_reject_and_another_key_makes_it_void(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run = bench.paused("await bank.pay(amount=7)")
    made = bench.document("executions", "link", run, "1", "--to", "ada", "--reject", "--for", "1h")
    assert (made["verdict"], made["who"], made["call_id"]) == ("reject", "ada", f"{run}.1")
    monkeypatch.setenv(kept_journal.LINK_KEY, "another key that is long enough to be one")
    assert "signed with another key" in bench.wrong("executions", "redeem", made["token"])
    monkeypatch.setenv(kept_journal.LINK_KEY, "short")
    assert "at least 32 bytes" in bench.wrong("executions", "redeem", made["token"])
    monkeypatch.delenv(kept_journal.LINK_KEY)
    ended = bench.document("executions", "redeem", made["token"], "--reason", "no", code=1)
    assert (ended["status"], "no" in ended["error"]["message"], bench.paid) == ("rejected", True, [])


# where the journal is


def test_the_journal_is_where_the_flag_the_environment_or_the_configuration_says(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, elsewhere = bench.folder / "own.db", bench.folder / "elsewhere.db"
    script = ("run", "-c", "await bank.pay(amount=1)")
    flagged = bench.run(*script, "--connect", bench.bank, "--journal", str(own))
    assert f"--journal {own}" in flagged.stderr  # the command that it prints finds the same journal
    [found] = bench.document("executions", "list", "--journal", f"sqlite:///{own}")
    [line] = [line for line in flagged.stderr.splitlines() if "executions approve" in line]
    assert bench.run(*line.split("#")[0].split()[1:]).exit_code == 0
    assert bench.document("executions", "show", found["execution_id"], "--journal", str(own))["status"] == "completed"
    config = bench.folder / "isolith.toml"
    config.write_text('connect = ["bank.py"]\n[journal]\nurl = "elsewhere.db"\n')
    configured = bench.run(*script, "--config", str(config))
    assert f"--config {config}" in configured.stderr
    assert elsewhere.exists()
    assert len(bench.document("executions", "list", "--config", str(config))) == 1
    monkeypatch.setenv(kept_journal.JOURNAL, str(own))
    assert len(bench.document("executions", "list")) == 1
    silent = bench.run(*script, "--connect", bench.bank)
    assert "--journal" not in silent.stderr
    assert len(bench.document("executions", "list")) == 2
    assert not (bench.folder / "data").exists()  # nothing was kept where it is kept otherwise


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("runs.db", "runs.db"),
        ("sqlite:////a/b.db", "sqlite:////a/b.db"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://u:hunter22@h:5432/db?sslmode=require", "postgresql://u:***@h:5432/db?sslmode=require"),
        ("postgresql://h/db?user=u&password=hunter22", "postgresql://h/db?user=u&password=***"),
        ("postgresql://u:hunter%2022@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:hunter22@[h/db", "***"),
    ],
)
def test_no_password_is_shown(url: str, shown: str) -> None:
    assert kept_journal.shown(url) == shown


def test_a_password_is_known_from_the_moment_the_url_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://u:hunter22-of-the-url@127.0.0.1:1/db"
    for done in (
        bench.run("executions", "list", "--journal", url),
        bench.run("run", "-c", "1", "--connect", bench.bank, "--journal", url),
    ):
        assert "hunter22" not in done.stdout + done.stderr
        assert done.exit_code != 0
    assert redact("it is hunter22-of-the-url") == f"it is {MASK}"
    assert "hunter22" not in repr(kept_journal.choose(url))
    config = bench.folder / "isolith.toml"
    config.write_text('[journal]\nurl = "postgresql://u:${DB_PASSWORD}@127.0.0.1:1/db"\n')
    monkeypatch.setenv("DB_PASSWORD", "hunter23-of-the-file")
    done = bench.run("executions", "list", "--config", str(config))
    assert done.exit_code == 2
    assert "connection" in done.stderr
    assert "hunter23" not in done.stderr
    monkeypatch.delenv("DB_PASSWORD")
    assert "DB_PASSWORD is not set" in bench.wrong("executions", "list", "--config", str(config))


@pytest.mark.parametrize("new_url", ["postgres"], indirect=True)
def test_the_command_line_reaches_postgres(bench: Bench, new_url: Callable[[], str]) -> None:
    url = new_url()
    done = bench.run("run", "-c", "await bank.pay(amount=1)", "--connect", bench.bank, "--journal", url)
    assert done.exit_code == 4
    [found] = bench.document("executions", "list", "--journal", url)
    answered = bench.document("executions", "approve", found["execution_id"], "1", "--journal", url)
    assert (answered["status"], bench.paid) == ("completed", ["1"])
    assert bench.run("executions", "verify", "--journal", url).exit_code == 0
