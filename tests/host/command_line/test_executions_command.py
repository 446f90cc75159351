"""`isolith executions list|show|verify`, over a journal in which something waits. No script runs here."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.journal.support import created, tampered
from typer.testing import CliRunner, Result

from isolith.command_line import cli
from isolith.journal import Journal, NewCall
from isolith.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "# away\nid = 1\nprint('\x1b[2J')\nawait crm.delete(id=id)"
EXPIRES = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOLITH_HOME", str(tmp_path))
    for name in ("ISOLITH_JOURNAL", "ISOLITH_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def paused(url: str) -> str:
    """The execution that waits, in a journal that has another one, which is running."""

    async def seed() -> str:
        async with await Journal.open(url) as journal:
            await created(journal, script="import json\nawait crm.rows()")
            lease = await created(journal, script=SCRIPT, principal="ada")
            call = NewCall(1, "crm", "delete", '{"id":1}', line=4)
            await journal.calls.ask(lease, call, reason="policy", expires_at=EXPIRES)
            told = {"execution_id": lease.execution_id, "status": "paused"}
            await journal.executions.move(lease, "paused", outcome=json.dumps(told))
            return lease.execution_id

    return asyncio.run(seed())


def isolith(*arguments: str, url: str) -> Result:
    return CliRunner().invoke(cli.app, ["executions", *arguments, "--journal", url])


def document(*arguments: str, url: str) -> Any:  # noqa: ANN401 - whatever JSON it is
    return json.loads(isolith(*arguments, "--json", url=url).stdout)


def test_a_list_says_what_waits_and_how_the_others_begin(paused: str, url: str) -> None:
    told = {line[:32]: line.partition("  ")[2][21:] for line in isolith("list", url=url).stdout.splitlines()}
    assert told.pop(paused) == "paused, 1 pending  crm.delete"
    assert list(told.values()) == ["running  await crm.rows()"]
    [waits] = document("list", "--status", "paused", url=url)
    assert (waits["waits_for"], waits["first_line"], waits["principal"]) == (["crm.delete"], "id = 1", "ada")
    assert datetime.fromisoformat(waits["expires_at"]) == EXPIRES


def test_what_a_reviewer_is_shown_has_the_script_and_obeys_none_of_it(paused: str, url: str) -> None:
    shown = isolith("show", paused, url=url)
    assert (shown.exit_code, shown.stderr) == (4, "")
    lines = shown.stdout.splitlines()
    assert lines[0].startswith(f"execution {paused}: paused, begun ")
    assert lines[0].endswith(", for ada")
    assert lines[2:7] == [
        "script:",
        "     1 | # away",
        "     2 | id = 1",
        "     3 | print('\\x1b[2J')",
        ">    4 | await crm.delete(id=id)",
    ]
    assert lines[7].startswith("call 1, crm.delete in line 4, waits for a person until 2100-01-01 00:00:00 UTC, for ")
    outcome = document("show", paused, url=url)
    assert Outcome.model_validate(outcome).pending[0].method == "delete"  # the outcome, and nothing beside it


def test_an_empty_list_says_whether_anything_is_kept(paused: str, url: str, tmp_path: Path) -> None:
    del paused
    assert isolith("list", "--status", "failed", url=url).stderr == "none is failed\n"
    asyncio.run(_made(f"sqlite:///{tmp_path / 'empty.db'}"))
    empty = isolith("list", "--status", "failed", url=str(tmp_path / "empty.db"))
    assert empty.stderr.startswith("no execution is kept here")


@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_list_has_one_entry_at_least(paused: str, url: str, limit: str) -> None:
    """With 0 it said that none is None, and with -1 it listed everything."""
    result = isolith("list", "--limit", limit, url=url)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--limit" in result.stderr


def test_one_call_that_waits_is_one(paused: str, url: str) -> None:
    result = isolith("resume", paused, url=url)
    assert (result.exit_code, result.stderr) == (
        2,
        f"isolith: 1 call of execution {paused} still waits for an answer\n",
    )


def test_a_check_of_the_journal_as_data(paused: str, url: str) -> None:
    good = isolith("verify", "--json", url=url)
    told = json.loads(good.stdout)
    assert (good.exit_code, good.stderr, told["ok"], told["executions"], told["findings"]) == (0, "", True, 2, [])
    assert isolith("verify", "--head", told["head"], url=url).exit_code == 0
    tampered(url, "UPDATE orders SET script = 'other' WHERE principal = 'ada'")
    bad = isolith("verify", "--json", url=url)
    told = json.loads(bad.stdout)
    assert (bad.exit_code, told["ok"], told["head"]) == (1, False, None)
    assert {finding["execution_id"] for finding in told["findings"]} == {paused}


async def _made(url: str) -> None:
    async with await Journal.open(url):
        pass


@pytest.fixture
def kept(url: str) -> str:
    """The id of a run that has made artifacts."""

    async def make() -> str:
        async with await Journal.open(url) as journal:
            lease = await created(journal)
            for number, name in enumerate(("data.bin", "twice", "twice")):
                content = b"\x00\xff" if number == 0 else b"text"
                await journal.artifacts.keep(lease, content, mime="text/plain", name=name, handle=f"art_{number}")
            return lease.execution_id

    return asyncio.run(make())


@pytest.mark.parametrize("which", ["data.bin", "art_0"])
def test_an_artifact_is_written_to_a_pipe_or_a_file(kept: str, url: str, tmp_path: Path, which: str) -> None:
    ask = ["executions", "artifact", kept[:8], which, "--journal", url]
    assert CliRunner().invoke(cli.app, ask).stdout_bytes == b"\x00\xff"
    done = CliRunner().invoke(cli.app, [*ask, "--output", str(tmp_path / "out.bin")])
    assert (done.exit_code, done.stdout_bytes, (tmp_path / "out.bin").read_bytes()) == (0, b"", b"\x00\xff")


@pytest.mark.parametrize(
    ("which", "says"),
    [("none", "no artifact of it is called `none`: there are art_0 (data.bin)"), ("twice", "2 artifacts of execution")],
)
def test_what_is_no_artifact_or_not_one_is_told_with_those_there_are(
    kept: str, url: str, which: str, says: str
) -> None:
    done = CliRunner().invoke(cli.app, ["executions", "artifact", kept, which, "--journal", url])
    assert (done.exit_code, says in done.stderr.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize(
    "origin", ['["its own"]', '"crm"', '{"connect": {"its": "own"}}', '{"config": [1], "policy": {}}']
)
def test_what_a_host_wrote_as_the_origin_of_a_run_is_its_own_affair(url: str, origin: str) -> None:
    async def seed() -> str:
        async with await Journal.open(url) as journal:
            lease = await created(journal, script="1", origin=origin)
            told = Outcome(execution_id=lease.execution_id, status="completed").model_dump_json()
            await journal.executions.move(lease, "completed", outcome=told)
            return lease.execution_id

    which = asyncio.run(seed())
    assert isolith("show", which, url=url).exit_code == 0
    back = isolith("rollback", which, url=url)
    assert (back.exit_code, back.stderr) == (
        2,
        f"isolith: no call of execution {which} can be undone: none has a `revert`\n",
    )
