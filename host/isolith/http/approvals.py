"""`/v1/approvals`: what waits for people, and what they say."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from isolith.http.cursors import behind, cursor_of
from isolith.http.house import json_response
from isolith.http.problems import not_found

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.responses import Response

    from isolith.approvals.terms import GrantTerms
    from isolith.http.models import Approval, PendingQuery, Rejection
    from isolith.http.operations import Asked
    from isolith.journal.model import Call, Verdict

_MOST_DIGITS: Final = 9


async def list_(asked: Asked) -> Response:
    """What waits for people, oldest first: of the own principal, or of all where the token may decide."""
    query = cast("PendingQuery", asked.query)
    journal, access = await asked.house.journal(), asked.access
    if query.execution_id is not None:
        await asked.house.seen(access, query.execution_id)
    waiting = await journal.approvals.pending(
        query.execution_id, principal=None if access.sees_all else access.principal
    )
    after = behind(query.cursor)
    rest = [call for call in waiting if after is None or _place(call) > after]
    page = rest[: query.limit]
    runs = await asked.house.runs()
    told = {one.call_id: one for ids in {call.execution_id for call in page} for one in await runs.pending(ids)}
    listed: list[dict[str, object]] = []
    for call in page:
        pending = told.get(f"{call.execution_id}.{call.number}")
        if pending is not None:  # else it was decided between the two looks
            execution = await journal.executions.get(call.execution_id)
            listed.append(
                {
                    **pending.model_dump(),
                    "execution_id": call.execution_id,
                    "number": call.number,
                    "principal": execution.principal,
                    "expires_at": call.expires_at,
                }
            )
    last = page[-1] if page and len(rest) > len(page) else None
    following = None if last is None else cursor_of(*_place(last))
    return json_response({"pending": listed, "next": following})


async def approve(asked: Asked) -> Response:
    """Let a pending call be made, with its own arguments or with others."""
    given = cast("Approval", asked.body)
    grant = None if given.grant is None else given.grant.terms()
    return await _decided(asked, _Said("approve", given.digest, given.wait_s, given.arguments, given.answer, grant))


async def reject(asked: Asked) -> Response:
    """Refuse a pending call."""
    given = cast("Rejection", asked.body)
    return await _decided(asked, _Said("reject", given.digest, given.wait_s, reason=given.reason))


async def addressed(asked: Asked) -> tuple[str, int]:
    """The execution and the number of the call in the path, which may be the call's id. Raises Problem."""
    execution_id, call = asked.path["execution_id"], asked.path["call"]
    await asked.house.seen(asked.access, execution_id)
    number = call.removeprefix(f"{execution_id}.")
    if not number.isdecimal() or len(number) > _MOST_DIGITS:
        raise not_found(f"there is no call {call} of execution {execution_id}")
    return execution_id, int(number)


@dataclass(frozen=True)
class _Said:
    verdict: Verdict
    digest: str
    wait_s: float
    arguments: dict[str, object] | None = None
    answer: dict[str, object] | None = None
    grant: GrantTerms | None = None
    reason: str | None = None


async def _decided(asked: Asked, said: _Said) -> Response:
    execution_id, number = await addressed(asked)
    house, made = asked.house, asyncio.Event()
    runs = await house.runs()
    deciding = runs.decide(
        execution_id,
        number,
        said.verdict,
        who=asked.access.who,
        digest=said.digest,
        arguments=said.arguments,
        answer=said.answer,
        reason=said.reason,
        grant=said.grant,
        go_on=await house.ours(execution_id),
        made=made.set,
    )
    task = house.begin(deciding)
    await house.until(task, made)
    return await house.after(task, execution_id, said.wait_s)


def _place(call: Call) -> tuple[datetime, str]:
    return call.created_at, f"{call.execution_id}.{call.number:09}"
