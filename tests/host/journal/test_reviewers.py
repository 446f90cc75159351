"""Five calls of a `gather` wait together; two people in two processes answer, in any order; a fourth process goes on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.host.journal.forker import Forker
from tests.host.journal.reviewed import SCRIPT, code_mode

from isolith.journal import Journal

if TYPE_CHECKING:
    from isolith import Outcome

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(300)]

ORDERS = [("1 2 3 4 5", "5 4 3 2 1"), ("3 1 5 2 4", "3 5 1 4 2")]


def seen(outcome: Mapping[str, Any]) -> dict[str, object]:
    """What is the same, however often it paused: all but times and ids."""
    return {
        **{name: outcome[name] for name in ("status", "value", "value_type", "error", "warnings", "pending")},
        "calls": [(call["connector"], call["method"], call["status"], call["line"]) for call in outcome["calls"]],
        "logs": [log["message"] for log in outcome["logs"]],
    }


@pytest.mark.parametrize("orders", ORDERS)
async def test_it_ends_as_one_that_never_paused(
    new_url: Callable[[], str], tmp_path: Path, orders: tuple[str, str]
) -> None:
    url, paid, told = new_url(), tmp_path / "paid", tmp_path / "told"
    async with code_mode(f"sqlite:///{tmp_path / 'never.db'}", tmp_path / "never", "trusted") as never:
        expected: Outcome = await never.execute(SCRIPT)
        assert (expected.status, expected.usage.passes) == ("completed", 1)
    with Forker("tests.host.journal.reviewed") as ann, Forker("tests.host.journal.reviewed") as bob:
        assert ann.run("begin", url, paid) == (0, "")
        assert not paid.exists()
        decided = [
            asyncio.to_thread(reviewer.run, "decide", url, paid, who, order)
            for reviewer, who, order in zip((ann, bob), ("ann", "bob"), orders, strict=True)
        ]
        assert await asyncio.gather(*decided) == [(0, ""), (0, "")]
        assert not paid.exists()  # nobody has gone on with it yet
        assert bob.run("go on", url, paid, told) == (0, "")
    outcome = json.loads(told.read_text())
    assert seen(outcome) == seen(expected.to_json())
    assert outcome["usage"]["passes"] == 2
    assert sorted(paid.read_text().split()) == list("12345")
    async with await Journal.open(url) as journal:
        [execution] = await journal.executions.find()
        decisions = await journal.approvals.decisions(execution.execution_id)
        assert len(decisions) == 5
        passes = await journal.story.passes(execution.execution_id)
        assert [(each.how, each.ending) for each in passes] == [("start", "paused"), ("wake", "completed")]
        assert {decision.who for decision in decisions} <= {"ann", "bob"}
        assert not (await journal.records.verify()).findings
