"""Whatever a guest says, the event loop of its host goes on with everybody else's work in between."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from tests.security.corpus import corpus
from tests.security.desk import SPARING, Desk

from isolith import CodeMode
from isolith_runtime.guest_clock import guest_clock_ns

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.security.corpus import Hostile

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

FLOODS = [
    script
    for script in corpus()
    if script.name.startswith(("forgery/batch_of", "output/print_million"))
    or (script.name.startswith("forgery/") and script.name.endswith("_flood"))
]
MOST_MS = 150
"""Of CPU in one turn of the loop: of its own thread, so that a busy machine makes it no longer. A third, mostly; the
longest is an outcome of a thousand calls or ten thousand lines."""


class Turns:
    """The longest turn of the loop, in milliseconds of CPU, without the collections of garbage."""

    longest_ms = 0.0

    async def measure(self) -> None:
        while True:
            begun = guest_clock_ns()
            await asyncio.sleep(0)
            self.longest_ms = max(self.longest_ms, (guest_clock_ns() - begun) / 1e6)


@asynccontextmanager
async def measured() -> AsyncGenerator[Turns]:
    turns = Turns()
    task = asyncio.create_task(turns.measure())
    try:
        yield turns
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("script", FLOODS, ids=[script.name for script in FLOODS])
async def test_no_flood_holds_up_the_loop(script: Hostile) -> None:
    async with CodeMode([Desk()], check="off", policy=SPARING) as code_mode:
        await code_mode.execute("1")  # what is made once is made
        async with measured() as turns:
            outcome = await code_mode.execute(script.text, budgets=script.budgets)
    assert outcome.usage.cpu_ms > 0
    assert turns.longest_ms < MOST_MS


def test_there_are_floods() -> None:
    assert len(FLOODS) >= 8
