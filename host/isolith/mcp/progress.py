"""What happens in an execution, told to an MCP client that asked for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from isolith.outcome import Outcome
    from isolith.run.execution import Execution

_PAUSE_S = 0.1
"""Seconds between two reports: what happens meanwhile is told by the next."""
_MAX_TEXT = 500


async def followed(execution: Execution, context: ServerRequestContext) -> Outcome:
    """How an execution ends; on the way, progress where it was asked for. Cancelling this ends the execution."""
    follower = asyncio.create_task(_report(execution, context))  # the SDK drops what nobody asked for
    try:
        return await execution.outcome()
    except asyncio.CancelledError:
        execution.cancel()
        raise
    finally:
        follower.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait([follower])
        if not follower.cancelled():
            follower.exception()  # a client that has gone is none of the run's business


async def _report(execution: Execution, context: ServerRequestContext) -> None:
    """One number more for each thing that is told, since a script may begin its own count anew."""
    told, last = 0, float("-inf")
    loop = asyncio.get_running_loop()
    async for event in execution.events():
        text = _text(event)
        if text is None or loop.time() - last < _PAUSE_S:
            continue
        told, last = told + 1, loop.time()
        await context.session.report_progress(told, message=text[:_MAX_TEXT])


def _text(event: Mapping[str, object]) -> str | None:
    if event["event"] == "call_started":
        return f"{event.get('connector')}.{event.get('method')}"
    if event["event"] != "progress":
        return None
    done, total = event.get("done"), event.get("total")
    count = _number(done) if total is None else f"{_number(done)} of {_number(total)}"
    return f"{count} {event.get('text') or ''}".strip()


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
