"""The events of a run on their way into the journal: none stays behind when the run has ended."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from isolith.durable import telling
from isolith.durable.telling import Teller

if TYPE_CHECKING:
    from isolith.journal.events import Told

pytestmark = pytest.mark.anyio


async def test_what_is_told_while_a_write_takes_long_is_there_after_the_flush(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that the timer began just then was left behind: the run ended, and its last events were lost."""
    monkeypatch.setattr(telling, "_PAUSE_S", 0.01)
    began, goes_on = asyncio.Event(), asyncio.Event()
    written: list[str] = []

    async def append(told: list[Told]) -> None:
        began.set()
        # The first one waits for the test, and each later one for the journal.
        await (asyncio.sleep(0.01) if goes_on.is_set() else goes_on.wait())
        written.extend(each.name for each in told)

    teller = Teller(append)
    teller.begin()
    teller.tell("first", 0.0, {})
    await began.wait()
    flushing = asyncio.create_task(teller.flush())
    await asyncio.sleep(0)
    teller.tell("second", 0.0, {})
    goes_on.set()
    time.sleep(0.1)  # noqa: ASYNC251 - the loop stands still: the timer is due when the first write ends
    await flushing
    assert written == ["first", "second"]
