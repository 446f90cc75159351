"""Hostile scripts beside honest ones, in one process: the honest ones notice nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from tests.security.desk import SPARING, Desk
from tests.security.samples import done_list, every

from isolith import Budgets, CodeMode, Outcome, connector

if TYPE_CHECKING:
    from tests.security.corpus import Hostile

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HONEST, CALLS = 200, 5
HOSTILE_AT_ONCE, HONEST_AT_ONCE = 6, 20
PATIENT = Budgets(wall_s=240, call_s=200)

GATHERED = f"""
import builtins, random
was_clean = not hasattr(builtins, "mark")
builtins.mark = input["run"]
mine = await asyncio.gather(*[ledger.enter(run=input["run"], number=n) for n in range({CALLS})])
await asyncio.sleep(0.01)
assert builtins.mark == input["run"]
[was_clean, mine, random.random()]
"""
ONE_BY_ONE = f"""
import random
mine = [ledger.enter(run=input["run"], number=n) for n in range({CALLS})]
[True, mine, random.random()]
"""


@connector("ledger")
class Ledger:
    """Knows which execution asked for what."""

    def __init__(self) -> None:
        self.entries: set[tuple[int, int]] = set()

    async def enter(self, run: int, number: int) -> list[int]:
        """Write it down, and give back what was asked."""
        await asyncio.sleep(0.002)
        self.entries.add((run, number))
        return [run, number]


async def test_two_hundred_honest_scripts_beside_hostile_ones() -> None:
    hostile = [*done_list(), *every(9)]
    desk, ledger = Desk(), Ledger()
    async with CodeMode([desk], check="off", policy=SPARING) as for_hostile, CodeMode([ledger]) as for_honest:
        ended, honest = await asyncio.gather(_run_hostile(for_hostile, hostile), _run_honest(for_honest))
        assert (await for_honest.execute("1 + 1")).value == 2

    wrong = {script.name: found for script, found in zip(hostile, ended, strict=True) if found}
    assert wrong == {}
    assert [outcome.error for outcome in honest if outcome.error] == []
    values = [outcome.value for outcome in honest]
    drawn = set()
    for run, value in enumerate(values):
        assert isinstance(value, list)
        was_clean, mine, number = value
        assert was_clean is True
        assert mine == [[run, n] for n in range(CALLS)]
        drawn.add(number)
    assert len(drawn) == HONEST
    assert ledger.entries == {(run, n) for run in range(HONEST) for n in range(CALLS)}


async def _run_hostile(code_mode: CodeMode, scripts: list[Hostile]) -> list[list[str]]:
    turns = asyncio.Semaphore(HOSTILE_AT_ONCE)

    async def one(script: Hostile) -> list[str]:
        # Their wall clocks run on a machine that is busy with all of them.
        asked = script.budgets.model_fields_set
        budgets = script.budgets if "wall_s" in asked else script.budgets.model_copy(update={"wall_s": 240})
        async with turns:
            outcome = await code_mode.execute(script.text, budgets=budgets)
        return script.wrong_but_for_calls(outcome)

    return await asyncio.gather(*map(one, scripts))


async def _run_honest(code_mode: CodeMode) -> list[Outcome]:
    turns = asyncio.Semaphore(HONEST_AT_ONCE)

    async def one(run: int) -> Outcome:
        script = GATHERED if run % 2 else ONE_BY_ONE
        async with turns:
            return await code_mode.execute(script, input={"run": run}, budgets=PATIENT)

    return await asyncio.gather(*map(one, range(HONEST)))
