"""A snippet from proposal to call: what a person has read runs as one call of a script, governed like any other."""

from __future__ import annotations

import asyncio
import importlib
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest

from isolith import Budgets, CodeMode, Policy, Rule, UsageError, connector, method
from isolith.durable.ledger import LEASE
from isolith.journal import Journal, NewCall, Order, Settings
from isolith.journal.errors import WrongStatus

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from isolith import Outcome
    from isolith.journal.model import Snippet

pytestmark = pytest.mark.anyio

REPORT = """
rows = await crm.rows(team=input["team"])
total = sum(row["amount"] for row in rows)
await crm.note(text=f"{input['team']}: {total}")
{"team": input["team"], "total": total}
"""


class Done:
    """What really happened."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.principals: list[object] = []
        self.fail = False


def crm_of(done: Done) -> object:
    def unsay(*, arguments: dict[str, str], result: None) -> None:
        done.notes.remove(arguments["text"])

    @connector("crm")
    class Crm:
        """Contacts."""

        async def rows(self, team: str) -> list[dict[str, int]]:
            """The rows of a team."""
            if done.fail:
                raise ValueError("closed today")
            return [{"amount": len(team)}, {"amount": 10}]

        @method(revert=unsay)
        async def note(self, text: str) -> None:
            """Keep a note."""
            done.notes.append(text)

        async def drop(self) -> None:
            """Away with everything."""
            done.notes.clear()

    return Crm


@pytest.fixture
def done() -> Done:
    return Done()


@pytest.fixture
async def code_mode(done: Done, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode([crm_of(done)], journal=tmp_path / "journal.db") as made:
        yield made


async def proposed(code_mode: CodeMode, script: str = REPORT, name: str = "weekly_report") -> Snippet:
    outcome = await code_mode.execute(script, input={"team": "xy"})
    assert outcome.error is None
    return await code_mode.snippets.propose(outcome.execution_id, name, "Sum up the week of a team.", who="ada")


async def approved(code_mode: CodeMode, script: str = REPORT, name: str = "weekly_report") -> Snippet:
    snippet = await proposed(code_mode, script, name)
    return await code_mode.snippets.approve(snippet.name, snippet.version, who="bob")


def message(outcome: Outcome) -> str:
    assert outcome.error is not None, outcome.value
    return outcome.error.message


async def test_from_proposal_to_call(code_mode: CodeMode, done: Done) -> None:
    snippet = await approved(code_mode)
    assert (snippet.proposed_by, snippet.reviewed_by, snippet.version) == ("ada", "bob", 1)
    assert done.notes == ["xy: 12"]  # its tests reached nothing
    outcome = await code_mode.execute("[await snippets.weekly_report(team='abc')]", principal="carl")
    assert (outcome.error, outcome.value) == (None, [{"team": "abc", "total": 13}])
    assert done.notes == ["xy: 12", "abc: 13"]
    assert [(call.connector, call.method) for call in outcome.calls] == [("snippets", "weekly_report")]
    runs = await code_mode.runs()
    [call] = await runs.journal.calls.of(outcome.execution_id)
    assert (call.connector, call.method, call.status) == ("snippets", "weekly_report", "completed")
    within = await runs.journal.executions.get(f"{outcome.execution_id}.1")
    assert (within.status, within.principal) == ("completed", "carl")
    calls = await runs.journal.calls.of(within.execution_id)
    assert [(call.method, call.status) for call in calls] == [("rows", "completed"), ("note", "completed")]
    assert outcome.usage.calls == 3  # its own and those within


async def test_it_is_found_and_described(code_mode: CodeMode) -> None:
    await approved(code_mode)
    script = "found = await search('sum up the week')\n[found['results'][0]['path'], (await describe('snippets.weekly_report'))['text']]"
    outcome = await code_mode.execute(script)
    assert outcome.error is None
    path, text = cast("list[str]", outcome.value)
    assert path == "snippets.weekly_report"
    assert "team: str" in text


async def test_a_synchronous_script_calls_it_as_well(code_mode: CodeMode) -> None:
    await approved(code_mode)
    outcome = await code_mode.execute("snippets.weekly_report(team='abc')['total']")
    assert (outcome.error, outcome.value) == (None, 13)


@pytest.mark.parametrize("arguments", ["team=3", "", "team='a', more=1"])
async def test_its_input_is_checked(code_mode: CodeMode, done: Done, arguments: str) -> None:
    await approved(code_mode)
    outcome = await code_mode.execute(f"await snippets.weekly_report({arguments})")
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_arguments"
    assert done.notes == ["xy: 12"]


async def test_what_fails_within_can_be_caught(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode)
    done.fail = True
    script = "try:\n    await snippets.weekly_report(team='a')\nexcept ToolError as error:\n    said = str(error)\nsaid"
    outcome = await code_mode.execute(script)
    assert outcome.error is None
    assert "line 2" in str(outcome.value)
    assert "closed today" in str(outcome.value)


@pytest.mark.parametrize(
    "script",
    [
        "await snippets.propose(execution_id='x', name='mine', description='d')",
        "await snippets.approve(name='weekly_report', version=1)",
        "await snippets.revoke(name='weekly_report', version=1)",
        "await isolith.propose(name='mine')",
        "await call('snippets.propose', name='mine')",
    ],
)
async def test_no_script_says_what_is_a_snippet(code_mode: CodeMode, script: str) -> None:
    """Only host code and people do: whoever wrote it does not grade it."""
    await approved(code_mode)
    outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert outcome.error.kind in {"unknown_tool", "exception"}
    assert [(one.name, one.version, one.state) for one in await code_mode.snippets.find()] == [
        ("weekly_report", 1, "approved")
    ]


async def test_its_calls_are_those_of_the_run(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode)
    outcome = await code_mode.execute("await snippets.weekly_report(team='a')", budgets=Budgets(calls=2))
    assert outcome.error is not None
    assert outcome.error.kind == "calls_exceeded"
    assert done.notes == ["xy: 12"]


async def test_it_reaches_only_what_was_reviewed(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode, "if input['team'] == 'all':\n    await crm.drop()\nawait crm.rows(team=input['team'])")
    done.notes.append("kept")
    outcome = await code_mode.execute("await snippets.weekly_report(team='all')")
    assert "drop" in message(outcome)
    assert done.notes == ["kept"]


async def test_revoked_at_once(code_mode: CodeMode) -> None:
    await approved(code_mode)
    await code_mode.snippets.revoke("weekly_report", 1, who="bob", reason="wrong sums")
    outcome = await code_mode.execute("await snippets.weekly_report(team='a')")
    assert "no snippet" in message(outcome)


async def test_only_what_completed_and_only_with_its_tests(code_mode: CodeMode, done: Done) -> None:
    failed = await code_mode.execute("1 / 0")
    with pytest.raises(WrongStatus, match="completed"):
        await code_mode.snippets.propose(failed.execution_id, "broken", "Divides.")
    await proposed(code_mode, "import random\nawait crm.rows(team=input['team'])\nrandom.random()", "dice")
    with pytest.raises(UsageError, match="another value"):
        await code_mode.snippets.approve("dice", 1, who="bob")
    [snippet] = await code_mode.snippets.find("dice")
    assert snippet.state == "proposed"


async def test_it_is_proven_by_what_it_asked_whatever_a_person_wrote_instead(done: Done, tmp_path: Path) -> None:
    policy = Policy(preset="trusted", rules=(Rule(action="ask", match=("crm.note",)),))
    async with CodeMode([crm_of(done)], journal=tmp_path / "journal.db", policy=policy) as careful:
        paused = await careful.execute(REPORT, input={"team": "xy"})
        said: dict[str, object] = {"text": "nothing of this"}
        proven = await careful.approve(paused.execution_id, paused.pending[0].call_id, arguments=said)
        assert done.notes == ["nothing of this"]
        snippet = await careful.snippets.propose(proven.execution_id, "report", "Sum up the week.", who="ada")
        assert (await careful.snippets.approve("report", snippet.version, who="bob")).state == "approved"


async def test_a_method_that_has_changed(code_mode: CodeMode, done: Done, tmp_path: Path) -> None:
    await approved(code_mode)

    @connector("crm")
    class Other:
        async def rows(self, team: str, year: int = 2026) -> list[dict[str, int]]:
            """Another schema."""
            return []

        async def note(self, text: str) -> None:
            done.notes.append(text)

    async with CodeMode([Other], journal=tmp_path / "journal.db") as changed:
        outcome = await changed.execute("await snippets.weekly_report(team='a')")
        assert outcome.error is not None
        assert outcome.error.kind == "denied"
        assert "the schema of crm.rows has changed" in outcome.error.message
        found = await changed.execute("len((await search(kind='snippet'))['results'])")
        assert found.value == 0


async def test_a_person_is_asked_about_the_whole_of_it(done: Done, tmp_path: Path, code_mode: CodeMode) -> None:
    await approved(code_mode)
    policy = Policy(rules=(Rule(action="ask", match=("crm.note",)),))
    async with CodeMode([crm_of(done)], journal=tmp_path / "journal.db", policy=policy) as careful:
        unfit = await careful.execute("await snippets.weekly_report(team=3)")
        assert unfit.error is not None
        assert unfit.error.kind == "invalid_arguments"  # nobody is asked about that
        outcome = await careful.execute("await snippets.weekly_report(team='abc')")
        [waiting] = outcome.pending
        assert (waiting.method, waiting.arguments) == ("weekly_report", {"team": "abc"})
        assert "crm.note" in waiting.reason
        assert done.notes == ["xy: 12"]
        final = await careful.approve(outcome.execution_id, waiting.call_id, digest=waiting.digest)
        assert (final.error, final.value) == (None, {"team": "abc", "total": 13})
        assert done.notes == ["xy: 12", "abc: 13"]


async def test_what_is_denied_is_denied_within(done: Done, tmp_path: Path, code_mode: CodeMode) -> None:
    await approved(code_mode)
    policy = Policy(rules=(Rule(action="deny", match=("crm.note",)),))
    async with CodeMode([crm_of(done)], journal=tmp_path / "journal.db", policy=policy) as strict:
        outcome = await strict.execute("await snippets.weekly_report(team='abc')")
        assert outcome.error is not None
        assert outcome.error.kind == "denied"
        assert done.notes == ["xy: 12"]


async def test_what_it_did_is_rolled_back_with_the_run(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode)
    outcome = await code_mode.execute("await snippets.weekly_report(team='abc')")
    assert (await code_mode.rollback(outcome.execution_id)).status == "rolled_back"
    assert done.notes == ["xy: 12"]


async def test_a_run_stays_at_its_version(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode)
    execution = code_mode.start("await snippets.weekly_report(team='abc')")
    await approved(code_mode, REPORT.replace('"total": total', '"total": -total'))
    first = await execution.outcome()
    second = await code_mode.execute("await snippets.weekly_report(team='abc')")
    assert (first.value, second.value) == ({"team": "abc", "total": 13}, {"team": "abc", "total": -13})
    assert '+{"team": input["team"], "total": -total}' in await code_mode.snippets.diff("weekly_report", 2)


async def test_a_run_that_is_tried_again_makes_nothing_twice_within(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode, "await crm.note(text=input['team'])\nlen(await crm.rows(team=input['team']))")
    done.fail = True
    outcome = await code_mode.execute("await snippets.weekly_report(team='abc')")
    assert outcome.status == "failed"
    assert done.notes == ["xy", "abc"]
    done.fail = False
    again = await (await code_mode.runs()).retry(outcome.execution_id)
    assert (again.error, again.value) == (None, 2)
    assert done.notes == ["xy", "abc"]


async def test_a_failed_run_is_rolled_back_within_as_well(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode, "await crm.note(text=input['team'])\nlen(await crm.rows(team=input['team']))")
    done.fail = True
    outcome = await code_mode.execute("await snippets.weekly_report(team='abc')")
    rolled_back = await code_mode.rollback(outcome.execution_id)
    assert rolled_back.status == "rolled_back"
    assert done.notes == ["xy"]


async def test_many_at_once_share_one_budget(code_mode: CodeMode, done: Done) -> None:
    await approved(code_mode)
    script = """
import asyncio
found = await asyncio.gather(
    *(snippets.weekly_report(team="t" * n) for n in range(1, 6)), return_exceptions=True
)
[type(one).__name__ for one in found]
"""
    outcome = await code_mode.execute(script, budgets=Budgets(calls=11))
    assert outcome.error is None
    assert outcome.usage.calls <= 11
    assert len(done.notes) <= 1 + 3
    assert "dict" in str(outcome.value) or "ToolError" in str(outcome.value)


async def test_what_it_keeps_goes_to_the_run_around_it(code_mode: CodeMode) -> None:
    await approved(code_mode, "await artifact(b'bytes of ' + input['team'].encode(), name='week.bin')")
    execution = code_mode.start("kept = await snippets.weekly_report(team='abc')\n[kept.name, await kept.read(), kept]")
    outcome = await execution.outcome()
    assert outcome.error is None
    [record] = outcome.artifacts
    assert cast("list[object]", outcome.value)[:2] == ["week.bin", b"bytes of abc"]
    assert execution.artifact(record.handle) == b"bytes of abc"


async def test_cancelling_the_run_cancels_what_is_within(code_mode: CodeMode) -> None:
    await approved(code_mode, "await crm.rows(team=input['team'])\nwhile input['team'] == 'for ever':\n    pass")
    execution = code_mode.start("await snippets.weekly_report(team='for ever')")
    within = f"{execution.execution_id}.1"
    runs = await code_mode.runs()
    async for event in execution.events():
        if event["event"] == "progress":
            break
    execution.cancel()
    assert (await execution.outcome()).status == "cancelled"
    assert (await runs.journal.executions.get(within)).status == "cancelled"


async def test_a_run_within_is_gone_on_with_by_the_run_around_it_alone(code_mode: CodeMode) -> None:
    runs = await code_mode.runs()
    lease = await runs.journal.executions.create(Order("outer.1", "1", origin='{"within":"outer"}'), "host/0", LEASE)
    new = NewCall(1, "crm", "rows", '{"team":"abc"}')
    call = await runs.journal.calls.ask(lease, new, reason="unknown")
    await runs.journal.executions.move(lease, "paused", outcome='{"execution_id":"outer.1","status":"paused"}')
    decided = await code_mode.approve("outer.1", "outer.1.1", digest=call.digest)
    assert (decided.status, decided.pending) == ("paused", ())
    assert "isolith executions retry outer" in decided.warnings[0].message
    for go_on in (runs.resume, runs.retry):
        with pytest.raises(UsageError, match=r"is a snippet's, within another: .* `isolith executions retry outer`"):
            await go_on("outer.1")


KILLED = """
import asyncio
import os
import signal
import sys
from pathlib import Path

from isolith import CodeMode, connector, method

FOLDER = Path(__file__).parent


@connector("crm")
class Crm:
    async def note(self, text: str) -> None:
        with (FOLDER / "notes.txt").open("a") as file:
            file.write(text + "\\n")

    @method(idempotent=True)
    async def rows(self, team: str) -> list[str]:
        if (FOLDER / "kill").exists():
            (FOLDER / "kill").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return [team]


async def main() -> None:
    async with CodeMode([Crm], journal=FOLDER / "journal.db", tend=False) as code_mode:
        await code_mode.execute("[await snippets.week(team='abc')]")


if __name__ == "__main__":
    asyncio.run(main())
"""


async def test_a_host_that_is_killed_within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "killed_crm.py").write_text(KILLED)
    monkeypatch.syspath_prepend(tmp_path)
    crm = importlib.import_module("killed_crm").Crm
    async with CodeMode([crm], journal=tmp_path / "journal.db", tend=False) as code_mode:
        await approved(code_mode, "await crm.note(text=input['team'])\nawait crm.rows(team=input['team'])", "week")
    (tmp_path / "kill").touch()
    done = await asyncio.to_thread(lambda: subprocess.run([sys.executable, tmp_path / "killed_crm.py"], check=False))
    assert done.returncode == -signal.SIGKILL
    later = Settings(clock=lambda: datetime.now(UTC) + timedelta(hours=1))
    async with (
        await Journal.open(f"sqlite:///{tmp_path / 'journal.db'}", later) as journal,
        CodeMode([crm], journal=journal, tend=False) as code_mode,
    ):
        [outcome] = await (await code_mode.runs()).recover("null")
        assert (outcome.error, outcome.value) == (None, [["abc"]])
        within = await journal.calls.of(f"{outcome.execution_id}.1")
        assert [(call.method, call.attempts) for call in within] == [("note", 1), ("rows", 2)]
    assert (tmp_path / "notes.txt").read_text() == "xy\nabc\n"
