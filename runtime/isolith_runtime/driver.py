"""A guest driven from an event loop: steps run on guest threads, frames arrive in the loop.

`on_batch(frames, state)` is called in the loop each time the guest has something to say: at the end of a step, when it
waits synchronously, and at once for what is to be streamed. One hop between threads each way a step.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import queue
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from isolith_runtime import protocol
from isolith_runtime.errors import ProtocolError
from isolith_runtime.isolate import End, Isolate
from isolith_runtime.limits import Limits, Stop

if TYPE_CHECKING:
    from isolith_runtime.engine import Engine
    from isolith_runtime.hibernation import Hibernation
    from isolith_runtime.inputs import Inputs
    from isolith_runtime.pool import IsolatePool
    from isolith_runtime.threads import GuestThreads


class State(Enum):
    """What the guest does while the loop looks at a batch."""

    RUNNING = "running"
    RESTING = "resting"
    WAITING = "waiting"
    GONE = "gone"

    @property
    def ready(self) -> bool:
        """Whether the guest takes frames now."""
        return self is State.RESTING or self is State.WAITING


@dataclass(frozen=True, slots=True)
class Spent:
    """What a guest used."""

    cpu_ns: int
    memory_bytes: int
    memory_refused: bool
    interrupted: bool
    fuel: int | None
    refused_line: int | None = None
    """The script's line at which it was last refused memory."""


NOTHING_SPENT = Spent(0, 0, memory_refused=False, interrupted=False, fuel=None)


@dataclass(frozen=True, slots=True)
class Departure:
    """How a guest went: the end of its last step, who stopped it, the line it was at, an error of ours if any."""

    end: End
    stop: Stop | None
    line: int | None
    broken: str
    error: BaseException | None


def _no_guests() -> weakref.WeakSet[Guest]:
    return weakref.WeakSet()


@dataclass
class Supply:
    """What guests are made of: an engine, its warm isolates, the threads they run on. Shared by many executions."""

    engine: Engine
    pool: IsolatePool
    threads: GuestThreads
    guests: weakref.WeakSet[Guest] = field(default_factory=_no_guests)

    def close(self) -> None:
        """Stop every guest, end the threads, drop the isolates.

        Has to be done before the interpreter ends: a thread that Python ends by itself while it runs wasm takes the
        whole process with it (SIGABRT).
        """
        for guest in list(self.guests):
            guest.stop(Stop.CANCELLED)
        self.threads.close()
        self.pool.close()
        self.engine.ticker.close()


PutAway = Callable[["Hibernation | BaseException"], None]
OnBatch = Callable[[list[protocol.Frame], State], None]


class Guest:
    """One script's isolate. Everything here is called in the event loop, except what says otherwise."""

    def __init__(
        self, supply: Supply, limits: Limits, inputs: Inputs, on_batch: OnBatch, asleep: Hibernation | None = None
    ) -> None:
        self._supply = supply
        self._asleep = asleep
        self._put_away: PutAway | None = None
        self._limits = limits
        self._inputs = inputs
        self._on_batch = on_batch
        self._loop = asyncio.get_running_loop()
        # What a frame leads to is done for whoever asked for this script: a trace goes on, where there is one.
        self._context = contextvars.copy_context()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._room = threading.Condition()
        self._in_flight = 0
        self._isolate: Isolate | None = None
        self._stopped: Stop | None = None
        self._frames: list[protocol.Frame] = []
        self._inbox: collections.deque[tuple[list[protocol.Frame], State]] = collections.deque()
        self._held = 0
        self._over = False
        self._resident = False
        self.state = State.RESTING
        self.departure: Departure | None = None
        supply.guests.add(self)
        self.spent = NOTHING_SPENT

    def deliver(self, frames: list[str]) -> None:
        """Give the guest its frames: wakes it where it waits, else runs a step."""
        data = protocol.batch(frames)
        if self.state is State.WAITING:
            self.state = State.RUNNING
            self._answers.put(data)
        elif self.state is State.RESTING:
            self.state = State.RUNNING
            with self._lock:  # with the putting inside, so that no thread leaves between the two
                resident, self._resident = self._resident, True
                if resident:
                    self._answers.put(data)
            if not resident:
                self._supply.threads.submit(lambda: self._run(data))

    def hibernate(self, put_away: PutAway) -> None:
        """Put a guest that rests away and let its isolate go; `put_away` is called in the loop with what is kept.

        Only while `RESTING`. No batch is reported after it.
        """
        self.state = State.RUNNING
        if self._asleep is not None:
            put_away(self._asleep)  # it was never woken: what was kept of it still is all there is
            return
        self._put_away = put_away
        with self._lock:
            resident, self._resident = self._resident, True
            if resident:
                self._answers.put(None)
        if not resident:
            self._supply.threads.submit(self._leave)

    def stop(self, why: Stop) -> None:
        """Stop the guest, whatever it does; `GONE` is reported within a tick. From any thread, more than once."""
        with self._lock:
            self._stopped = self._stopped or why
            resident = self._resident
            if self._isolate is not None:
                self._isolate.stop(why)
            self._answers.put(None)
        with self._room:
            self._room.notify_all()
        if self.state is State.RESTING and not resident:
            self.state = State.RUNNING
            self._supply.threads.submit(lambda: self._depart(End.STOPPED, None))

    def break_off(self, why: str) -> None:
        """Stop a guest that broke the rules; `departure.broken` will say why."""
        if self._isolate is not None:
            self._isolate.break_off(why)
        self.stop(Stop.BROKEN)

    # on a guest thread

    def _run(self, data: bytes | None) -> None:
        """Steps, one after another, as long as frames come soon; the thread is then given back."""
        while data is not None:
            end, error = self._step(data)
            if end is not End.RESTING or self._over:
                self._depart(end, error)
                return
            self._report(State.RESTING)
            data = self._linger()

    def _step(self, data: bytes) -> tuple[End, BaseException | None]:
        try:
            isolate = self._isolate or self._make()
            return isolate.step(data), None
        except BaseException as error:  # noqa: BLE001 - the border of a thread: it ends the run, not the process
            return End.DEAD, error

    def _linger(self) -> bytes | None:
        """Wait a moment for the next frames on this thread, whose caches know the guest; None to leave it."""
        try:
            data = self._answers.get(timeout=_LINGER_S)
        except queue.Empty:
            with self._lock:
                if self._answers.empty():
                    self._resident = False
                    return None
            data = self._answers.get()
        if data is None:
            self._leave()
        return data

    def _leave(self) -> None:
        """Go, stopped or put away."""
        if self._put_away is None or self._stopped is not None:
            self._depart(End.STOPPED, None)
            return
        try:
            assert self._isolate is not None  # noqa: S101
            kept: Hibernation | BaseException = self._isolate.hibernate(self._supply.pool.untouched())
        except BaseException as error:  # noqa: BLE001 - the border of a thread
            kept = error
        self._note_spent()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for it
            self._loop.call_soon_threadsafe(self._slept, self._put_away, kept, context=self._context)
        self._tidy()

    def _make(self) -> Isolate:
        isolate = self._supply.pool.take()
        isolate.begin(self._limits, self._inputs, self._receive, self._wait)
        if self._asleep is not None:
            isolate.wake(self._asleep)
            self._asleep = None
        with self._lock:
            self._isolate = isolate
            if self._stopped is not None:
                isolate.stop(self._stopped)
        return isolate

    def _receive(self, data: bytes) -> None:
        assert self._isolate is not None  # noqa: S101
        try:
            frames = protocol.parse(data)
        except ProtocolError as error:
            self._isolate.break_off(str(error))
            return
        for frame in frames:
            if self._over:
                return  # nothing counts after the end
            self._frames.append(frame)
            if isinstance(frame, (protocol.Result, protocol.Failure)):
                self._over = True
                self._isolate.let_end()
        self._held += len(data)
        if self._over:
            return
        if (
            self._held > _HOLD_BYTES
            or len(self._frames) >= protocol.MAX_FRAMES
            or any(isinstance(frame, _STREAMED) for frame in frames)
        ):
            self._say_and_wait()

    def _say_and_wait(self) -> None:
        """Report what was said, and keep a guest that talks faster than the loop listens: waiting costs it nothing."""
        with self._room:
            self._in_flight += self._held  # before it is on its way, so that who has heard it all finds it counted
        self._report(State.RUNNING)
        with self._room:
            while self._in_flight > _HOLD_BYTES and self._stopped is None and not self._loop.is_closed():
                self._room.wait(_LOOK_S)

    def _wait(self) -> bytes | None:
        if self._over:
            return None  # nobody would answer
        self._report(State.WAITING)
        while True:
            try:
                return self._answers.get(timeout=_LOOK_S)
            except queue.Empty:
                if self._loop.is_closed():
                    return None

    def _report(self, state: State) -> None:
        frames, self._frames, self._held = self._frames, [], 0
        self._note_spent()
        self._call_loop(frames, state)

    def _depart(self, end: End, error: BaseException | None) -> None:
        isolate = self._isolate
        frames, self._frames = self._frames, []
        self._note_spent()
        if isolate is None:
            self.departure = Departure(end, self._stopped, None, "", error)
        else:
            line = None if self._over else isolate.current_line()
            why = isolate.meter.stop
            self.departure = Departure(end, why, line, isolate.broken, error or isolate.host_error)
        self._call_loop(frames, State.GONE)
        self._tidy()

    def _tidy(self) -> None:
        """Give the isolate back, whatever becomes of the loop and of who may still hold this guest.

        A moment later: to unmap one isolate and map the next would hold up who waits for this one's outcome.
        """
        time.sleep(_TIDY_S)
        if self._isolate is not None:
            self._isolate.close()
        self._supply.pool.replenish()

    def _note_spent(self) -> None:
        isolate = self._isolate
        if isolate is not None:
            meter = isolate.meter
            self.spent = Spent(
                meter.used_ns,
                isolate.memory.size,
                isolate.memory_refused,
                meter.interrupted,
                isolate.fuel_left,
                isolate.refused_line,
            )

    def _call_loop(self, frames: list[protocol.Frame], state: State) -> None:
        try:
            self._loop.call_soon_threadsafe(self._arrive, frames, state, context=self._context)
        except RuntimeError:  # the loop is closed: nobody waits for this run any more
            if state is not State.GONE and self._isolate is not None:
                self._isolate.stop(Stop.CANCELLED)

    # in the loop

    def _slept(self, put_away: PutAway, kept: Hibernation | BaseException) -> None:
        self.state = State.GONE
        put_away(kept)

    def _arrive(self, frames: list[protocol.Frame], state: State) -> None:
        busy = bool(self._inbox)
        self._inbox += _portions(frames, state)
        if not busy:
            self._take()

    def _take(self) -> None:
        """One portion in each turn of the loop, so that a flood holds up nobody else."""
        frames, state = self._inbox[0]
        self.state = state
        try:
            self._on_batch(frames, state)
        finally:
            self._inbox.popleft()
            if self._inbox:
                self._loop.call_soon(self._take)
            else:
                self._listened()

    def _listened(self) -> None:
        if self._in_flight:
            with self._room:
                self._in_flight = 0
                self._room.notify_all()


def _portions(frames: list[protocol.Frame], state: State) -> list[tuple[list[protocol.Frame], State]]:
    """What is taken at a time. With the end of a script goes all that was said with it: its calls are not made."""
    if len(frames) <= _PORTION or isinstance(frames[-1], (protocol.Result, protocol.Failure)):
        return [(frames, state)]
    starts = range(0, len(frames), _PORTION)
    return [
        (frames[start : start + _PORTION], State.RUNNING if start + _PORTION < len(frames) else state)
        for start in starts
    ]


_PORTION = 100
"""Frames: a few milliseconds of the loop's time."""

_LINGER_S = 0.02
"""Seconds a thread stays with a guest that rests: most calls answer sooner, and a thread kept is a hop saved."""

_TIDY_S = 0.002
"""Seconds after a guest is gone that its isolate is given back and another made ready."""

_LOOK_S = 1.0
"""Seconds after which a guest that is kept, or waits, looks whether anybody will listen any more."""

_HOLD_BYTES = 1 << 20
"""What a guest that never rests may say before it is passed on: the host keeps no more of it than it has to."""

_STREAMED = (protocol.Log, protocol.Emit, protocol.Progress)
