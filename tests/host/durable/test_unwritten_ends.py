"""A journal that cannot be written when a run pauses or ends: whoever has it later goes on, and makes nothing twice."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector, method
from isolith.journal import JournalUnavailable
from isolith.journal.executions import Executions

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.anyio


def bank_of(paid: list[int]) -> object:
    @connector("bank")
    class Bank:
        async def note(self, n: int) -> int:
            """Keep a note."""
            paid.append(n)
            return n

        @method(policy="ask")
        async def pay(self, n: int) -> int:
            """Pay."""
            paid.append(n)
            return n

    return Bank


async def _full(*_given: object, **_named: object) -> None:
    raise JournalUnavailable("database or disk is full")


@pytest.mark.parametrize("script", ["await bank.note(n=1)", "[await bank.note(n=1), await bank.pay(n=2)]"])
async def test_it_is_gone_on_with_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Its lease was renewed for as long as the host was there: nobody could go on with it, and it ran for ever."""
    paid: list[int] = []
    async with CodeMode([bank_of(paid)], journal=tmp_path / "journal.db", tend=False) as code_mode:
        runs = await code_mode.runs()
        with monkeypatch.context() as patched:
            patched.setattr(Executions, "move", _full)
            outcome = await code_mode.execute(script)
        assert outcome.error is not None
        assert (outcome.status, outcome.error.kind, outcome.error.retriable) == ("failed", "tool_unavailable", True)
        assert (await runs.outcome(outcome.execution_id)).status == "running"
        async with asyncio.timeout(240):
            [final] = await runs.recover()
            while final.status == "paused":
                [call] = final.pending
                final = await code_mode.approve(final.execution_id, call.call_id)
    assert (final.error, final.status, paid) == (None, "completed", [1] if "pay" not in script else [1, 2])
