"""One script from begin to end: drives its guest, routes its calls, keeps its budgets, writes its outcome.

Lives in one event loop. The guest runs on threads of its own; what it sends arrives here as frames, already checked.
A run that needs a person ends this object too, with the outcome `paused`: another one goes on from the journal.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from isolith.calling.calls import CallDesk
from isolith.calling.use import Identity
from isolith.durable.durability import Durability
from isolith.events import Event, EventLog
from isolith.internal import identified, internal_error
from isolith.outcome import Diagnostic, Outcome, PendingCall, Usage
from isolith.run import ending, gradual
from isolith.run.allowance import Allowance
from isolith.run.artifacts import ArtifactStore
from isolith.run.checking import Checking
from isolith.run.given import Unfit, size_of
from isolith.run.host_services import HostServices
from isolith.run.normalize import Prepared, Refused, prepared
from isolith.run.order import Order, id_of, inputs_of, limits_of, start_frame
from isolith.run.post import Post
from isolith.run.reply import Reply, reply_of
from isolith.run.said import Said
from isolith.run.usage import Passed, Sizes, script_size, usage_of
from isolith_runtime import protocol
from isolith_runtime.driver import Guest, State, Supply
from isolith_runtime.limits import Stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from isolith.journal.model import Decided
    from isolith_runtime.inputs import Recording

_CALLS_PATIENCE_S = 0.2
"""Seconds that calls get to end after their cancellation, before the outcome is written without them."""


class Execution:
    """A script under way. Made by `CodeMode.start`, in a running event loop."""

    def __init__(self, order: Order) -> None:
        self.execution_id = id_of(order)
        self._order = order
        self.allowance = Allowance(order.budgets, order.around)
        self._budgets = order.budgets
        self._events = EventLog(self.execution_id, None if order.durable is None else order.durable.ledger.teller)
        self._artifacts = ArtifactStore()
        self._inputs = inputs_of(order)
        self._loop = asyncio.get_running_loop()
        self._begun = time.perf_counter()
        self._said = Said(self._budgets, self._events, order.warnings)
        self._post = Post(self._guest_ready, self._deliver, self.allowance)
        self._durability = None
        if order.durable is not None:
            self._durability = Durability(order.durable, order, self._inputs, self._artifacts, self.diverge)
        self._desk = CallDesk(
            Identity(self.execution_id, order.principal, order.session),
            order.catalog,
            self._budgets,
            self._events,
            self._artifacts,
            HostServices(order.catalog, self._artifacts, self._budgets.result_bytes),
            self._answer,
            self._refuse,
            order.policy,
            None if self._durability is None else self._durability.recorder,
            self._reconsider,
            self.fail_internally,
            self.allowance,
            order.questions,
        )
        self._check = Checking(order.check, order.catalog.connectors, order.types)
        self._guest: Guest | None = None
        self._script: Prepared = Prepared("", "", (), ())
        self._timers: list[asyncio.TimerHandle] = []
        self._parked_at: int | None = None
        self._input_bytes = self._value_bytes = 0
        self._forced: Diagnostic | str | None = None
        self._outcome: asyncio.Future[Outcome] = self._loop.create_future()
        self._task_of_end: asyncio.Task[None] | None = None
        self._task = self._loop.create_task(self._begin())

    # for callers

    async def outcome(self) -> Outcome:
        """How it ended; waits for it. Cancelling the waiting cancels nothing else."""
        return await asyncio.shield(self._outcome)

    def events(self, after: int = 0) -> AsyncIterator[Event]:
        """What happens, as it happens, from behind sequence number `after`; the last event is the outcome."""
        return self._events.follow(after)

    def cancel(self) -> None:
        """End it now: the guest is gone and its calls are cancelled within 250 ms. Idempotent."""
        self._force("cancelled")

    def artifact(self, handle: str) -> bytes:
        """The bytes under one of its handles. Raises KeyError for any other."""
        return self._artifacts.read(handle)

    def pending(self) -> tuple[PendingCall, ...]:
        """What waits for people now."""
        return self._desk.pending()

    def decided(self, decided: Decided) -> bool:
        """A person has answered while it runs. Whether it takes that: not where it is being put away just now."""
        if self._task_of_end is not None or self._durability is None:
            return False
        if (final := self._durability.final(decided, self._script)) is not None:
            self._force(final)
        self._durability.decided(self._desk, decided)
        return True

    @property
    def artifacts(self) -> ArtifactStore:
        """All that it keeps."""
        return self._artifacts

    @property
    def order(self) -> Order:
        """What was asked for."""
        return self._order

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call back in the loop when the outcome is there."""
        self._outcome.add_done_callback(lambda _: callback())

    def recording(self) -> Recording:
        """The clock readings and the seed it was given: what a replay needs to see the same."""
        return self._inputs.recording()

    # beginning

    async def _begin(self) -> None:
        try:
            script = await prepared(self._order.script, self._budgets.script_bytes)
            if isinstance(script, Refused):
                self._end(Reply("failed", error=script.diagnostic))
                return
            self._script = self._said.script = script
            self._said.warnings += script.warnings
            await gradual.known(self._order.catalog.connectors, script.text, self._budgets.call_s)
            self._input_bytes = size_of(self._order.input, self._budgets.input_bytes)
            start: str | None = start_frame(self._order, script.text, self._inputs.random_seed)
            judged = await self._check.judged(script)
            if isinstance(judged, Refused):
                self._end(Reply("failed", error=judged.diagnostic))
                return
            supply = await self._order.supply()
            if self._task_of_end is None and self._durability is not None:
                start = await self._durability.begin(self.execution_id, supply, start or "")
            if self._task_of_end is not None:
                return  # cancelled meanwhile: the image may have taken its time, the journal too
            self._timers.append(self._loop.call_later(self._wall_s(), self._force, "wall_exceeded"))
            self._start_guest(supply, start)
        except Unfit as unfit:
            self._end(Reply("failed", error=unfit.diagnostic))
        except Exception as error:  # noqa: BLE001 - the border of the execution: its outcome says it
            self.fail_internally(error)

    def _start_guest(self, supply: Supply, start: str | None) -> None:
        """Run the guest from its first frame; without one, wake the one that was put away."""
        asleep = None if self._durability is None else self._durability.asleep
        self._guest = Guest(supply, limits_of(self._budgets), self._inputs, self._on_batch, asleep)
        if start is None and self._durability is not None:
            self._post.held = True
            self._durability.restore(self._desk, self._said)
            self._post.held = False
            self._rest(None)
        elif start is not None:
            self._guest.deliver([start])

    def _wall_s(self) -> float:
        spent = 0.0 if self._durability is None else self._durability.wall_s
        return max(0.001, self._budgets.wall_s - spent)

    # while it runs

    def _on_batch(self, frames: list[protocol.Frame], state: State) -> None:
        if self._outcome.done() or self._task_of_end is not None:
            return
        try:
            self._take_batch(frames, state)
        except Exception as error:  # noqa: BLE001 - the border to the loop, which would log it and let everyone wait
            self.fail_internally(error)

    def _take_batch(self, frames: list[protocol.Frame], state: State) -> None:
        delay: float | None = None
        if frames and isinstance(frames[-1], (protocol.Result, protocol.Failure)):
            self._desk.hold()
        self._post.held = True
        for frame in frames:
            if isinstance(frame, protocol.Parked):
                delay, self._parked_at = frame.delay, frame.line
            elif isinstance(frame, (protocol.Result, protocol.Failure)):
                self._end_by_frame(frame)
                return
            elif isinstance(frame, protocol.Call):
                self._desk.take(frame)
            elif isinstance(frame, protocol.Cancel):
                self._desk.give_up(frame.number)
            else:
                self._said.take(frame)
        self._post.held = False
        if self._task_of_end is not None:
            return
        if state is State.GONE:
            self._end(self._gone())
        elif state.ready:
            self._rest(delay)

    def _rest(self, delay: float | None) -> None:
        """The guest waits: deliver what there is, or see to it that something will wake it."""
        if self._durability is not None and self._durability.replays:
            self._deliver_recorded(self._durability)
        elif self._durability is not None and (strayed := self._durability.recorder.strayed()):
            self.diverge(*strayed)
        elif not self._post.rest(delay) and not self._desk.under_way:
            self._force("silent")
        else:
            self._reconsider()

    def _reconsider(self) -> None:
        """Put the run away where nothing can go on before people have answered."""
        guest, durability = self._guest, self._durability
        if durability is None or guest is None or not guest.state.ready or self._forced is not None:
            return
        if self._post.empty and not durability.replays and self._desk.only_people and self._task_of_end is None:
            self._task_of_end = self._loop.create_task(self._pause(durability, guest))

    def _deliver_recorded(self, durability: Durability) -> None:
        """What the journal says the guest was given next."""
        found = durability.next_delivery()
        if found is None:
            self.diverge("what it asked for", "answers to calls that it did not ask for")
            return
        assert self._guest is not None  # noqa: S101 - it rests
        self._guest.deliver(found)
        if not durability.replays:
            for number, frame in durability.recorder.left():
                self._post.put(number, frame, more=True)

    def _guest_ready(self) -> bool:
        guest, replays = self._guest, self._durability is not None and self._durability.replays
        return guest is not None and guest.state.ready and self._forced is None and not replays

    def _deliver(self, frames: list[str], numbers: tuple[int, ...]) -> None:
        assert self._guest is not None  # noqa: S101 - it is ready
        try:
            if self._durability is not None:
                self._durability.delivered(self._desk, numbers)
            self._guest.deliver(frames)
            self._desk.start_next()
        except Exception as error:  # noqa: BLE001 - the border to a timer, which would log it and let everyone wait
            self.fail_internally(error)

    def _answer(self, number: int, frame: str) -> None:
        self._post.put(number, frame, more=self._desk.under_way)

    # ending

    def diverge(self, asked: str, recorded: str) -> None:
        """A replay went another way than the journal."""
        self._stop_guest()
        elsewhere = self._durability is not None and self._durability.begun_elsewhere
        self._end(Reply("failed", error=ending.of_divergence(asked, recorded, begun_elsewhere=elsewhere)))

    def fail_internally(self, error: Exception) -> None:
        """A bug of ours, or a journal that cannot be written: nothing can go on."""
        self._stop_guest()
        self._end(Reply("failed", error=internal_error(error, execution_id=self.execution_id)))

    def _stop_guest(self) -> None:
        if self._guest is not None:
            self._guest.stop(Stop.CANCELLED)

    def _refuse(self, why: str) -> None:
        """The guest lied: it is stopped, and nothing it said after counts."""
        if self._guest is not None:
            self._guest.break_off(why)

    def _force(self, why: Diagnostic | str) -> None:
        """End the run from outside: `cancelled`, `wall_exceeded`, `silent`, or a person's no."""
        if self._forced is None and not self._outcome.done() and self._task_of_end is None:
            self._forced = why
            if self._guest is not None:
                self._guest.stop(Stop.CANCELLED)
            else:
                self._end(self._forced_reply(None))

    def _end_by_frame(self, frame: protocol.Result | protocol.Failure) -> None:
        missing = "" if self._durability is None else self._durability.missing()
        if missing:
            self.diverge("no further call before its end", missing)
        elif isinstance(frame, protocol.Result):
            self._value_bytes = frame.size
            self._end(reply_of(frame, self._script, self._budgets, self._order.validate))
        else:
            error = ending.of_failure(frame, self._script, self._facts())
            self._end(Reply(ending.status_of(error), error=error))

    def _gone(self) -> Reply:
        departure = None if self._guest is None else self._guest.departure
        if departure is None:
            return self._forced_reply(None)
        if departure.error is not None:
            return Reply("failed", error=internal_error(departure.error, execution_id=self.execution_id))
        if self._forced is not None and departure.stop is Stop.CANCELLED:
            return self._forced_reply(departure.line)
        return Reply("failed", error=ending.of_departure(departure, self._script, self._facts()))

    def _forced_reply(self, line: int | None) -> Reply:
        waiting = self._desk.first_under_way()
        line = line or (waiting[1] if waiting else self._parked_at)
        error = ending.of_force(self._forced, self._script, self._budgets, waiting, line)
        return Reply(ending.status_of(error), error=error)

    def _facts(self) -> ending.Facts:
        ends = {said for each in self._desk.records() for said in (each.status, each.error and each.error.kind)}
        spent = self._guest.spent if self._guest is not None else ending.NOTHING_SPENT
        return ending.Facts(self._budgets, spent, "calls_exceeded" in ends, "internal" in ends, ending.ANSWERS & ends)

    def _end(self, reply: Reply) -> None:
        if self._task_of_end is None:
            self._task_of_end = self._loop.create_task(self._finish(reply))

    async def _pause(self, durability: Durability, guest: Guest) -> None:
        """Put the guest away and end with what is pending; or go on, where people have answered meanwhile."""
        self._stop_timers()
        try:
            outcome = await self._written(Reply("paused"))
            if await durability.pause(guest, outcome):
                final = await durability.ended_by_people(self._desk, self._script)
                if final is not None:
                    await self._finish(Reply("rejected", error=final))
                    return
                outcome = await durability.go_on()
            else:
                await self._desk.close(_CALLS_PATIENCE_S, resting=True)
        except Exception as error:  # noqa: BLE001 - everyone waits for an outcome, so there is one whatever happens
            self._task_of_end = None
            self.fail_internally(error)
            return
        self._tell(outcome)

    async def _finish(self, reply: Reply) -> None:
        """Cancel what is left, write the outcome, tell everybody. Once."""
        self._stop_timers()
        try:
            await self._desk.close(_CALLS_PATIENCE_S)
            outcome = await self._written(reply)
            if self._durability is not None:
                outcome = await self._durability.end(outcome)
        except Exception as error:  # noqa: BLE001 - everyone waits for an outcome, so there is one whatever happens
            diagnostic = internal_error(error, execution_id=self.execution_id)
            outcome = Outcome(execution_id=self.execution_id, status="failed", error=diagnostic, usage=self._usage())
        self._tell(outcome)
        await gradual.let_go(self._order.catalog.connectors.values(), self.execution_id, outcome.status)

    def _stop_timers(self) -> None:
        self._post.stop()
        for timer in self._timers:
            timer.cancel()

    def _tell(self, outcome: Outcome) -> None:
        self._events.append("outcome", status=outcome.status)
        self._events.close()
        self._outcome.set_result(outcome)

    async def _written(self, reply: Reply) -> Outcome:
        shown = await reply.shown(self._budgets, self._artifacts)
        await self._check.settled()
        return Outcome(
            execution_id=self.execution_id,
            status=reply.status,
            value=shown.value,
            value_type=reply.value_type,
            error=identified(self._check.hinted(reply.error), self._desk.records),
            warnings=self._check.added((*self._said.warnings, *self._desk.remarks(), *reply.warnings), reply.error),
            logs=self._said.logs,
            calls=self._desk.records(),
            pending=self._desk.pending() if reply.status == "paused" else (),
            artifacts=self._artifacts.in_call_order(),
            truncated=self._said.truncated or shown.truncated,
            usage=self._usage(),
        )

    def _usage(self) -> Usage:
        spent = self._guest.spent if self._guest is not None else ending.NOTHING_SPENT
        before, passes = (0.0, 1) if self._durability is None else (self._durability.wall_s, self._durability.passes)
        sizes = Sizes(script_size(self._order.script), self._input_bytes, self._value_bytes)
        passed = Passed(time.perf_counter() - self._begun + before, 0 if self._guest is None else passes)
        return usage_of(self._budgets, spent, self._desk.tally(), self._said, sizes, passed)
