"""A server whose tool is another by the time that a person answers: what it would refuse decides nothing."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, Policy, Rule, UsageError, connector, method
from isolith.durable import durable_runs
from isolith.durable.history import load_history
from isolith.journal.errors import DigestMismatch
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith import Outcome

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SERVER = str(Path(__file__).parents[2] / "fixtures" / "mcp" / "changed_server.py")
ASKS = Policy(preset="trusted", rules=(Rule(action="ask", match=("notes.keep",)),))
SCRIPT = "await notes.keep(text=input)"


def host(folder: Path, now: str, policy: Policy = ASKS) -> CodeMode:
    """A host of one journal, with the server as it is `now`."""
    server = McpServer("notes", StdioServer(sys.executable, (SERVER, now)))
    return CodeMode([server], policy=policy, journal=folder / "journal.db", tend=False)


async def paused(folder: Path, given: object = "tea") -> Outcome:
    async with host(folder, "before") as before:
        outcome = await before.execute(SCRIPT, input=given)
    assert outcome.status == "paused", outcome.error
    return outcome


async def test_a_call_that_its_tool_takes_no_more_is_not_approved_as_it_is(tmp_path: Path) -> None:
    """The approval used to be spent, and the run to fail."""
    outcome = await paused(tmp_path)
    [call] = outcome.pending
    async with host(tmp_path, "renamed") as now:
        with pytest.raises(UsageError):
            await now.approve(outcome.execution_id, call.call_id, digest=call.digest, who="ada")
        with pytest.raises(UsageError) as refused:  # nothing was decided
            await now.approve(outcome.execution_id, call.call_id, digest=call.digest, who="ada")
        told = str(refused.value)
        assert told.startswith(
            "the call cannot be made as it is any more, and waits on: notes.keep has no argument `text`"
        )
        assert "notes.keep(*, note: str" in told  # what it takes now
        assert told.endswith("approve it with other arguments (`--arguments`), or reject it")
        with pytest.raises(
            UsageError, match=r"the call cannot be made with these arguments, and waits on: notes\.keep"
        ):
            await now.approve(outcome.execution_id, call.call_id, arguments={"note": 3})
        assert await (await now.runs()).decisions(outcome.execution_id) == []
        final = await now.approve(outcome.execution_id, call.call_id, arguments={"note": "tea"})
    assert (final.status, final.value) == ("completed", "kept tea")


async def test_a_tool_that_is_gone_is_not_approved(tmp_path: Path) -> None:
    outcome = await paused(tmp_path)
    [call] = outcome.pending
    async with host(tmp_path, "gone") as now:
        with pytest.raises(UsageError, match=r"cannot be made any more, and waits on: .*`?keep`?.*; reject it"):
            await now.approve(outcome.execution_id, call.call_id)
        final = await now.reject(outcome.execution_id, call.call_id, reason="it is gone")
    assert final.status == "rejected"


@pytest.mark.parametrize("awake", [False, True], ids=["woken", "replayed"])
async def test_who_said_yes_before_it_changed_is_asked_again(
    tmp_path: Path, awake: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval that was to be followed later was spent, and the run failed."""
    if awake:
        monkeypatch.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))
    outcome = await paused(tmp_path)
    [call] = outcome.pending
    async with host(tmp_path, "before") as before:
        runs = await before.runs()
        decided = await runs.decide(outcome.execution_id, call.call_id, "approve", who="ada", go_on=False)
        assert (decided.status, decided.pending) == ("paused", ())
    async with host(tmp_path, "renamed") as now:
        again = await (await now.runs()).resume(outcome.execution_id)
        [asked] = again.pending
        assert (again.status, asked.arguments) == ("paused", {"text": "tea"})
        assert asked.reason.startswith(
            "the method has changed since it was approved, and would refuse it: notes.keep has no argument `text`"
        )
        assert asked.digest != call.digest
        with pytest.raises(DigestMismatch):
            await now.approve(outcome.execution_id, call.call_id, digest=call.digest, arguments={"note": "tea"})
        final = await now.approve(
            outcome.execution_id, call.call_id, digest=asked.digest, who="bob", arguments={"note": "tea"}
        )
        decisions = await (await now.runs()).decisions(outcome.execution_id)
    assert (final.status, final.value) == ("completed", "kept tea")
    assert [decision.who for decision in decisions] == ["ada", "bob"]


async def test_what_was_approved_and_still_fits_is_made(tmp_path: Path) -> None:
    outcome = await paused(tmp_path)
    async with host(tmp_path, "before") as before:
        runs = await before.runs()
        await runs.decide(
            outcome.execution_id, outcome.pending[0].call_id, "approve", arguments={"text": "cake"}, go_on=False
        )
    async with host(tmp_path, "more") as now:
        final = await (await now.runs()).resume(outcome.execution_id)
    assert (final.status, final.value) == ("completed", "kept cake")


async def test_what_still_fits_is_approved(tmp_path: Path) -> None:
    outcome = await paused(tmp_path)
    async with host(tmp_path, "more") as now:
        final = await now.approve(outcome.execution_id, outcome.pending[0].call_id)
    assert (final.status, final.value) == ("completed", "kept tea")


async def test_while_its_server_is_away_nothing_is_decided(tmp_path: Path) -> None:
    """The approval used to be spent, and the run to fail with `unknown_tool`."""
    outcome = await paused(tmp_path)
    [call] = outcome.pending
    async with host(tmp_path, "exit") as now:
        with pytest.raises(UsageError, match=r"cannot be made now, and waits on: notes is not there: .*try again"):
            await now.approve(outcome.execution_id, call.call_id)
        assert (await (await now.runs()).outcome(outcome.execution_id)).status == "paused"
    async with host(tmp_path, "before") as back:
        final = await back.approve(outcome.execution_id, call.call_id, digest=call.digest)
    assert (final.status, final.value) == ("completed", "kept tea")


async def test_nobody_is_asked_about_what_a_tool_would_refuse(tmp_path: Path) -> None:
    async with host(tmp_path, "before") as now:
        outcome = await now.execute(SCRIPT, input=3)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.pending) == ("failed", "invalid_arguments", ())


def bank(pay: Callable[..., object]) -> type:
    """A connector with one method, which asks."""
    return connector("bank")(type("Bank", (), {"pay": method(policy="ask")(pay)}))


def pay_for(_self: object, what: object = None) -> str:
    """Pay."""
    return f"paid for {what}"


def pay_all(_self: object) -> str:
    """Pay."""
    return "paid"


async def approved_before(folder: Path, script: str, arguments: dict[str, object] | None) -> Outcome:
    async with CodeMode([bank(pay_for)], journal=folder / "journal.db", tend=False) as before:
        outcome = await before.execute(script)
        runs, [call] = await before.runs(), outcome.pending
        await runs.decide(outcome.execution_id, call.call_id, "approve", arguments=arguments, go_on=False)
    async with CodeMode([bank(pay_all)], journal=folder / "journal.db", tend=False) as now:
        return await (await now.runs()).resume(outcome.execution_id)


async def test_what_was_approved_without_arguments_is_looked_at_without_them(tmp_path: Path) -> None:
    """The script's own were looked at in their place, and who had left them out was asked again."""
    final = await approved_before(tmp_path, "bank.pay(what='tea')", {})
    assert (final.status, final.value) == ("completed", "paid")


async def test_arguments_that_are_no_json_are_asked_about_again(tmp_path: Path) -> None:
    """A key that is no text was a bug of ours."""
    again = await approved_before(tmp_path, "bank.pay(what={(1, 2): 3})", None)
    assert (again.status, again.error) == ("paused", None)
    assert "bank.pay has no argument `what`" in again.pending[0].reason
