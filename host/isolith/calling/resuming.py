"""Going on with a run that waited, for whoever may only ask how it stands: no decision is made here."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, TypeAlias

import anyio

from isolith.errors import UsageError
from isolith.journal.errors import JournalError, Leased

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from isolith.code_mode import CodeMode
    from isolith.durable.durable_runs import DurableRuns
    from isolith.outcome import Outcome


Going: TypeAlias = "Callable[[], AbstractAsyncContextManager[object]]"


async def stand(code_mode: CodeMode, execution_id: str, going: Going = contextlib.nullcontext) -> Outcome:
    """How a run of this host's origin stands; where everything is decided it goes on to its next end.

    `going` is around a run that goes on, and may refuse it. Cancelling this ends the run.
    Raises UsageError for a run of another origin, JournalError.
    """
    runs = await code_mode.runs()
    order = await runs.journal.executions.order(execution_id)
    if order.origin != code_mode.origin:
        raise UsageError(f"execution {execution_id} was started with other connectors or another policy, elsewhere")
    outcome = await runs.outcome(execution_id)
    if outcome.status != "paused" or outcome.pending:
        return outcome
    async with going():
        return await _gone_on(runs, execution_id)


async def _gone_on(runs: DurableRuns, execution_id: str) -> Outcome:
    going = asyncio.create_task(runs.resume(execution_id))
    try:
        return await asyncio.shield(going)
    except Leased:
        return await runs.outcome(execution_id)  # somebody else goes on with it already
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), contextlib.suppress(JournalError):
            await runs.cancel(execution_id)
            await asyncio.wait([going])
        raise
