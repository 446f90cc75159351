"""`/v1/executions/{id}/events`: what happens, in order, from any point on, as SSE or as JSON lines.

Told from the journal alone, so that every host tells the same under the same numbers.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final, cast

from starlette.responses import StreamingResponse

from isolith.http.problems import Problem
from isolith.journal.errors import JournalError
from isolith.journal.statuses import FINAL
from isolith.json_form import to_json_text

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response

    from isolith.http.house import House
    from isolith.http.models import EventsQuery
    from isolith.http.operations import Asked
    from isolith.journal.events import Told

SSE: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"
_LOOK_S: Final = 0.1
_CALM_LOOK_S: Final = 1.0
"""Seconds between two looks into the journal, while things happen and when nothing has for a while."""
_ALIVE_S: Final = 15.0
"""Seconds after which a stream says that it is still there."""


async def events(asked: Asked) -> Response:
    """Follow an execution."""
    execution = await asked.house.seen(asked.access, asked.path["execution_id"])
    query = cast("EventsQuery", asked.query)
    media = media_type(asked.request.headers.get("accept", "*/*"))
    after = max(query.after, _last_id(asked.request.headers.get("last-event-id")))
    told = follow(asked.house, execution.execution_id, after, follow=query.follow)
    write = sse if media == SSE else ndjson
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
    return StreamingResponse(_written(told, write), headers=headers, media_type=media)


def media_type(accept: str) -> str:
    """What is answered: SSE unless only JSON lines are asked for. Raises Problem where neither will do."""
    wanted = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    for one in wanted:
        if one in {SSE, "text/*", "*/*", ""}:
            return SSE
        if one in {NDJSON, "application/*", "application/json", "application/jsonl"}:
            return NDJSON
    raise Problem(406, "not-acceptable", f"this answers {SSE} or {NDJSON}")


async def follow(
    house: House, execution_id: str, after: int, *, follow: bool = True
) -> AsyncIterator[dict[str, object] | None]:
    """The events behind a number, as they come, to the end of the execution; None now and then, as a sign of life."""
    journal = await house.journal()
    quiet, position = 0.0, after
    while True:
        ended = (await journal.executions.get(execution_id)).status in FINAL  # in front of the look for events
        found = await journal.events.after(execution_id, position)
        for told in found:
            position, quiet = told.seq, 0.0
            yield shown(execution_id, told)
        if found:
            continue
        if ended or not follow or house.stopping.is_set():
            return
        pause = _LOOK_S if quiet < _CALM_LOOK_S else _CALM_LOOK_S
        if quiet and quiet % _ALIVE_S < pause:
            yield None
        quiet += pause
        await _either(house.stopping, pause)


def shown(execution_id: str, told: Told) -> dict[str, object]:
    """An event as it is sent."""
    head: dict[str, object] = {"event": told.name, "execution_id": execution_id, "seq": told.seq, "at": told.at}
    return {**cast("dict[str, object]", json.loads(told.body)), **head}


def sse(event: dict[str, object] | None) -> str:
    """One event of the stream, or a comment."""
    if event is None:
        return ": still here\n\n"
    return f"id: {event['seq']}\nevent: {event['event']}\ndata: {_line(event)}\n\n"


def ndjson(event: dict[str, object] | None) -> str:
    """One line of the stream, or an empty one."""
    return "\n" if event is None else f"{_line(event)}\n"


def _line(event: dict[str, object]) -> str:
    """In one line for every reader: some end one at characters that JSON leaves as they are."""
    return json.dumps(json.loads(to_json_text(event)), ensure_ascii=True)


async def _written(
    told: AsyncIterator[dict[str, object] | None], write: Callable[[dict[str, object] | None], str]
) -> AsyncIterator[str]:
    try:
        async for event in told:
            yield write(event)
    except JournalError:
        return  # the stream breaks off: the client comes back with the number it has


async def _either(stopping: asyncio.Event, pause_s: float) -> None:
    try:
        async with asyncio.timeout(pause_s):
            await stopping.wait()
    except TimeoutError:
        pass


def _last_id(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else 0
