"""Hosts that share a journal: one ends what another was asked to end, and takes what another leaves."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from isolith.journal.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Collection

    from isolith.journal.journal import Journal
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution

_HEED_S: Final = 0.5
"""Seconds between two looks for what others asked to end; while nothing runs there is none."""


async def heed(journal: Journal, running: Collection[Execution]) -> None:
    """End those that somebody asked to end at another host, as long as this is not cancelled."""
    while True:
        await asyncio.sleep(_HEED_S)
        with contextlib.suppress(JournalError):
            asked = await journal.cancellations.asked({execution.execution_id for execution in running})
            for execution in [one for one in running if one.execution_id in asked]:
                execution.cancel()
                await execution.outcome()
                await journal.cancellations.clear(execution.execution_id)


async def end_here(journal: Journal, execution: Execution, who: str) -> Outcome:
    """End one that runs here; the journal keeps who asked, where it knows of it and can.

    It is asked to end first: a journal that takes its time keeps nobody from stopping it.
    """
    execution.cancel()
    with contextlib.suppress(JournalError):
        await journal.cancellations.ask(execution.execution_id, who)
    outcome = await execution.outcome()
    with contextlib.suppress(JournalError):
        await journal.cancellations.clear(execution.execution_id)
    return outcome


async def hand_over(running: Collection[Execution], grace_s: float) -> None:
    """Let runs go on for some time, then leave those that have not ended to whoever has the journal."""
    under_way = [asyncio.create_task(execution.outcome()) for execution in running]
    if under_way:
        await asyncio.wait(under_way, timeout=grace_s)
    for execution in list(running):
        if execution.order.durable is not None:
            await execution.order.durable.ledger.leave()
            execution.cancel()
            await execution.outcome()
