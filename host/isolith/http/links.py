"""`/v1/approval-links`: a decision for whoever holds the link, in the name it was made for; no token is asked for."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from isolith.approvals.linking import LinkError
from isolith.http.approvals import addressed
from isolith.http.house import json_response
from isolith.http.problems import Problem, not_found

if TYPE_CHECKING:
    from starlette.responses import Response

    from isolith.http.models import LinkAnswer, NewLink
    from isolith.http.operations import Asked


async def make(asked: Asked) -> Response:
    """A link that decides one pending call."""
    execution_id, number = await addressed(asked)
    given = cast("NewLink", asked.body)
    lasts = timedelta(seconds=given.lasts_s)
    links = asked.house.code_mode.links
    token = await links.make(execution_id, number, given.verdict, who=given.who, lasts=lasts)
    return json_response({"token": token, "path": f"/v1/approval-links/{token}"}, 201)


async def look(asked: Asked) -> Response:
    """What a link would decide; decides nothing, so that a mail program that follows it does no harm."""
    try:
        shown = await asked.house.code_mode.links.look(asked.path["token"])
    except LinkError as error:
        raise _refused(error) from None
    runs = await asked.house.runs()
    waiting = {one.call_id: one for one in await runs.pending(shown.link.execution_id)}
    call = waiting.get(shown.link.call_id)
    if call is None:
        raise not_found("the call of this link does not wait any more")
    link = shown.link
    told = {"verdict": link.verdict, "who": link.who, "expires_at": link.expires_at}
    return json_response({**told, "pending": call.model_dump()})


async def redeem(asked: Asked) -> Response:
    """Decide as the link says, once."""
    token, house = asked.path["token"], asked.house
    given = cast("LinkAnswer", asked.body)
    try:
        link = (await house.code_mode.links.look(token)).link
    except LinkError as error:
        raise _refused(error) from None
    go_on = await house.ours(link.execution_id)
    task = house.begin(house.code_mode.links.redeem(token, reason=given.reason, go_on=go_on))
    await asyncio.wait([task], timeout=given.wait_s)
    if not task.done():
        return json_response({"status": "running"}, 202)
    outcome = await task
    # Whoever has a link may decide one call: what the run came to is for those who may see it.
    return json_response({"status": outcome.status}, 200)


def _refused(error: LinkError) -> Problem:
    status = 410 if error.why == "expired" else 404
    return Problem(status, f"link-{error.why}", str(error), "expired" if error.why == "expired" else "denied")
