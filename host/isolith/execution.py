"""One script from begin to end: drives its guest, routes its calls, keeps its budgets, writes its outcome.

Lives in one event loop. The guest runs on threads of its own; what it sends arrives here as frames, already checked.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith import ending
from isolith.artifacts import ArtifactStore
from isolith.calls import CallDesk, Identity
from isolith.checking import Checking, CheckMode
from isolith.events import Event, EventLog
from isolith.given import Unfit, refuse_unfit
from isolith.host_services import HostServices
from isolith.internal import internal_error
from isolith.logs import LogKeeper
from isolith.normalize import Prepared, Refused, prepare
from isolith.outcome import Diagnostic, Outcome, Usage
from isolith.reply import Reply, reply_of
from isolith_runtime import protocol
from isolith_runtime.driver import Guest, State, Supply
from isolith_runtime.inputs import Inputs, Recording
from isolith_runtime.limits import Limits, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from isolith.budgets import Budgets
    from isolith_bindings.catalog import Catalog

_CALLS_PATIENCE_S = 0.2
"""Seconds that calls get to end after their cancellation, before the outcome is written without them."""

_BATCH_SLACK = 4 * 1024 * 1024


@dataclass(frozen=True)
class Order:
    """What was asked for: one script with all that goes with it."""

    script: str | bytes
    input: object
    budgets: Budgets
    warnings: tuple[Diagnostic, ...]
    catalog: Catalog
    supply: Callable[[], Awaitable[Supply]]
    principal: str | None = None
    session: str | None = None
    validate: Callable[[object], object] | None = None
    replay: Recording | None = None
    check: CheckMode = "strict"


class Execution:
    """A script under way. Made by `CodeMode.start`, in a running event loop."""

    def __init__(self, order: Order) -> None:
        self.execution_id = uuid.uuid4().hex
        self._order = order
        self._budgets = order.budgets
        self._events = EventLog(self.execution_id)
        self._artifacts = ArtifactStore()
        self._inputs = Inputs() if order.replay is None else Inputs.replay(order.replay)
        self._loop = asyncio.get_running_loop()
        self._begun = time.perf_counter()
        self._desk = CallDesk(
            Identity(self.execution_id, order.principal, order.session),
            order.catalog,
            self._budgets,
            self._events,
            self._artifacts,
            HostServices(order.catalog, self._artifacts),
            self._answer,
            self._refuse,
        )
        self._check = Checking(order.check, order.catalog.connectors)
        self._guest: Guest | None = None
        self._script: Prepared = Prepared("", "", (), ())
        self._outbox: list[str] = []
        self._timers: list[asyncio.TimerHandle] = []
        self._wake: asyncio.TimerHandle | None = None
        self._flushing = False
        self._taking = False
        self._parked_at: int | None = None
        self._forced: Stop | str | None = None
        self._warnings: list[Diagnostic] = list(order.warnings)
        self._logs = LogKeeper(self._budgets.log_bytes)
        self._emits_left = self._budgets.emit_events
        self._output_bytes = 0
        self._truncated = False
        self._outcome: asyncio.Future[Outcome] = self._loop.create_future()
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

    def when_done(self, callback: Callable[[], object]) -> None:
        """Call back in the loop when the outcome is there."""
        self._outcome.add_done_callback(lambda _: callback())

    def recording(self) -> Recording:
        """The clock readings and the seed it was given: what a replay needs to see the same."""
        return self._inputs.recording()

    # beginning

    async def _begin(self) -> None:
        try:
            prepared = prepare(self._order.script, self._budgets.script_bytes)
            if isinstance(prepared, Refused):
                self._end(Reply("failed", error=prepared.diagnostic))
                return
            self._script = prepared
            self._warnings += prepared.warnings
            start = self._start_frame()
            judged = await self._check.judged(prepared)
            if isinstance(judged, Refused):
                self._end(Reply("failed", error=judged.diagnostic))
                return
            supply = await self._order.supply()
            if self._task_of_end is not None:
                return  # cancelled meanwhile: the image may have taken its time
            self._timers.append(self._loop.call_later(self._budgets.wall_s, self._force, "wall_exceeded"))
            self._guest = Guest(supply, self._limits(), self._inputs, self._on_batch)
            self._guest.deliver([start])
        except Unfit as unfit:
            self._end(Reply("failed", error=unfit.diagnostic))
        except Exception as error:  # noqa: BLE001 - the border of the execution: its outcome says it
            self._end(Reply("failed", error=internal_error(error, execution_id=self.execution_id)))

    def _limits(self) -> Limits:
        budgets = self._budgets
        return Limits(budgets.cpu_ms, budgets.memory_bytes, budgets.value_bytes + _BATCH_SLACK, budgets.fuel)

    def _start_frame(self) -> str:
        """The first frame. Raises Unfit for an input that cannot cross."""
        budgets = self._budgets
        refuse_unfit(self._order.input, budgets.input_bytes)
        return protocol.start(
            {
                "source": self._script.text,
                "input": self._order.input,
                "connectors": self._order.catalog.granted(),
                "snippets": [],
                "limits": {name: value for name, value in budgets.model_dump().items() if value is not None},
                "seed": self._inputs.random_seed,
                "log_bytes": budgets.log_bytes,
                "emit_events": budgets.emit_events,
                "value_bytes": budgets.value_bytes,
            }
        )

    # while it runs

    def _on_batch(self, frames: list[protocol.Frame], state: State) -> None:
        if self._outcome.done() or self._task_of_end is not None:
            return
        try:
            self._take_batch(frames, state)
        except Exception as error:  # noqa: BLE001 - the border to the loop, which would log it and let everyone wait
            self._end(Reply("failed", error=internal_error(error, execution_id=self.execution_id)))
            if self._guest is not None:
                self._guest.stop(Stop.CANCELLED)

    def _take_batch(self, frames: list[protocol.Frame], state: State) -> None:
        delay: float | None = None
        if frames and isinstance(frames[-1], (protocol.Result, protocol.Failure)):
            self._desk.hold()
        self._taking = True
        for frame in frames:
            if isinstance(frame, protocol.Parked):
                delay, self._parked_at = frame.delay, frame.line
            elif isinstance(frame, (protocol.Result, protocol.Failure)):
                self._end_by_frame(frame)
                return
            else:
                self._take(frame)
        self._taking = False
        if state is State.GONE:
            self._end(self._gone())
        elif state.ready:
            self._rest(delay)

    def _take(self, frame: protocol.Frame) -> None:
        if isinstance(frame, protocol.Call):
            self._desk.take(frame)
        elif isinstance(frame, protocol.Cancel):
            self._desk.give_up(frame.number)
        elif isinstance(frame, protocol.Log):
            self._log(frame)
        elif isinstance(frame, protocol.Emit):
            self._emit("emit", frame.size, value=frame.value)
        elif isinstance(frame, protocol.Progress):
            text = frame.text and frame.text[:_MAX_PROGRESS_TEXT]
            self._emit("progress", 0, done=frame.done, total=frame.total, text=text)
        elif isinstance(frame, protocol.Warn):
            self._warn(frame)

    def _rest(self, delay: float | None) -> None:
        """The guest waits: deliver what there is, or see to it that something will wake it."""
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if self._outbox:
            self._flush()
        elif delay is not None:
            self._wake = self._loop.call_later(delay, self._flush_timer)
        elif not self._desk.under_way:
            self._force("silent")

    def _answer(self, frame: str) -> None:
        self._outbox.append(frame)
        if self._taking:
            return  # what is refused at once crosses when the batch is done
        if self._desk.under_way:
            self._flush_soon()
        else:
            self._flush()  # nothing else can become ready in this turn of the loop

    def _flush_soon(self) -> None:
        """Deliver in the loop's next turn, so that answers that are ready together cross together."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush_timer(self) -> None:
        """A timer of the script is due."""
        self._wake = None
        guest = self._guest
        if guest is not None and guest.state.ready and self._forced is None:
            frames, self._outbox = self._outbox, []
            guest.deliver(frames)

    def _flush(self) -> None:
        self._flushing = False
        guest = self._guest
        if guest is None or not guest.state.ready or not self._outbox or self._forced is not None:
            return
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        frames, self._outbox = self._outbox, []
        guest.deliver(frames)

    def _log(self, frame: protocol.Log) -> None:
        record = self._logs.take(frame)
        if record is not None:
            self._events.append("log", level=record.level, message=record.message, attrs=record.attrs, line=frame.line)

    def _emit(self, name: str, size: int, **parts: object) -> None:
        self._emits_left -= 1
        self._output_bytes += size
        if self._emits_left < 0 or self._output_bytes > self._budgets.value_bytes:
            if not self._truncated:
                limit = self._budgets.emit_events
                self._events.append("truncated", message=f"more than {limit:,} events emitted: `emit_events`")
            self._truncated = True
            return
        self._events.append(name, **parts)

    def _warn(self, frame: protocol.Warn) -> None:
        if len(self._warnings) < _MAX_WARNINGS:
            line = self._script.source_line(frame.line) if frame.line else None
            self._warnings.append(
                Diagnostic(
                    kind=frame.kind,  # type: ignore[arg-type]
                    message=frame.message[:2000],
                    line=frame.line if line is not None else None,
                    source_line=line[:500] if line is not None else None,
                )
            )

    # ending

    _task_of_end: asyncio.Task[None] | None = None

    def _refuse(self, why: str) -> None:
        """The guest lied: it is stopped, and nothing it said after counts."""
        if self._guest is not None:
            self._guest.break_off(why)

    def _force(self, why: str) -> None:
        """End the run from outside: `cancelled`, `wall_exceeded`, or `silent`."""
        if self._forced is None and not self._outcome.done() and self._task_of_end is None:
            self._forced = why
            if self._guest is not None:
                self._guest.stop(Stop.CANCELLED)
            else:
                self._end(self._forced_reply(None))

    def _end_by_frame(self, frame: protocol.Result | protocol.Failure) -> None:
        if isinstance(frame, protocol.Result):
            self._output_bytes += frame.size
            self._end(reply_of(frame, self._script, self._budgets, self._order.validate))
        else:
            self._end(Reply("failed", error=ending.of_failure(frame, self._script, self._facts())))

    def _gone(self) -> Reply:
        guest = self._guest
        departure = guest.departure if guest is not None else None
        if departure is None:
            return self._forced_reply(None)
        if departure.error is not None:
            return Reply("failed", error=internal_error(departure.error, execution_id=self.execution_id))
        if self._forced is not None and departure.stop is Stop.CANCELLED:
            return self._forced_reply(departure.line)
        return Reply("failed", error=ending.of_departure(departure, self._script, self._facts()))

    def _forced_reply(self, line: int | None) -> Reply:
        waiting = self._desk.first_under_way()
        if self._forced == "wall_exceeded":
            line = line or (waiting[1] if waiting else self._parked_at)
            return Reply("failed", error=ending.of_wall(self._script, self._budgets, waiting, line))
        if self._forced == "silent":
            return Reply("failed", error=ending.of_silence(self._script))
        line = line or (waiting[1] if waiting else self._parked_at)
        return Reply("cancelled", error=ending.of_cancel(self._script, line))

    def _facts(self) -> ending.Facts:
        kinds = {record.error.kind for record in self._desk.records() if record.error is not None}
        spent = self._guest.spent if self._guest is not None else ending.NOTHING_SPENT
        return ending.Facts(self._budgets, spent, "calls_exceeded" in kinds, "internal" in kinds)

    def _end(self, reply: Reply) -> None:
        if self._task_of_end is None:
            self._task_of_end = self._loop.create_task(self._finish(reply))

    async def _finish(self, reply: Reply) -> None:
        """Cancel what is left, write the outcome, tell everybody. Once."""
        for timer in [*self._timers, *([self._wake] if self._wake else [])]:
            timer.cancel()
        await self._desk.close(_CALLS_PATIENCE_S)
        try:
            outcome = await self._written(reply)
        except Exception as error:  # noqa: BLE001 - everyone waits for an outcome, so there is one whatever happens
            diagnostic = internal_error(error, execution_id=self.execution_id)
            outcome = Outcome(execution_id=self.execution_id, status="failed", error=diagnostic, usage=self._usage())
        self._events.append("outcome", status=outcome.status)
        self._events.close()
        self._outcome.set_result(outcome)

    async def _written(self, reply: Reply) -> Outcome:
        shown = await reply.shown(self._budgets, self._artifacts)
        return Outcome(
            execution_id=self.execution_id,
            status=reply.status,
            value=shown.value,
            value_type=reply.value_type,
            error=reply.error,
            warnings=self._check.added((*self._warnings, *reply.warnings), reply.error),
            logs=tuple(self._logs.records),
            calls=self._desk.records(),
            artifacts=self._artifacts.records(),
            truncated=self._truncated or self._logs.truncated or shown.truncated,
            usage=self._usage(),
        )

    def _usage(self) -> Usage:
        spent = self._guest.spent if self._guest is not None else ending.NOTHING_SPENT
        return Usage(
            cpu_ms=round(spent.cpu_ns / 1e6, 3),
            wall_ms=round((time.perf_counter() - self._begun) * 1e3, 3),
            memory_bytes=spent.memory_bytes,
            calls=self._desk.admitted,
            output_bytes=self._output_bytes + self._logs.bytes,
            passes=1 if self._guest is not None else 0,
        )


_MAX_WARNINGS = 200
_MAX_PROGRESS_TEXT = 1000
