"""What a caller asks a value to be holds after a pause, too: woken or replayed, in this process or in another."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import create_model

from isolith import CodeMode, UsageError, connector, method
from isolith.durable import durable_runs
from isolith.durable.history import load_history

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@connector("bank")
class Bank:
    @method(policy="ask")
    async def pay(self, amount: int) -> dict[str, object]:
        """Send money."""
        return {"to": "ada", "amount": amount}


@dataclass
class Paid:
    to: str
    amount: int


RIGHT = "await bank.pay(amount=7)"
WRONG = "{**await bank.pay(amount=7), 'amount': 'much'}"


@pytest.fixture(params=["woken", "replayed"])
def _going_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "replayed":
        monkeypatch.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))


@pytest.mark.usefixtures("_going_on")
@pytest.mark.parametrize("kept", [True, False])
async def test_in_the_same_process_the_type_itself_validates(tmp_path: Path, kept: bool) -> None:
    async with CodeMode([Bank], journal=tmp_path / "journal.db" if kept else None, tend=False) as code_mode:
        paused = await code_mode.execute(RIGHT, result_type=Paid)
        done = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
        assert done.value == Paid("ada", 7)
        paused = await code_mode.execute(WRONG, result_type=Paid)
        failed = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
    assert failed.error is not None
    assert (failed.status, failed.error.kind, failed.error.line) == ("failed", "invalid_result", 1)
    assert "at value['amount']: Input should be a valid integer" in failed.error.message


@pytest.mark.usefixtures("_going_on")
async def test_in_another_process_its_schema_does(tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    async with CodeMode([Bank], journal=journal, tend=False) as first:
        right, wrong, free = [
            await first.execute(script, result_type=wanted)
            for script, wanted in ((RIGHT, Paid), (WRONG, Paid), (WRONG, None))
        ]
        listed = await first.execute(f"[{RIGHT}, {WRONG}]", result_type=list[Paid])
    async with CodeMode([Bank], journal=journal, tend=False) as other:
        done = await other.approve(right.execution_id, right.pending[0].call_id)
        failed = await other.approve(wrong.execution_id, wrong.pending[0].call_id)
        untyped = await other.approve(free.execution_id, free.pending[0].call_id)
        listed = await other.approve(listed.execution_id, listed.pending[0].call_id)
        within = await other.approve(listed.execution_id, listed.pending[0].call_id)
    assert (done.status, done.value) == ("completed", {"to": "ada", "amount": 7})
    assert (untyped.status, untyped.value) == ("completed", {"to": "ada", "amount": "much"})
    for outcome, where in ((failed, "value.amount"), (within, "value[1].amount")):
        assert outcome.error is not None
        assert (outcome.status, outcome.error.kind) == ("failed", "invalid_result")
        assert f"at {where}: " in outcome.error.message, outcome.error.message


async def test_a_type_without_a_schema_is_refused_where_the_run_may_go_on_elsewhere(tmp_path: Path) -> None:
    wanted: Any = Callable[[], int]
    fields: dict[str, Any] = dict.fromkeys((f"a_field_of_a_large_type_{n}" for n in range(3_000)), (int, 1))
    large = create_model("Large", **fields)
    async with CodeMode([Bank], journal=tmp_path / "journal.db", tend=False) as code_mode:
        with pytest.raises(UsageError, match=r"`result_type` has no JSON Schema .* this run is kept in a journal"):
            await code_mode.execute("1", result_type=wanted)
        with pytest.raises(UsageError, match="larger than 262,144 characters"):
            await code_mode.execute("1", result_type=large)
    async with CodeMode([Bank]) as code_mode:  # it may wait, in this process
        outcome = await code_mode.execute("1", result_type=wanted)
        assert outcome.error is not None
        assert outcome.error.kind == "invalid_result"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "['x'] * 3",
            "at value[0]: Input should be a valid integer, unable to parse string as an integer (and 2 more)",
        ),
        ("['x'] * 5_000", "it is wrong in 5,000 places"),
    ],
)
async def test_what_is_wrong_in_many_places_is_counted_and_not_told_apart(script: str, message: str) -> None:
    """A script has room for a million of them, of a kilobyte each."""
    async with CodeMode([]) as code_mode:
        outcome = await code_mode.execute(script, result_type=list[int])
    assert outcome.error is not None
    assert outcome.error.message == f"the value is not what was asked for: {message}"


async def test_no_key_of_a_value_makes_the_message_as_long_as_itself() -> None:
    async with CodeMode([]) as code_mode:
        outcome = await code_mode.execute("{'k' * 100_000: 'x'}", result_type=dict[str, int])
    assert outcome.error is not None
    assert outcome.error.message.startswith("the value is not what was asked for: at value['kkk")
    assert len(outcome.error.message) == 2_000
