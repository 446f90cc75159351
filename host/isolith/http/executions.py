"""`/v1/executions`: begun, found, ended, tried again, undone."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, cast

from isolith.budgets import Budgets
from isolith.http.cursors import behind, cursor_of
from isolith.http.house import House, json_response, outcome_response
from isolith.http.problems import Problem
from isolith.journal.errors import Leased, UnknownEntry
from isolith.journal.executions import Filter

if TYPE_CHECKING:
    from starlette.responses import Response

    from isolith.http.models import ExecutionsQuery, NewExecution, Undoing, Waiting
    from isolith.http.operations import Asked
    from isolith.journal.model import Execution as Kept
    from isolith.journal.requests import Claim
    from isolith.outcome import Outcome
    from isolith.run.execution import Execution
    from isolith.tokens import Access

KEY_HEADER: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_REFUSED_S: Final = 0.5
_BEGINS: Final = timedelta(seconds=90)
"""How long whoever claimed a key gets to begin, before another takes it over: longer than anybody waits for a turn."""


async def create(asked: Asked) -> Response:
    """Run a script. The same key and body give the same execution, whichever host is asked."""
    given = cast("NewExecution", asked.body)
    key = asked.request.headers.get(KEY_HEADER)
    if key is None:
        return await _begun(asked.house, _Beginning(given, asked.access, secrets.token_hex(16)))
    if not _KEY.fullmatch(key):
        raise Problem(422, "invalid", f"`{KEY_HEADER}` takes 1 to 200 characters of ASCII, without spaces")
    requests = (await asked.house.journal()).requests
    digest = _digest(given)
    claim = await requests.claim(asked.access.principal, key, digest, secrets.token_hex(16))
    if claim.digest != digest:
        raise Problem(422, "other-request", f"this `{KEY_HEADER}` was used for another request: choose a new one")
    if not claim.fresh and not await _left(asked, key, claim):
        return await _repeated(asked.house, claim, given.wait_s)
    try:
        return await _begun(asked.house, _Beginning(given, asked.access, claim.execution_id))
    except Problem:  # nothing was begun: whoever asks again has no other to wait for
        await requests.forget(asked.access.principal, key, claim.execution_id)
        raise


async def get(asked: Asked) -> Response:
    """How an execution ended, or where it stands."""
    execution = await asked.house.seen(asked.access, asked.path["execution_id"])
    return outcome_response(await (await asked.house.runs()).outcome(execution.execution_id), 200)


async def list_(asked: Asked) -> Response:
    """Executions, newest first."""
    query = cast("ExecutionsQuery", asked.query)
    who = query.principal if asked.access.sees_all else asked.access.principal
    if query.principal not in {None, who}:
        return json_response({"executions": [], "next": None})
    which = Filter(
        statuses=None if query.status is None else (query.status,),
        principal=who,
        any_principal=asked.access.sees_all,
        session=query.session,
        behind=behind(query.cursor),
        parts=query.parts,
        limit=query.limit + 1,
    )
    found = await (await asked.house.journal()).executions.find(which)
    page, more = found[: query.limit], len(found) > query.limit
    following = cursor_of(page[-1].created_at, page[-1].execution_id) if more else None
    return json_response({"executions": [shown(one) for one in page], "next": following})


async def cancel(asked: Asked) -> Response:
    """End a run, whichever host works on it."""
    execution_id, wait_s = asked.path["execution_id"], cast("Waiting", asked.body).wait_s
    await asked.house.seen(asked.access, execution_id)
    runs = await asked.house.runs()
    try:
        task = asked.house.begin(runs.cancel(execution_id, who=asked.access.who))
        return outcome_response(await task)
    except Leased:  # its host was asked
        return outcome_response(await asked.house.settle(execution_id, wait_s))


async def retry(asked: Asked) -> Response:
    """Run one that failed or was cancelled again; what succeeded is not made again."""
    execution_id = asked.path["execution_id"]
    await asked.house.seen(asked.access, execution_id)
    await asked.house.must_be_ours(execution_id)
    runs = await asked.house.runs()
    ended = await asked.house.room(asked.access.principal)
    try:
        task = asked.house.begin(runs.retry(execution_id))
    except Problem:
        ended()
        raise
    task.add_done_callback(lambda _: ended())
    await asyncio.wait([task], timeout=_REFUSED_S)  # what is refused is so at once
    return await asked.house.after(task, execution_id, cast("Waiting", asked.body).wait_s)


async def rollback(asked: Asked) -> Response:
    """Undo what an ended run did, its last call first."""
    execution_id = asked.path["execution_id"]
    await asked.house.seen(asked.access, execution_id)
    await asked.house.must_be_ours(execution_id)
    runs = await asked.house.runs()
    task = asked.house.begin(runs.rollback(execution_id, again=cast("Undoing", asked.body).again))
    return outcome_response(await task)


def shown(execution: Kept) -> dict[str, object]:
    """An execution as lists have it."""
    return {
        "execution_id": execution.execution_id,
        "status": execution.status,
        "principal": execution.principal,
        "session": execution.session,
        "created_at": execution.created_at,
        "updated_at": execution.updated_at,
        "ended_at": execution.ended_at,
        "pending": execution.pending,
    }


@dataclass(frozen=True)
class _Beginning:
    given: NewExecution
    access: Access
    execution_id: str


async def _begun(house: House, beginning: _Beginning) -> Response:
    """Begin, answer when it has ended or the time is over; not before the journal has it: what was answered is kept."""
    given, principal = beginning.given, beginning.access.principal
    with ExitStack() as undone:
        ended = await house.room(principal)
        undone.callback(ended)
        execution = house.code_mode.start(
            given.script,
            input=given.input,
            budgets=given.budgets or Budgets(),
            session=given.session,
            principal=principal,
            execution_id=beginning.execution_id,
        )
        undone.pop_all()
    execution.when_done(ended)
    return await _answered(house, execution, given.wait_s)


async def _answered(house: House, execution: Execution, wait_s: float) -> Response:
    """Not before the journal knows of it: what was answered outlives this host."""
    task = house.begin(execution.outcome())
    assert execution.order.durable is not None  # noqa: S101 - the app refuses a code mode that keeps no journal
    await house.until(task, execution.order.durable.ledger.known)
    try:
        return outcome_response(await house.settle(execution.execution_id, wait_s), 201)
    except UnknownEntry:  # it ended before there was anything to keep
        return outcome_response(await task, 201)


async def _known(house: House, execution_id: str) -> bool:
    try:
        await (await house.journal()).executions.get(execution_id)
    except UnknownEntry:
        return False
    return True


async def _left(asked: Asked, key: str, claim: Claim) -> bool:
    """Whether the host that claimed the key went before it began, so that it is ours to begin."""
    if datetime.now(UTC) - claim.at < _BEGINS or await _known(asked.house, claim.execution_id):
        return False
    return await (await asked.house.journal()).requests.renew(asked.access.principal, key, claim)


async def _repeated(house: House, claim: Claim, wait_s: float) -> Response:
    if not await _known(house, claim.execution_id):
        detail = "the first request with this key has not begun yet: ask again"
        raise Problem(409, "busy", detail, headers={"Retry-After": "1"})
    outcome: Outcome = await house.settle(claim.execution_id, wait_s)
    return outcome_response(outcome, 201, {"Idempotency-Replayed": "true"})


def _digest(given: NewExecution) -> str:
    """Of all that says what is run; how long its answer is waited for does not."""
    parts = given.model_dump(mode="json", exclude={"wait_s"}, exclude_unset=True)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
