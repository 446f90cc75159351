"""A snippet from proposal to call: what a person has read runs as one call of a script, governed like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.e2e.crm import REPORT, Done, approved, crm_of, message, proposed

from isolith import Budgets, CodeMode, Policy, Rule, UsageError, connector
from isolith.journal.errors import WrongStatus

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


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
