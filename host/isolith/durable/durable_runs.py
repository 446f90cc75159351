"""Runs that outlive their process: decided by people, gone on with, tried again, taken over from hosts that stopped."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from isolith.approvals.grants import with_call
from isolith.budgets import Budgets
from isolith.calling.asking import EXPIRY
from isolith.calling.fitness import refuse_unfit, refuse_without_connectors
from isolith.calling.waiting import Given, encoded, seen_digest
from isolith.durable.durability import Durable
from isolith.durable.endings import Endings, ends_it
from isolith.durable.handing_over import end_here
from isolith.durable.history import History, load_history
from isolith.durable.ledger import How, Ledger
from isolith.durable.rollback import Undoer, roll_back
from isolith.durable.shown import number_of, pending_of, standing
from isolith.errors import UsageError
from isolith.internal import internal_error
from isolith.journal.errors import JournalError, Leased, UnknownEntry, WrongStatus
from isolith.journal.model import Answer
from isolith.journal.owners import Owner
from isolith.outcome import Diagnostic, Outcome
from isolith_runtime.errors import HibernationError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

    from isolith.approvals.terms import GrantTerms
    from isolith.journal.journal import Journal
    from isolith.journal.model import Call, Decided, Decision, Verdict
    from isolith.journal.model import Execution as Stood
    from isolith.outcome import PendingCall
    from isolith.run.execution import Execution
    from isolith_bindings.catalog import Catalog
    from isolith_runtime.driver import Supply

    Begin = Callable[[History, Budgets, Durable], Execution]
    """Starts an execution that goes on with a history, under these budgets."""

NOBODY = "nobody named"


@dataclass(frozen=True)
class Doors:
    """What going on needs from whoever holds the connectors."""

    begin: Begin
    running: Callable[[str], Execution | None]
    """The execution of this id, where it runs here."""
    supply: Callable[[Budgets], Awaitable[Supply]]
    undoer: Undoer | None = None
    """How calls are undone; where nobody says, nothing is."""
    ended: Callable[[str], Awaitable[None]] | None = None
    """Told of each execution that ends without a pass of its own, so that nothing stays that was there for it."""
    within: bool = False
    """Whether these are runs within a run, which goes on with them; nobody else does."""


class DurableRuns:
    """The executions of one journal, as one host sees them."""

    def __init__(self, journal: Journal, doors: Doors, owner: str | None = None) -> None:
        self.journal = journal
        self._doors = doors
        self.owner = owner or Owner().name
        self._endings = Endings(journal, self.owner, doors.ended)
        self._unreadable: set[str] = set()

    @property
    def supply(self) -> Callable[[Budgets], Awaitable[Supply]]:
        """What isolates are made from."""
        return self._doors.supply

    @property
    def catalog(self) -> Catalog | None:
        """What is connected, where anybody says."""
        return None if self._doors.undoer is None else self._doors.undoer.catalog

    # decisions

    async def decide(  # noqa: PLR0913 - the parts of one answer
        self,
        execution_id: str,
        call_id: str | int,
        verdict: Verdict,
        *,
        who: str = NOBODY,
        digest: str | None = None,
        arguments: dict[str, object] | None = None,
        answer: dict[str, object] | None = None,
        reason: str | None = None,
        grant: GrantTerms | None = None,
        asked: int | None = None,
        go_on: bool = True,
        made: Callable[[], object] | None = None,
    ) -> Outcome:
        """Answer one pending call. The answer that leaves nothing pending goes on with the run, to its next end.

        `digest`: of the pending call that was looked at, or the first 12 characters of it; an answer about another is
        refused. Without one, the answer is about what is pending now. `answer`: what its server asks for, where it
        does. `grant`: for so many calls more of the same method, given with the approval or not at all. `asked`: the
        round of the question that is answered; `digest` is of the arguments alone then. `made`: called when the answer
        counts, before the run goes on. Raises AlreadyDecided, DigestMismatch, UnknownEntry, UsageError for an answer
        that does not fit, and where the run needs what is not connected here (not with `go_on=False`).
        """
        number = number_of(execution_id, call_id)
        call = await self.journal.calls.get(execution_id, number)
        said = encoded(call, verdict, Given(arguments, answer))
        if go_on and call.status == "pending_approval" and (verdict == "approve" or call.on_rejection != "end"):
            await self._refuse_elsewhere(execution_id)
        if verdict == "approve" and call.status == "pending_approval" and self.catalog is not None:
            await refuse_unfit(self.catalog, call, arguments)
        seen = seen_digest(call, digest) if asked is None else digest or call.digest
        given = None if grant is None else with_call(call, grant, who, await self._principal(execution_id))
        answered = Answer(execution_id, number, seen, verdict, who, said, reason, asked or call.asked)
        decided = await self.journal.approvals.decide(answered, given)
        if made is not None:
            made()
        return await self._after(decided, go_on=go_on)

    async def call(self, execution_id: str, call_id: str | int) -> Call:
        """One call as it stands. Raises UnknownEntry."""
        return await self.journal.calls.get(execution_id, number_of(execution_id, call_id))

    async def decisions(self, execution_id: str) -> list[Decision]:
        """What was decided, by whom, when, and under which grant. Raises UnknownEntry."""
        await self.journal.executions.get(execution_id)
        return await self.journal.approvals.decisions(execution_id)

    async def _around(self, execution_id: str) -> str | None:
        """The run that this one is a part of, and that alone goes on with it; None where it stands by itself."""
        origin = cast("object", json.loads((await self.journal.executions.order(execution_id)).origin))
        told = cast("dict[str, object]", origin) if isinstance(origin, dict) and not self._doors.within else {}
        return None if told.get("within") is None else str(told["within"])

    async def _refuse_part(self, execution_id: str) -> None:
        around = await self._around(execution_id)
        if around is not None:
            raise UsageError(f"execution {execution_id} is a snippet's, within another: {_GO_ON_AROUND.format(around)}")

    async def _refuse_elsewhere(self, execution_id: str) -> None:
        """Raises UsageError for a run that waits, would go on here, and cannot: what it needs is not connected."""
        stands = await self.journal.executions.get(execution_id)
        if stands.status == "paused" and await self._around(execution_id) is None:
            self._refuse_without_connectors(await self.journal.calls.of(execution_id))

    def _refuse_without_connectors(self, calls: Iterable[Call]) -> None:
        if self.catalog is not None:
            refuse_without_connectors(self.catalog, calls)

    async def _principal(self, execution_id: str) -> str | None:
        return (await self.journal.executions.get(execution_id)).principal

    async def _after(self, decided: Decided, *, go_on: bool) -> Outcome:
        execution_id = decided.call.execution_id
        running = self._doors.running(execution_id)
        if running is not None and running.decided(decided):
            return await running.outcome()
        if ends_it(decided.call) and decided.execution.status == "paused":
            with contextlib.suppress(Leased, WrongStatus):  # somebody else ends it already
                return await self._endings.rejected(decided.call, decided.decision.reason)
        around = await self._around(execution_id)
        if around is not None:
            return _told_of(await self.outcome(execution_id), around)
        if go_on and decided.execution.status == "paused" and decided.execution.pending == 0:
            with contextlib.suppress(Leased, WrongStatus):  # somebody else goes on with it already
                return await self.resume(execution_id)
        return await self.outcome(execution_id)

    async def pending(self, execution_id: str | None = None) -> list[PendingCall]:
        """What waits for people, oldest first."""
        return [pending_of(call) for call in await self.journal.approvals.pending(execution_id)]

    async def outcome(self, execution_id: str) -> Outcome:
        """How it ended, or where it stands. The value of one that was read back is JSON data."""
        return await standing(self.journal, execution_id)

    # going on

    async def resume(self, execution_id: str) -> Outcome:
        """Go on with a paused run to its next end: woken where its image is the same, else replayed.

        Raises Leased where somebody else works on it, WrongStatus where nothing is to be gone on with, UsageError
        where it needs what is not connected here.
        """
        execution = await self.journal.executions.get(execution_id)
        await self._refuse_part(execution_id)
        if execution.status not in {"paused", "running"}:
            message = f"execution {execution_id} is {execution.status}: there is nothing to go on with"
            raise WrongStatus(message, execution.status)
        if execution.status == "paused" and execution.pending:
            calls, verb = ("call", "waits") if execution.pending == 1 else ("calls", "wait")
            raise UsageError(f"{execution.pending} {calls} of execution {execution_id} still {verb} for an answer")
        return await self._go_on(execution, await self._load(execution_id))

    async def retry(self, execution_id: str) -> Outcome:
        """Run one that failed, was cancelled or was left by its host again, from its journal.

        What succeeded is not made again; calls whose failure ended the run are. Raises WrongStatus, Leased.
        """
        execution = await self.journal.executions.get(execution_id)
        await self._refuse_part(execution_id)
        if execution.status == "running":
            return await self.take_over(execution_id)
        if execution.status not in {"failed", "cancelled"}:
            message = f"execution {execution_id} is {execution.status}: only what failed is tried again"
            raise WrongStatus(message, execution.status)
        if execution.rollback is not None:
            message = f"the rollback of execution {execution_id} has begun: it is not tried again"
            raise WrongStatus(message, execution.status)
        await self.journal.cancellations.clear(execution_id)  # whoever asked to end it meant the run before
        return await self._go_on(execution, (await self._load(execution_id)).for_retry(), "retry")

    async def recover(self, origin: str | None = None) -> list[Outcome]:
        """Take over what hosts that stopped have left, one after another; each runs to its next end.

        `origin`: only runs that were started so, whose connectors are therefore the same. One that cannot be gone on
        with by a bug of ours is told to the log once, and keeps nobody from the others. Raises JournalError.
        """
        found: list[Outcome] = []
        for execution_id in await self.journal.leases.abandoned():
            try:
                if origin is None or (await self.journal.executions.order(execution_id)).origin == origin:
                    found.append(await self.take_over(execution_id))
            except (Leased, WrongStatus, UnknownEntry, UsageError):  # not here, or not any more
                continue
            except JournalError:
                raise
            except Exception as error:  # noqa: BLE001 - of what is in the journal: whoever tends it goes on
                if execution_id not in self._unreadable:
                    self._unreadable.add(execution_id)
                    internal_error(error, execution_id=execution_id)
        return found

    async def take_over(self, execution_id: str) -> Outcome:
        """Go on with a run whose host has stopped. What was under way is unknown, and asked about unless repeatable.

        A rollback that it was at goes on as a rollback. Raises WrongStatus where it has ended or waits, Leased,
        UsageError where it needs what is not connected here.
        """
        execution = await self.journal.executions.get(execution_id)
        if execution.rollback == "under_way":
            return await self.rollback(execution_id)
        if execution.status != "running":
            message = f"execution {execution_id} is {execution.status}: no host has left it"
            raise WrongStatus(message, execution.status)
        ledger = self._ledger()
        history = await self._load(execution_id)  # it may have been left with a guest that was just put away
        final = next(filter(ends_it, history.calls), None)
        if final is not None:
            return await self._endings.rejected(final, history.rejections.get(final.number))
        self._refuse_without_connectors(history.all_calls)
        await ledger.take_over(execution, "replay", history.position)
        async with _left_where_it_fails(ledger):
            await self._settle_unknown(ledger)
            current = tuple(await self.journal.calls.of(execution_id, whole=True))
            begun = self._begin(replace(history.without_hibernation(), calls=current), ledger)
        return await begun.outcome()

    async def _settle_unknown(self, ledger: Ledger) -> None:
        """What was under way is made again where it may be; about all else a person is asked."""
        for call in await self.journal.calls.lose(ledger.lease):
            if call.status != "unknown":
                continue
            if call.repeatable or call.idempotency_key:
                await self.journal.calls.repeat(ledger.lease, call.number)
            else:
                until = datetime.now(UTC) + EXPIRY
                await self.journal.calls.ask_again(ledger.lease, call.number, reason=_UNKNOWN, expires_at=until)

    async def rollback(self, execution_id: str, *, again: bool = False) -> Outcome:
        """Undo what an ended run did, its last call first; `rolled_back` where all that can be undone was.

        `again`: also the calls of which nobody knows whether they were undone. Raises WrongStatus, Leased, UsageError.
        """
        undoer = self._doors.undoer
        if undoer is None:
            raise UsageError("nothing is known here of how calls are undone")
        if undoer.nested is None:
            undoer = replace(undoer, nested=self.rollback)
        await roll_back(self.journal, undoer, self.owner, execution_id, again=again)
        await self._endings.let_go(execution_id)
        return await self.outcome(execution_id)

    async def expire(self) -> list[Outcome]:
        """End the runs whose questions nobody answered in time."""
        ended: dict[str, Outcome] = {}
        for decided in await self.journal.approvals.expire():
            execution_id = decided.call.execution_id
            running = self._doors.running(execution_id)
            if running is not None and running.decided(decided):
                continue  # the script is told
            with contextlib.suppress(Leased, WrongStatus):
                ended[execution_id] = await self._endings.expired(decided.call)
        return list(ended.values())

    async def cancel(self, execution_id: str, *, who: str = NOBODY) -> Outcome:
        """End a run, wherever it stands: one that runs here at once, one that is paused without running it.

        The journal keeps who asked. Raises WrongStatus for one that has ended, Leased for one that runs at another
        host, which was asked to end it by then.
        """
        running = self._doors.running(execution_id)
        if running is not None:
            return await end_here(self.journal, running, who)
        await self.journal.cancellations.ask(execution_id, who)
        ended = await self._endings.cancelled(execution_id)
        await self.journal.cancellations.clear(execution_id)
        return ended

    async def _load(self, execution_id: str) -> History:
        try:
            return await load_history(self.journal, execution_id)
        except HibernationError:
            return await load_history(self.journal, execution_id, awake=True)

    async def keep_on(self, execution_id: str, ledger: Ledger) -> Outcome:
        """Go on with a run that was about to pause when people answered; under the lease that it has."""
        history = await self._fitting(await self._load(execution_id))
        await ledger.keep_on("replay" if history.hibernation is None else "wake", history.position)
        return await self._begin(history, ledger).outcome()

    async def _go_on(self, execution: Stood, history: History, how: How | None = None) -> Outcome:
        execution_id = execution.execution_id
        final = next(filter(ends_it, history.calls), None)
        if final is not None:
            return await self._endings.rejected(final, history.rejections.get(final.number))
        self._refuse_without_connectors(history.all_calls)
        history = await self._fitting(history)
        ledger = self._ledger()
        found = how or ("replay" if history.hibernation is None else "wake")
        await ledger.take_over(execution, found, history.position)
        async with _left_where_it_fails(ledger):
            if late := history.superseded_late:
                await self.journal.calls.take_late(ledger.lease, [call.number for call in late])
                history = history.with_late()
            current = {call.number: call for call in await self.journal.calls.of(execution_id, whole=True)}
            begun = self._begin(replace(history, calls=tuple(current[call.number] for call in history.calls)), ledger)
        return await begun.outcome()

    async def _fitting(self, history: History) -> History:
        """To be woken where the image is the same, else to be replayed."""
        supply = await self._doors.supply(Budgets.model_validate_json(history.order.budgets))
        asleep = history.hibernation
        fits = asleep is not None and asleep.image == supply.engine.meta.digest
        return history if fits else history.without_hibernation()

    def _begin(self, history: History, ledger: Ledger) -> Execution:
        budgets = Budgets.model_validate_json(history.order.budgets)
        durable = Durable(ledger, self.keep_on, history, history.order.origin)
        return self._doors.begin(history, budgets, durable)

    def _ledger(self) -> Ledger:
        return Ledger(self.journal, self.owner)


@contextlib.asynccontextmanager
async def _left_where_it_fails(ledger: Ledger) -> AsyncGenerator[None]:
    """A run that was taken and cannot be begun is left to others: its lease would be renewed for nobody."""
    try:
        yield
    except BaseException:
        await ledger.leave()
        raise


_UNKNOWN = "it was under way when its host stopped, and nobody knows whether it happened: approve to make it again"


_GO_ON_AROUND = "decide what waits in it, then `isolith executions retry {}`"


def _told_of(outcome: Outcome, around: str) -> Outcome:
    """The outcome of a run within a run, with what is to be done next."""
    told = Diagnostic(kind="tool_unavailable", message=f"it is a part of another run: {_GO_ON_AROUND.format(around)}")
    return outcome.model_copy(update={"warnings": (*outcome.warnings, told)})
