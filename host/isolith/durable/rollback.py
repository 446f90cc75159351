"""Taking back what an execution did: its calls in reverse order, each undone by its `revert`.

A rollback is a pass of its execution: journalled, leased, and gone on with where its host stopped. Undone is what is
known to have happened. Of a call whose end nobody knows only a function that asks for the `status` can tell what to do.

    completed (also too late) → reverted | revert_failed | revert_unknown
    cancelled, unknown, failed by its time or its connection → the same where the function takes `status`,
        else revert_unknown
    never made, refused, failed by the connector's own word, known only to read → stays as it is
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import anyio.to_thread

from isolith.budgets import Budgets
from isolith.calling.call_frames import MAX_MESSAGE, error_of, plain
from isolith.calling.call_variants import of_page, resolve_call
from isolith.calling.use import HOST_SHOWN
from isolith.durable.ledger import LEASE
from isolith.durable.record import key_of
from isolith.durable.reverts import ByFunction, Reverts, Undo, arguments_of, find_undo
from isolith.errors import UsageError
from isolith.journal.errors import JournalError, Leased, UnknownEntry, WrongStatus
from isolith.journal.statuses import FINAL
from isolith.outcome import CallRecord, Diagnostic, Outcome
from isolith.run import gradual
from isolith.run.artifacts import ArtifactStore, CallArtifacts, with_references
from isolith_bindings.connector import CallContext, unheard
from isolith_bindings.errors import CallError
from isolith_bindings.files import compact
from isolith_bindings.policy import ungoverned
from isolith_bindings.search import SNIPPETS
from isolith_runtime import protocol
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from isolith.journal.journal import Journal
    from isolith.journal.model import Call, Execution, Lease, Order, RevertOutcome
    from isolith.outcome import CallStatus
    from isolith_bindings.catalog import Catalog

_UNCERTAIN = frozenset({"tool_timeout", "tool_unavailable", "internal", "cancelled"})
"""Kinds of failures after which nobody knows whether it happened."""
_BEATS = 3
_READY_S = 30.0
"""How long a rollback waits for servers to say what they offer."""
_AGAIN = "it was being undone when its host stopped, and nobody knows how far it came: look, and roll back `again`"
_NOT_KNOWN = "nobody knows whether it happened, and its revert does not take `status`: look, and undo it by hand"


@dataclass(frozen=True)
class Undoer:
    """What undoing needs. `nested`: rolls back the execution of a call that was a script of its own."""

    catalog: Catalog
    reverts: Reverts
    nested: Callable[[str], Awaitable[Outcome]] | None = None


@dataclass(frozen=True)
class _Plan:
    """One call that is to be undone, and how; `problem` where that cannot be told."""

    call: Call
    undo: Undo | None
    problem: CallError | None = None


@dataclass(frozen=True)
class _Work:
    """One rollback under way."""

    journal: Journal
    undoer: Undoer
    lease: Lease
    order: Order
    artifacts: ArtifactStore
    again: bool


async def roll_back(journal: Journal, undoer: Undoer, owner: str, execution_id: str, *, again: bool = False) -> None:
    """Undo the calls of an execution that has ended. A second time: those that could not be undone.

    `again`: also those of which nobody knows whether they were. Raises WrongStatus, Leased, UnknownEntry; UsageError
    where nothing of it can be undone.
    """
    execution = await journal.executions.get(execution_id)
    _refuse(execution)
    calls = await journal.calls.of(execution_id)
    named = {call.connector for call in calls}.union(revert.method for revert in undoer.reverts.values())
    await gradual.known(undoer.catalog.connectors, " ".join(sorted(named)), _READY_S)
    if execution.rollback is None and not any(_plans(undoer, calls)):
        raise UsageError(f"no call of execution {execution_id} can be undone: none has a `revert`")
    lease = await journal.leases.acquire(execution_id, owner, LEASE)
    async with _held(journal, lease):
        try:
            await journal.executions.roll_back(lease, "under_way")
        except WrongStatus:
            await journal.leases.release(lease)  # somebody else was faster
            raise
        number = (await journal.story.begin_pass(lease, "rollback")).number
        await journal.calls.lose(lease)
        order = await journal.executions.order(execution_id)
        work = _Work(journal, undoer, lease, order, await _artifacts(journal, execution_id), again)
        for plan in _plans(undoer, await journal.calls.of(execution_id, whole=True)):
            await _undo(work, plan)
        after = await journal.calls.of(execution_id)
        done = all(call.status not in {"revert_failed", "revert_unknown"} for call in after)
        await journal.story.end_pass(lease, number, "done" if done else "partial")
        told = await _told(journal, execution_id, undoer, after)
        await journal.executions.roll_back(lease, "done" if done else "partial", outcome=told)


def _refuse(execution: Execution) -> None:
    if execution.status == "rolled_back":
        raise WrongStatus(f"execution {execution.execution_id} is rolled back already", execution.status)
    if execution.status not in FINAL:
        message = f"execution {execution.execution_id} is {execution.status}: cancel it first, then roll it back"
        raise WrongStatus(message, execution.status)


def _plans(undoer: Undoer, calls: list[Call]) -> list[_Plan]:
    """The calls that are to be undone, the last one first."""
    made = [call for call in reversed(calls) if call.connector != HOST_SHOWN and _may_have_happened(undoer, call)]
    found = (_plan(undoer, call) for call in made)
    return [plan for plan in found if plan is not None]


def _is_nested(undoer: Undoer, call: Call) -> bool:
    return call.connector == SNIPPETS and undoer.nested is not None and SNIPPETS not in undoer.catalog.connectors


def _may_have_happened(undoer: Undoer, call: Call) -> bool:
    if call.attempts == 0 or call.status in {"rejected", "expired", "reverted"}:
        return False
    if call.status != "failed" or call.late is not None or call.error is None:
        return True
    told = cast("dict[str, object]", codec.loads(call.error))
    # What failed within a snippet may have come after what did not.
    return not told.get("refused") and (_is_nested(undoer, call) or str(told.get("kind")) in _UNCERTAIN)


def _plan(undoer: Undoer, call: Call) -> _Plan | None:
    if _is_nested(undoer, call):
        return _Plan(call, None)
    frame = protocol.Call(call.number, call.connector, call.method, {}, call.line, 0)
    try:
        connector, method, _ = resolve_call(undoer.catalog, frame)
    except CallError as error:
        known = call.revertible or f"{call.connector}.{call.method}" in undoer.reverts
        return _Plan(call, None, error) if known else None
    if method.annotations.trusted and method.annotations.read_only is True:
        return None
    try:
        undo = find_undo(undoer.catalog, undoer.reverts, connector, method)
    except CallError as error:
        return _Plan(call, None, error)
    return None if undo is None else _Plan(call, undo)


async def _undo(work: _Work, plan: _Plan) -> None:
    """Undo one call, and write how that ended. Raises JournalError."""
    call, lease = plan.call, work.lease
    known = call.status == "completed" or call.late is not None or call.outcome is not None
    if call.status == "revert_unknown" and not work.again and not _repeatable(plan):
        return
    await work.journal.calls.revert(lease, call.number)
    if plan.problem is not None:
        await _end(work, call, "revert_failed", plan.problem)
        return
    if not known and not (plan.undo is None or (isinstance(plan.undo, ByFunction) and plan.undo.asks_status)):
        await _end(work, call, "revert_unknown", CallError("tool_error", _NOT_KNOWN))
        return
    try:
        async with asyncio.timeout(Budgets.model_validate_json(work.order.budgets).call_s):
            await _perform(work, plan)
    except TimeoutError:
        await _end(work, call, "revert_unknown", CallError("tool_timeout", "undoing it took too long"))
    except CallError as error:
        await _end(work, call, "revert_unknown" if error.kind in _UNCERTAIN else "revert_failed", error)
    except JournalError:
        raise
    except Exception as error:  # noqa: BLE001 - the border to the connector's own code
        await _end(work, call, "revert_failed", CallError("tool_error", f"{type(error).__name__}: {error}"))
    else:
        await _end(work, call, "reverted", None)


def _repeatable(plan: _Plan) -> bool:
    """Whether undoing it twice does no harm, where nobody knows whether it was undone once."""
    undo = plan.undo
    return plan.problem is None and undo is not None and not isinstance(undo, ByFunction) and undo.method.idempotent


async def _end(work: _Work, call: Call, status: RevertOutcome, error: CallError | None) -> None:
    told = None if error is None else codec.dumps({"kind": error.kind, "message": plain(str(error))[:MAX_MESSAGE]})
    await work.journal.calls.end_revert(work.lease, call.number, status, error=told)


async def _perform(work: _Work, plan: _Plan) -> None:
    call, undo = plan.call, plan.undo
    if undo is None:
        await _nested(work, key_of(call))
        return
    arguments = _decoded(work, call.edited_arguments or call.arguments)
    given = cast("dict[str, object]", arguments)
    if call.method.endswith(".pages"):
        given, _ = of_page(given)
    result = _decoded(work, call.outcome or call.late or "null")
    if isinstance(undo, ByFunction):
        status = {"status": "completed" if call.outcome else call.status} if undo.asks_status else {}
        await _called(undo.function, arguments=given, result=result, **status)
        return
    # A person asked for this, so what scripts may not call may be called here.
    connector = ungoverned(undo.connector)
    method = connector.methods.get(undo.method.name, undo.method)
    await connector.call(method, arguments_of(replace(undo, method=method), given, result), _context(work, call))


async def _nested(work: _Work, execution_id: str) -> None:
    """Roll back the execution of a call that was a script of its own. Raises CallError."""
    assert work.undoer.nested is not None  # noqa: S101 - the plan says so
    try:
        outcome = await work.undoer.nested(execution_id)
    except (UnknownEntry, UsageError):
        return  # it never began, or nothing of it can be undone
    except WrongStatus as error:
        if error.status == "rolled_back":
            return
        raise CallError("tool_error", str(error)) from error
    except Leased as error:
        raise CallError("tool_unavailable", str(error)) from error
    if outcome.status != "rolled_back":
        message = f"not all that it did could be undone: `isolith executions rollback {execution_id}`"
        raise CallError("tool_error", message)


async def _called(function: Callable[..., object], **given: object) -> None:
    """A function of the host's, plain or async; a plain one on a thread."""
    if inspect.iscoroutinefunction(function):
        await cast("Awaitable[object]", function(**given))
        return
    found = await anyio.to_thread.run_sync(partial(function, **given), abandon_on_cancel=True)
    if inspect.isawaitable(found):
        await found


def _decoded(work: _Work, text: str) -> object:
    return with_references(codec.loads(text), work.artifacts)


def _context(work: _Work, call: Call) -> CallContext:
    order = work.order
    return CallContext(
        execution_id=order.execution_id,
        call_id=f"{order.execution_id}.{call.number}.revert",
        principal=order.principal,
        session=order.session,
        deadline_s=Budgets.model_validate_json(order.budgets).call_s,
        progress=unheard,
        artifacts=CallArtifacts(work.artifacts),
    )


async def _artifacts(journal: Journal, execution_id: str) -> ArtifactStore:
    store = ArtifactStore()
    for kept in await journal.artifacts.of(execution_id):
        content = compact(await journal.artifacts.read(execution_id, kept.handle))
        store.restore(kept.handle, content, mime=kept.mime, name=kept.name)
    return store


@contextlib.asynccontextmanager
async def _held(journal: Journal, lease: Lease) -> AsyncGenerator[None]:
    """Renew the lease as long as it is worked under."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / _BEATS)
            with contextlib.suppress(JournalError):  # the lease outlasts two beats that are missed
                await journal.leases.renew([lease], LEASE)

    heart = asyncio.create_task(beat())
    try:
        yield
    finally:
        heart.cancel()
        await asyncio.wait([heart])


# ---------------------------------------------------------------------------------------------- what is told


_TOLD: dict[str, CallStatus] = {
    "reverted": "reverted",
    "revert_failed": "revert_failed",
    "revert_unknown": "revert_unknown",
}


async def _told(journal: Journal, execution_id: str, undoer: Undoer, calls: list[Call]) -> str:
    """The outcome as it was, with what became of each call, and what stays as it is."""
    text = await journal.executions.outcome(execution_id)
    outcome = Outcome.model_validate(json.loads(text) if text else {"execution_id": execution_id, "status": "failed"})
    by_id = {f"{execution_id}.{call.number}": call for call in calls}
    records = tuple(_record(record, by_id.get(record.call_id)) for record in outcome.calls)
    warnings = [warning for warning in outcome.warnings if not warning.message.startswith(_STAYS)]
    stay = sorted({f"{call.connector}.{call.method}" for call in calls if _stays(undoer, call)})
    if stay:
        message = f"{_STAYS} {', '.join(stay[:20])}: no `revert` is known"
        warnings.append(Diagnostic(kind="tool_error", message=message))
    return outcome.model_copy(update={"calls": records, "warnings": tuple(warnings)}).to_json_text()


_STAYS = "what these did was not undone:"


def _stays(undoer: Undoer, call: Call) -> bool:
    if call.connector == HOST_SHOWN or call.status in _TOLD or not _may_have_happened(undoer, call):
        return False
    with contextlib.suppress(CallError):
        frame = protocol.Call(call.number, call.connector, call.method, {}, call.line, 0)
        _, method, _ = resolve_call(undoer.catalog, frame)
        return not (method.annotations.trusted and method.annotations.read_only is True)
    return True


def _record(record: CallRecord, call: Call | None) -> CallRecord:
    if call is None or call.status not in _TOLD:
        return record
    why = _AGAIN if call.status == "revert_unknown" else None
    message = why if call.error is None else str(error_of(call.error))
    told = None if message is None else Diagnostic(kind="tool_error", message=message, line=record.line)
    return record.model_copy(update={"status": _TOLD[call.status], "error": told})
