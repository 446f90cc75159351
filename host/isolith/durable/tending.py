"""The journal looked after as long as a host is open: what others left is taken over, and what nobody answered ends."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING, Final

from isolith.durable.handing_over import heed
from isolith.journal.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from isolith.durable.durable_runs import DurableRuns
    from isolith.run.execution import Execution

_PRUNE_TURNS: Final = 360
"""Looks between two prunings of what ended long ago."""
_TEND_S = 10.0
"""Seconds between two looks for what was left or has expired."""


async def tend(
    runs: DurableRuns, running: Collection[Execution], origin: str, read_snippets: Callable[[], Awaitable[None]]
) -> None:
    """Look now and then, until this is cancelled, and end meanwhile what others asked to end of what is `running`.

    What the journal cannot do now it may be able to do later.
    """
    async with asyncio.TaskGroup() as group:
        group.create_task(heed(runs.journal, running))
        for turn in itertools.count():
            with contextlib.suppress(JournalError):
                await runs.expire()
                await runs.recover(origin)
                await read_snippets()
                if turn % _PRUNE_TURNS == 0:
                    await runs.journal.prune()
            await asyncio.sleep(_TEND_S)
