"""The calls of one execution: each is admitted, resolved, judged, waits its turn, is made, and answered.

    number in order → budget → exists → small enough → policy → its turn → journal → connector → journal → answer

The guest can ask for a call. It cannot say that one happened, answer its own, or name a method it was not given.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from isolith.calling.afterwards import Afterwards
from isolith.calling.asking import Asker, question
from isolith.calling.call_context import Contexts
from isolith.calling.call_frames import (
    answer_frame,
    diagnostic_of,
    error_frame,
    error_text,
    kept_in_place,
    kept_within,
    written,
)
from isolith.calling.call_variants import of_page
from isolith.calling.judging import Judge
from isolith.calling.patience import within_time
from isolith.calling.questions import Questioner
from isolith.calling.remarks import doubted, remarks
from isolith.calling.tally import Tally, tally_of
from isolith.calling.turns import Turns
from isolith.calling.use import Identity, Use
from isolith.calling.waiting import edited
from isolith.internal import internal_error
from isolith.journal.errors import JournalError
from isolith.run.allowance import Allowance
from isolith.run.artifacts import ArtifactStore, with_artifacts
from isolith_bindings.beside import beside_where_much
from isolith_bindings.connector import Suspended
from isolith_bindings.errors import CallError
from isolith_bindings.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from isolith.budgets import Budgets
    from isolith.calling.questions import Questions
    from isolith.durable.record import CallRecorder
    from isolith.events import EventLog
    from isolith.journal.model import Call
    from isolith.outcome import CallRecord, CallStatus, Diagnostic, PendingCall
    from isolith.run.host_services import HostServices
    from isolith_bindings.catalog import Catalog
    from isolith_runtime import protocol

_MAX_REFUSED = 1_000
"""Calls that may be refused before anything is called; a script that asks for more is stopped."""
_MAX_HINTED = 10
"""Refused calls that are told what they may have meant: to find that takes a look at every name there is."""


@dataclass
class CallDesk:
    """Takes the guest's calls. `answer` is given each frame for the guest; `refuse` ends a guest that lies.

    `settled` is called when a call waits for a person; `failed` where the journal cannot be written.
    """

    identity: Identity
    catalog: Catalog
    budgets: Budgets
    events: EventLog
    artifacts: ArtifactStore
    services: HostServices
    answer: Callable[[int, str], None]
    refuse: Callable[[str], None]
    policy: Policy = field(default_factory=lambda: Policy(preset="trusted"))
    recorder: CallRecorder | None = None
    waits: Callable[[], None] = lambda: None
    broken: Callable[[Exception], None] = lambda _error: None
    allowance: Allowance | None = None
    questions: Questions | None = None

    def __post_init__(self) -> None:
        self._uses: dict[int, Use] = {}
        self._turns = Turns(self.budgets)
        self._allowance = self.allowance or Allowance(self.budgets)
        self._judge = Judge(self.catalog, self.budgets, self.policy, self._allowance, asks=self.recorder is not None)
        self._owed = self._last = self._refused = 0
        self._closed = self._held = False
        self._contexts = Contexts(self.identity, self.budgets.call_s, self.artifacts)
        self._asker = None if self.recorder is None else Asker(self.recorder, self._contexts.of, self.artifacts)
        self._questioner = Questioner(self.questions, self.identity, self.events, keeps=self.recorder is not None)
        self._afterwards = Afterwards(self.recorder, self.artifacts, self.broken)

    def tally(self) -> Tally:
        """What its calls came to."""
        return tally_of(self._uses.values(), self._turns, self._allowance)

    @property
    def under_way(self) -> bool:
        """Whether an answer is still owed."""
        return self._owed > 0

    @property
    def only_people(self) -> bool:
        """Whether answers are owed, and all of them by people."""
        return self._owed > 0 and all(use.status == "pending" for use in self._uses.values() if use.open)

    def first_under_way(self) -> tuple[str, int | None] | None:
        """The oldest call without an answer, by name and line."""
        found = next((use for use in self._uses.values() if use.open), None)
        return None if found is None else (".".join(found.names), found.frame.line)

    def pending(self) -> tuple[PendingCall, ...]:
        """What waits for people, in the order of the calls."""
        return tuple(use.pending for use in self._uses.values() if use.status == "pending" and use.pending is not None)

    def records(self) -> tuple[CallRecord, ...]:
        """All calls in the order they were made."""
        return tuple(use.record() for use in self._uses.values())

    def remarks(self) -> list[Diagnostic]:
        """What is to be said of its calls beside that."""
        return remarks(self._uses.values(), self.budgets.result_bytes)

    # from the guest

    def take(self, frame: protocol.Call) -> None:
        """One call from the guest."""
        if self._closed:
            return
        if frame.number <= self._last:
            self.refuse("it numbered two calls alike")
            return
        self._last = frame.number
        if self._refused >= _MAX_REFUSED:
            self._closed = True
            self.refuse(f"it went on asking for calls after {_MAX_REFUSED} had been refused")
            return
        self._owed += 1
        use = Use(frame, self.identity.call_id(frame.number), frame.number, arguments=frame.arguments)
        self._uses[frame.number] = use
        try:
            self._judge.admit(use, hinted=self._refused < _MAX_HINTED)
            decision = self._judge.judge(use)
        except CallError as error:
            self._refused += 1
            use.refused = True
            if self.recorder is None or self.recorder.meet(self, use):
                self._refuse_call(use, error)
            return
        if self.recorder is not None and not self.recorder.meet(self, use):
            return
        if decision is None:
            self._turns.wait(use)
            self.start_next()
        elif self._asker is not None:
            use.task = asyncio.create_task(self._ask(use, partial(self._asker.ask, use, decision)))

    def hold(self) -> None:
        """Start no more calls, because the script has ended: those it still asks for are recorded as cancelled."""
        self._held = True

    def give_up(self, number: int) -> None:
        """The script cancelled one of its calls."""
        use = self._uses.get(number)
        if use is not None and use.open:
            self._turns.leave(use)
            self._end(use, "cancelled")
            if use.task is not None:
                use.task.cancel()

    async def close(self, patience_s: float, *, resting: bool = False) -> None:
        """Cancel what is under way, in at most `patience_s` seconds. What waits ends with the run; `resting`: not."""
        self._closed = True
        tasks = [use.task for use in self._uses.values() if use.task is not None and not use.task.done()]
        for use in self._uses.values():
            if use.open and not (resting and use.status == "pending"):
                self._end(use, "cancelled")
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=patience_s)
        await self._afterwards.written(patience_s)

    # from people and from the journal

    def find(self, number: int) -> Use | None:
        """A call by its number."""
        return self._uses.get(number)

    def find_entry(self, entry: int) -> Use | None:
        """A call by its number in the journal."""
        return next((use for use in self._uses.values() if use.entry == entry), None)

    def make_again(self, use: Use) -> None:
        """A call that was under way when its host stopped, and may be made again."""
        self._turns.wait(use)
        self.start_next()

    def approved(self, use: Use, call: Call) -> None:
        """The journal says that a person said yes: to what would be made now, or that person is asked again."""
        if self._asker is None or use.approved or not use.open:
            self._approve(use, edited(call))
            return
        use.status, use.pending = "running", None
        confirm = partial(self._asker.confirm, use, call, self._judge.asks_anew(use, call))
        use.task = asyncio.create_task(self._ask(use, confirm))

    def _approve(self, use: Use, arguments: dict[str, object] | None) -> None:
        """To these arguments in place of its own."""
        if not use.open or use.approved:
            return
        use.approved, use.status, use.pending = True, "running", None
        use.arguments = use.arguments if arguments is None else arguments
        self._turns.wait(use)
        self.start_next()

    def wait_for_person(self, use: Use, call: Call) -> None:
        """The journal says that a person has been asked, and has not answered."""
        use.status, use.pending, use.announced = "pending", question(use, call), True

    def reject(self, use: Use, error: CallError) -> None:
        """A person said no."""
        if use.open:
            use.journalled = False
            self._fail(use, error, "rejected")

    def settle(self, use: Use, status: CallStatus, outcome: str | None, error: CallError | None) -> str:
        """The journal has its outcome already. Gives the frame that delivers it."""
        use.journalled = False
        if error is not None:
            use.error = diagnostic_of(use, error)
        if outcome is not None:
            use.kept_bytes = kept_in_place(use, outcome, self.artifacts)
        self._end(use, status)
        if error is not None:
            return error_frame(use.number, error_text(use, error))
        return answer_frame(use.number, outcome or "null")

    def told(self, warnings: Iterable[Diagnostic]) -> None:
        """What was said of calls in a pass before this one; it is not said again."""
        self._contexts.doubted.update(doubted(warnings))

    def restore(self, use: Use) -> None:
        """A call of a pass before this one, in the order of their numbers."""
        self._uses[use.number] = use
        self._last = max(self._last, use.number)
        self._owed += use.open
        if not (use.error is not None and use.started is None and use.status == "failed"):
            self._allowance.count(use.frame.connector)

    # effects

    async def _ask(self, use: Use, asking: Callable[[], Awaitable[PendingCall | None]]) -> None:
        try:
            pending = await asking()
        except CallError as error:
            self._fail(use, error)
            return
        except Exception as error:  # noqa: BLE001 - of the journal, or a bug of ours: else the script waits for ever
            self.broken(error)
            return
        if not use.open:
            return
        use.task = None
        if pending is None:
            self._approve(use, None)
        else:
            self._wait(use, pending)

    async def _put_off(self, use: Use, suspended: Suspended) -> None:
        """Its server asks a person: the call is made again with the answer."""
        if self._asker is None:
            raise CallError("tool_error", "its server asks a person, and nothing here keeps a run that waits")
        pending = await self._asker.put_off(use, suspended)
        if use.open:
            use.task, use.approved = None, False
            self._wait(use, pending)

    def _wait(self, use: Use, pending: PendingCall) -> None:
        use.status, use.pending, use.announced = "pending", pending, True
        self.events.append("call_pending", **pending.model_dump(exclude={"arguments"}), arguments=pending.arguments)
        self.waits()

    def start_next(self) -> None:
        """Make the calls whose turn it is, unless the guest has to take answers first."""
        if self._closed or self._held or self._allowance.full:
            return
        for use in self._turns.ready():
            use.started = time.perf_counter()
            use.task = asyncio.create_task(self._make(use))

    async def _make(self, use: Use) -> None:
        try:
            if self.recorder is not None:
                await self.recorder.started(use)
            use.announced = True
            self.events.append("call_started", call_id=use.call_id, connector=use.names[0], method=use.names[1])
            try:
                value = await within_time(use, self.budgets, self.events, self._perform)
                if use.open:
                    await self._complete(use, value)
                else:
                    self._afterwards.came_late(use, value)
            except Suspended as suspended:
                await self._put_off(use, suspended)
        except CallError as error:
            await self._fail_made(use, error)
        except JournalError as error:
            self.broken(error)
        except asyncio.CancelledError:
            self._end(use, "cancelled")
            raise
        except Exception as error:  # noqa: BLE001 - the border to connectors: CallError is all they may raise
            diagnostic = internal_error(error, execution_id=self.identity.execution_id)
            told = CallError("internal", diagnostic.message, hint=diagnostic.hint)
            await self._fail_made(use, told, diagnostic.error_id)
        finally:
            self._turns.done(use)
            self.start_next()

    async def _perform(self, use: Use, progress: Callable[..., None]) -> object:
        if use.connector is None or use.method is None:
            return await self.services.call(use.frame.method, use.arguments)
        arguments = await with_artifacts(use.arguments, self.artifacts)
        if use.approved:
            self._judge.refuse_denied(use)
        given, cursor = of_page(arguments) if use.variant == "pages" else (arguments, None)
        ask, waits = self._questioner.during(use, given)
        context = self._contexts.of(use, progress, ask, waits=waits)
        context = replace(context, cursor=cursor, late=partial(self._afterwards.came_late, use))
        use.made = True
        value = await use.connector.call(use.method, given, context)
        return value if use.variant else self.catalog.observations.saw(use.connector.name, use.method, value)

    async def _complete(self, use: Use, value: object) -> None:
        try:
            text = await beside_where_much({"": value}, lambda: written(use, value))
        except asyncio.CancelledError:
            self._afterwards.came_late(use, value)
            raise
        text = kept_within(use, text, self.artifacts, None if use.connector is None else self.budgets.result_bytes)
        if self.recorder is not None:
            text = await self.recorder.completed(use, text)
            if not use.open:
                return
        self._end(use, "completed")
        self.answer(use.number, answer_frame(use.number, text))

    async def _fail_made(self, use: Use, error: CallError, error_id: str | None = None) -> None:
        """A call that was made has failed."""
        if use.open and self.recorder is not None and use.journalled:
            try:
                await self.recorder.failed(use, error_text(use, error))
            except Exception as broken:  # noqa: BLE001 - the same
                self.broken(broken)
                return
        self._fail(use, error, error_id=error_id)

    def _refuse_call(self, use: Use, error: CallError) -> None:
        """A call that is not made; in a replay it is refused again."""
        if self.recorder is not None:
            self._afterwards.write(self.recorder.refused(use, error_text(use, error, refused=True)))
        self._fail(use, error)

    def _fail(self, use: Use, error: CallError, status: CallStatus = "failed", *, error_id: str | None = None) -> None:
        if not use.open:
            return
        use.error = diagnostic_of(use, error, error_id)
        self._end(use, status)
        self.answer(use.number, error_frame(use.number, error_text(use, error)))

    def _end(self, use: Use, status: CallStatus) -> None:
        if not use.open:
            return
        if status == "cancelled" and use.journalled and self.recorder and not (self._closed and use.pending):
            self._afterwards.write(self.recorder.cancelled(use))
        unheard = status == "cancelled" and not use.announced
        use.status, use.pending = status, None
        use.forget_arguments()
        self._owed -= 1
        self._allowance.release(use.number)
        if use.started is not None:
            use.duration_ms = round((time.perf_counter() - use.started) * 1e3, 3)
        if unheard:  # nor was whoever follows the run told of its beginning
            return
        self.events.append(
            "call_ended",
            call_id=use.call_id,
            connector=use.names[0],
            method=use.names[1],
            status=status,
            duration_ms=use.duration_ms,
            error=use.error.message if use.error else None,
        )
