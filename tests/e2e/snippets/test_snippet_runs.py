"""The run of a snippet within a run: it shares budgets and files, ends with it, is undone with it, outlives its host."""

from __future__ import annotations

import asyncio
import importlib
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest
from tests.e2e.crm import REPORT, Done, approved

from isolith import Budgets, CodeMode, UsageError
from isolith.durable.ledger import LEASE
from isolith.journal import Journal, NewCall, Order, Settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


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


async def test_it_takes_keyword_arguments_or_one_dict_as_a_method_does(code_mode: CodeMode) -> None:
    await approved(code_mode)
    by_name = await code_mode.execute("await snippets.weekly_report(team='abc')")
    by_dict = await code_mode.execute("await snippets.weekly_report({'team': 'abc'})")
    assert (by_dict.error, by_dict.value) == (None, by_name.value)
    other = await code_mode.execute("x = 1\nawait snippets.weekly_report('abc')")
    assert other.error is not None
    assert (other.error.kind, other.error.line) == ("invalid_arguments", 2)
    assert "snippets.weekly_report takes keyword arguments, or one dict" in other.error.message


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


async def test_what_is_given_up_has_used_what_it_used(code_mode: CodeMode) -> None:
    """Else a script gives up each in turn, and its `cpu_ms` never ends."""
    await approved(code_mode, "await crm.rows(team=input['team'])\nwhile input['team'] == 'for ever':\n    pass")
    execution = code_mode.start("await snippets.weekly_report(team='for ever')")
    async for event in execution.events():
        if event["event"] == "progress":
            break
    assert (execution.allowance.nested_cpu_ms, execution.allowance.nested_runs) == (0, 1)
    execution.cancel()
    await execution.outcome()
    while execution.allowance.nested_runs:
        await asyncio.sleep(0.01)
    assert execution.allowance.nested_cpu_ms > 0


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
