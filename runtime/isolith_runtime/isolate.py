"""One isolate: a fresh instance of the image, in which one script runs in steps.

    isolate = Isolate(engine)
    isolate.begin(limits, inputs, wait)
    isolate.step(batch)      # runs until the guest has nothing ready; what it wrote went to `receive`
    isolate.close()

Between steps nothing is on the wasm stack. A script that waits synchronously stays inside a step: then `wait` is called
on the guest's thread and blocks until there is something to deliver. All steps of an isolate run one after another, on
threads with `engine.THREAD_STACK` bytes of stack.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

import wasmtime

from isolith_runtime import capi, json_bounds, syscalls
from isolith_runtime.capi import TrapCode
from isolith_runtime.engine import ENTRY, MOST_TICKS, STATE, TICK_S, Engine
from isolith_runtime.errors import HibernationError
from isolith_runtime.hibernation import Hibernation, differing_pages, restore_pages
from isolith_runtime.limits import Limits, Meter, Stop
from isolith_runtime.traceback_reader import BRIEF, current_line

if TYPE_CHECKING:
    from isolith_runtime.inputs import Inputs

_NO_FUEL_LIMIT = 2**62
_TWO_TICKS_NS = round(2e9 * TICK_S)

Receive = Callable[[bytes], None]
Wait = Callable[[], bytes | None]


class End(Enum):
    """How a step left the isolate."""

    RESTING = "resting"
    STOPPED = "stopped"
    STACK = "stack"
    FUEL = "fuel"
    DEAD = "dead"


class Isolate:
    """A guest of its own. Not thread-safe, except `stop`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store: wasmtime.Store | None = wasmtime.Store(engine.engine)
        if engine.variant == "fuel":
            self._store.set_fuel(_NO_FUEL_LIMIT)
        self._store.set_epoch_deadline(1)
        exports = engine.ready.instantiate(self._store).exports(self._store)
        memory, entry = exports["memory"], exports[ENTRY]
        assert isinstance(memory, wasmtime.Memory)  # noqa: S101
        assert isinstance(entry, wasmtime.Func)  # noqa: S101
        self._state = [exports[name] for name in STATE]
        self.memory = capi.LinearMemory(self._store, memory)
        self.memory.make_private(engine.warm_pages)
        self._entry = capi.Function(self._store, entry)
        self._epoch = capi.EpochCallback(self._store, self._look)
        self._batch: bytes | None = None
        self.host_error: BaseException | None = None
        self.memory_refused = False
        self.refused_line: int | None = None
        self._fuel_at_end: int | None = None

    def begin(self, limits: Limits, inputs: Inputs, receive: Receive, wait: Wait) -> None:
        """Give the isolate its limits and its two ways out. Once, before the first step."""
        assert self._store is not None  # noqa: S101
        self.limits, self.inputs, self._receive, self._wait = limits, inputs, receive, wait
        self.meter = Meter(limits)
        self._store.set_limits(memory_size=limits.memory_bytes)
        if limits.fuel is not None:
            self._store.set_fuel(limits.fuel)

    def step(self, batch: bytes) -> End:
        """Deliver a batch and run until nothing is ready. After anything but `RESTING` only `close` is left."""
        if self.meter.stop is not None:
            return End.STOPPED
        self._batch = len(batch).to_bytes(4, "little") + batch
        syscalls.enter(self)
        self._engine.ticker.enter()
        self.meter.enter()
        try:
            answer = self._entry.call(self._engine.meta.step)
        finally:
            self.meter.leave()
            self._engine.ticker.leave()
            syscalls.leave()
        if self.meter.stop is not None:
            return End.STOPPED
        if isinstance(answer, TrapCode):
            return _ENDS.get(answer, End.DEAD)
        return End.RESTING if answer else End.DEAD

    def hibernate(self, fresh: Isolate) -> Hibernation:
        """What it takes to go on in another isolate; only between steps. `fresh`: one in which nothing has run."""
        pages, content = differing_pages(self.memory, fresh.memory)
        store, items = self._globals()
        return Hibernation(
            image=self._engine.meta.digest,
            size=self.memory.size,
            state=tuple(int(item.value(store)) for item in items),
            pages=pages,
            content=content,
            used_ns=self.meter.used_ns,
            recording=self.inputs.recording(),
            drawn=self.inputs.drawn,
        )

    def wake(self, hibernation: Hibernation) -> None:
        """Become the guest that was put away; once, after `begin`. Raises HibernationError."""
        if hibernation.image != self._engine.meta.digest:
            raise HibernationError("the guest was put away in another image")
        restore_pages(self.memory, hibernation)
        store, items = self._globals()
        for item, value in zip(items, hibernation.state, strict=True):
            item.set_value(store, value)
        self.meter.used_ns = hibernation.used_ns

    def _globals(self) -> tuple[wasmtime.Store, list[wasmtime.Global]]:
        assert self._store is not None  # noqa: S101
        return self._store, [item for item in self._state if isinstance(item, wasmtime.Global)]

    def stop(self, why: Stop) -> None:
        """Stop the guest; from any thread. The first reason stays."""
        if self.meter.stop is None:
            self.meter.stop = why
        self._engine.ticker.hurry()

    def let_end(self) -> None:
        """The script has ended, and what its guest still does is for nobody: a tick may stop it. Only inside a step."""
        self._fuel_at_end = self.fuel_left
        if self.meter.stop is None:
            self.meter.stop = Stop.CANCELLED

    def break_off(self, why: str) -> None:
        """The guest broke the rules of the channel: nothing it says counts any more."""
        self.host_error = None
        self.broken = why
        self.stop(Stop.BROKEN)

    broken = ""

    def close(self) -> None:
        """Give everything back. Idempotent; not during a step."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def current_line(self) -> int | None:
        """The script's line that was running, where the guest can still be read."""
        return current_line(self.memory.read, self._engine.meta.runtime)

    @property
    def fuel_left(self) -> int | None:
        """Wasm instructions left, or left when the script ended, where fuel is the budget."""
        if self._fuel_at_end is not None:
            return self._fuel_at_end
        return self._store.get_fuel() if self._store is not None and self.limits.fuel is not None else None

    # for syscalls.py, on the guest's thread

    def arriving(self, size: int) -> bytes | None:
        """The next bytes for the guest; waits where there are none. None when the run is over."""
        if self._batch is None:
            if self.meter.stop is not None:
                return None  # stopped, and asking again before the next tick: nobody would answer
            self.meter.leave()
            waited = self._wait()
            self.meter.enter()
            if waited is None:
                self.stop(Stop.CANCELLED)
                return None
            self._batch = len(waited).to_bytes(4, "little") + waited
        chunk, rest = self._batch[:size], self._batch[size:]
        self._batch = rest or None
        return chunk

    def departing(self, data: bytes) -> None:
        """A batch from the guest."""
        if self.meter.stop is None:
            if len(data) > json_bounds.LARGE and not self.meter.affords(json_bounds.cost_ns(data)):
                self.stop(Stop.CPU)  # before it is read: nothing can stop that half way
                return
            self._receive(data)
            if not self._look() and self.meter.past_hard_limit():  # what the host did for it is the guest's time
                self._engine.ticker.hurry()

    def refuse_memory(self) -> None:
        """Note that there was no more, and the script's line: a guest without memory may have none to say it with."""
        self.memory_refused = True
        line = current_line(self.memory.read, self._engine.meta.runtime, BRIEF)
        self.refused_line = line or self.refused_line

    def take_interrupt(self) -> bool:
        """Whether the soft limit asks for a KeyboardInterrupt now; asks once."""
        self._set_signal_flag(0)
        return self.meter.past_soft_limit()

    def _look(self) -> int:
        """Called while wasm runs: after how many ticks to look again; 0 when it may not go on."""
        meter = self.meter
        left_ns = meter.left_ns()
        if meter.stop is None and left_ns < 0:
            if meter.past_hard_limit():
                meter.stop = Stop.CPU
            elif not meter.interrupted:
                meter.interrupted = True
                self._set_signal_flag(1)
        if meter.stop is not None:
            return 0
        # Half of what is left, because a tick may come late.
        return max(1, min(MOST_TICKS, left_ns // _TWO_TICKS_NS))

    def _set_signal_flag(self, value: int) -> None:
        self.memory.write(self._engine.meta.signal_flag, value.to_bytes(4, "little"))


_ENDS = {TrapCode.STACK_OVERFLOW: End.STACK, TrapCode.OUT_OF_FUEL: End.FUEL, TrapCode.INTERRUPT: End.STOPPED}
