"""A call that cannot be stopped when it is given up: what it came to is journalled, listed, undone, and not made again."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from isolith import Budgets, CallContext, CodeMode, Outcome, connector, method
from isolith.command_line.cli import app

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio

SHORT = Budgets(call_s=2)
"""Far more than a call takes that waits for nothing."""
PATIENCE_S = 60


class Desk:
    """Functions in threads of their own, which go on until `go` is set: nobody can stop them."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.sent: list[int] = []
        self.taken_back: list[tuple[dict[str, object], object]] = []

    def connector(self) -> type:
        desk = self

        @connector("mail")
        class Mail:
            @method(revert=lambda arguments, result: desk.taken_back.append((arguments, result)))
            def send(self, n: int) -> str:
                """Send one, which takes its time."""
                desk.begun.set()
                desk.go.wait(PATIENCE_S)
                desk.sent.append(n)
                return f"sent {n}"

            async def keep_on(self, n: int) -> str:
                """Take no cancellation."""
                desk.begun.set()
                while not desk.go.is_set():
                    try:
                        await asyncio.sleep(0.01)
                    except asyncio.CancelledError:
                        continue
                return f"kept on {n}"

        return Mail


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def until(asked: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """The outcome, once a call of it is listed as done after its end."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            outcome = await asked()
            if any(call.completed_after_end for call in outcome.calls):
                return outcome
            await asyncio.sleep(0.01)


async def test_what_comes_after_the_run_has_ended_is_kept_and_listed(desk: Desk, tmp_path: Path) -> None:
    async with CodeMode([desk.connector()], journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute("await mail.send(n=1)", budgets=SHORT)
        assert outcome.error is not None
        assert (outcome.status, outcome.error.kind) == ("failed", "tool_timeout")
        assert [(call.status, call.completed_after_end) for call in outcome.calls] == [("failed", False)]
        runs = await code_mode.runs()
        assert not any(call.completed_after_end for call in (await runs.outcome(outcome.execution_id)).calls)
        desk.go.set()
        listed = await until(lambda: runs.outcome(outcome.execution_id))
        [kept] = await runs.journal.calls.of(outcome.execution_id)
        assert (kept.status, json.loads(kept.late or "")) == ("failed", "sent 1")
        exported = [json.loads(line) async for line in runs.journal.export([outcome.execution_id])]
        assert not (await runs.journal.records.verify()).findings
    assert [(call.status, call.completed_after_end) for call in listed.calls] == [("failed", True)]
    assert "sent 1" in [line.get("late") for line in exported]


@pytest.mark.parametrize("name", ["send", "keep_on"])
async def test_a_run_that_is_cancelled(desk: Desk, tmp_path: Path, name: str) -> None:
    async with CodeMode([desk.connector()], journal=tmp_path / "journal.db", tend=False) as code_mode:
        execution = code_mode.start(f"await mail.{name}(n=1)")
        assert await asyncio.to_thread(desk.begun.wait, PATIENCE_S)
        execution.cancel()
        assert (await execution.outcome()).status == "cancelled"
        desk.go.set()
        runs = await code_mode.runs()
        listed = await until(lambda: runs.outcome(execution.execution_id))
    assert (listed.status, listed.calls[0].status) == ("cancelled", "cancelled")


async def test_a_call_whose_time_is_over_within_a_run_that_goes_on(desk: Desk, tmp_path: Path) -> None:
    script = (
        "try:\n    await mail.send(n=1)\nexcept ToolError as error:\n    kind = error.kind\nawait mail.known()\nkind"
    )

    @connector("mail")
    class Mail(desk.connector()):  # type: ignore[misc]
        async def known(self, context: CallContext) -> None:
            """Let the other one go on, and wait until the journal has what it came to."""
            desk.go.set()
            journal = (await code_mode.runs()).journal
            while not await journal.calls.came_late(context.execution_id):
                context.progress(0)  # however long the journal takes, this is not the call that runs out of its time
                await asyncio.sleep(0.01)

    async with CodeMode([Mail], journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute(script, budgets=SHORT)
    assert outcome.value == "tool_timeout", outcome.error
    first = outcome.calls[0]
    assert (first.method, first.status, first.completed_after_end) == ("send", "failed", True)


async def test_a_rollback_undoes_it_with_what_it_came_to(desk: Desk, tmp_path: Path) -> None:
    async with CodeMode([desk.connector()], journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute("await mail.send(n=1)", budgets=SHORT)
        desk.go.set()
        runs = await code_mode.runs()
        await until(lambda: runs.outcome(outcome.execution_id))
        undone = await code_mode.rollback(outcome.execution_id)
    assert undone.status == "rolled_back"
    assert desk.taken_back == [({"n": 1}, "sent 1")]


async def test_a_retry_takes_it_and_does_not_make_it_again(desk: Desk, tmp_path: Path) -> None:
    """Twice: the second retry replays what the first one was given."""
    script = "[await mail.send(n=1), await mail.keep_on(n=2), 1 / (await mail.part())]"
    parts = iter([0, 1])

    @connector("mail")
    class Mail(desk.connector()):  # type: ignore[misc]
        def part(self) -> int:
            """Fails once."""
            if (part := next(parts)) == 0:
                raise ValueError("not yet")
            return part

    async with CodeMode([Mail], journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute(script, budgets=SHORT)
        assert outcome.error is not None
        assert outcome.error.kind == "tool_timeout"
        desk.go.set()
        runs = await code_mode.runs()
        await until(lambda: runs.outcome(outcome.execution_id))
        failed = await runs.retry(outcome.execution_id)
        assert failed.error is not None
        assert failed.error.message == "not yet"
        final = await runs.retry(outcome.execution_id)
    assert final.value == ["sent 1", "kept on 2", 1.0], final.error
    assert desk.sent == [1]


def test_executions_show_says_it(desk: Desk, tmp_path: Path) -> None:
    journal = str(tmp_path / "journal.db")

    async def run() -> str:
        async with CodeMode([desk.connector()], journal=journal, tend=False) as code_mode:
            outcome = await code_mode.execute("await mail.send(n=1)", budgets=SHORT)
            desk.go.set()
            runs = await code_mode.runs()
            await until(lambda: runs.outcome(outcome.execution_id))
            return outcome.execution_id

    execution_id = asyncio.run(run())
    shown = CliRunner().invoke(app, ["executions", "show", execution_id, "--journal", journal])
    assert f"mail.send ({execution_id}.1) was done after it had been given up" in shown.stdout
    data = CliRunner().invoke(app, ["executions", "show", execution_id, "--json", "--journal", journal])
    assert [call["completed_after_end"] for call in json.loads(data.stdout)["calls"]] == [True]
