"""Every limit, really tripped once, so that an upgrade of the engine cannot quietly turn one into nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith_bindings.connector import CallContext  # noqa: TC001 - read when the connector is made
from isolith_bindings.functions import connector
from isolith_runtime import fuel
from isolith_runtime.image.builder import open_store
from isolith_runtime.image.doctor import Finding

if TYPE_CHECKING:
    from isolith.outcome import Kind, Outcome


@connector("probe")
class _Probe:
    """What the scripts below call."""

    def __init__(self) -> None:
        self._under_way = 0

    async def wait(self) -> None:
        """Never answer."""
        await asyncio.Event().wait()

    async def go_on(self, ctx: CallContext) -> None:
        """Never answer, and show progress all the time."""
        while True:
            ctx.progress(1)
            await asyncio.sleep(_STEP_S)

    async def answer(self) -> int:
        """Answer at once."""
        return 1

    async def take(self, text: str) -> int:
        """Answer with how much was given."""
        return len(text)

    async def much(self) -> str:
        """Answer with more than is taken."""
        return "x" * 5000

    async def together(self) -> int:
        """How many of these calls are under way."""
        self._under_way += 1
        most = self._under_way
        await asyncio.sleep(0)
        self._under_way -= 1
        return most


@dataclass(frozen=True)
class Trip:
    """A script that runs into one limit: it ends as `kind`; where there is none, it completes with `value`, or cut.

    `limit` is empty for the last one: after all the others, a script still runs.
    """

    limit: str
    script: str
    budgets: Budgets
    kind: Kind | None = None
    value: object = None
    given: object = None
    leaves: str = ""
    """A line that the script logs on its way out: it was interrupted, not only stopped."""

    def fired(self, outcome: Outcome) -> bool:
        """Whether the limit did what it is for."""
        if self.leaves and self.leaves not in {record.message for record in outcome.logs}:
            return False
        if outcome.usage.fuel != self.budgets.fuel:
            return False  # ended by something else before it
        if self.kind is not None:
            return outcome.error is not None and outcome.error.kind == self.kind
        if outcome.status != "completed":
            return False
        return outcome.truncated if self.value is None else outcome.value == self.value


_STEP_S = 0.005
"""Seconds between two reports of progress."""

_WALL_S = 10
"""Seconds after which a run that its own limit does not end is ended by another."""

_PATIENCE_S = 30
"""Seconds after which nothing can end it any more."""

_LOOP = "try:\n    while True: pass\nfinally:\n    print('interrupted')"
_MOST = "max(await asyncio.gather(*[probe.together() for _ in range(5)]))"

TRIPS = (
    Trip("cpu_ms, interrupt", _LOOP, Budgets(cpu_ms=20, wall_s=_WALL_S), "cpu_exceeded", leaves="interrupted"),
    Trip("cpu_ms, trap", "sum(range(10**12))", Budgets(cpu_ms=20, wall_s=_WALL_S), "cpu_exceeded"),
    Trip("fuel", "while True: pass", Budgets(fuel=20_000_000, wall_s=_WALL_S), "cpu_exceeded"),
    Trip("memory_mb", "[0] * 10**8", Budgets(memory_mb=64, wall_s=_WALL_S), "memory_exceeded"),
    Trip("wall_s", "import time\ntime.sleep(60)", Budgets(wall_s=0.05), "wall_exceeded"),
    Trip("call_s", "probe.wait()", Budgets(call_s=0.05, wall_s=_WALL_S), "tool_timeout"),
    Trip("call_cap_s", "probe.go_on()", Budgets(call_cap_s=0.05, wall_s=_WALL_S), "tool_timeout"),
    Trip("calls", "probe.answer()", Budgets(calls=0), "calls_exceeded"),
    Trip("calls_per_connector", "probe.answer()", Budgets(calls_per_connector=0), "calls_exceeded"),
    Trip("concurrent_calls", _MOST, Budgets(concurrent_calls=1), value=1),
    Trip("concurrent_calls_per_connector", _MOST, Budgets(concurrent_calls_per_connector=1), value=1),
    Trip("value_bytes", "'x' * 5000", Budgets(value_bytes=1000), "output_exceeded"),
    Trip("value_tokens", "list(range(5000))", Budgets(value_tokens=50)),
    Trip("argument_bytes", "probe.take(text='x' * 5000)", Budgets(argument_bytes=1000), "invalid_arguments"),
    Trip("result_bytes", "probe.much()['truncated']", Budgets(result_bytes=1000), value=True),
    Trip("script_bytes", "1" * 50, Budgets(script_bytes=10), "invalid_input"),
    Trip("input_bytes", "1", Budgets(input_bytes=10), "invalid_input", given="x" * 50),
    Trip("log_bytes", "print('x' * 5000)", Budgets(log_bytes=100)),
    Trip("emit_events", "emit(1)\nemit(2)", Budgets(emit_events=1)),
    Trip("recursion", "def f(): return f()\nf()", Budgets(), "recursion"),
    Trip("file system", "import os\nos.read(3, 1)", Budgets(), "exception"),
    Trip("", "1 + 1", Budgets(), value=2),
)


async def trip_limits() -> list[Finding]:
    """Trip each limit and say which did not fire. Takes about half a second where the image is there."""
    code_mode = await CodeMode(connectors=[_Probe]).__aenter__()
    findings: list[Finding] = []
    for trip in TRIPS:
        if trip.budgets.fuel is not None and not await asyncio.to_thread(_counting_guest):
            findings.append(await _trip_module(trip))
            continue
        execution = code_mode.start(trip.script, input=trip.given, budgets=trip.budgets)
        try:
            outcome = await asyncio.wait_for(execution.outcome(), _PATIENCE_S)
        except TimeoutError:  # whoever waited for its end, to close what it uses, would wait for ever
            return [*findings, _finding(trip, "did not fire: nothing ends the probe any more")]
        findings.append(_judge(trip, outcome))
    await code_mode.aclose()
    return findings


def _counting_guest() -> bool:
    """Whether the guest that counts fuel is compiled: no start waits ten seconds for that."""
    return open_store().info("fuel").image is not None


async def _trip_module(trip: Trip) -> Finding:
    if await asyncio.to_thread(fuel.stops_a_module):
        return _finding(trip, "fired, in a small module: the guest that counts is compiled for its first run", ok=True)
    return _finding(trip, "did not fire: a small module ran on past it")


_MEND = "Run no untrusted script with this: `pip install --force-reinstall isolith`, then `isolith image clear`."


def _judge(trip: Trip, outcome: Outcome) -> Finding:
    if trip.fired(outcome):
        return _finding(trip, _fired(trip), ok=True)
    kind = outcome.error.kind if outcome.error is not None else outcome.status
    if kind == trip.kind:
        return _finding(trip, f"did not fire: the probe ended as {kind}, but was not {trip.leaves}")
    expected = trip.kind or ("cut" if trip.value is None else f"{trip.value!r}")
    wrong = "did not fire: the probe" if trip.limit else "the next script"
    return _finding(trip, f"{wrong} ended as {kind}, not as {expected}")


def _fired(trip: Trip) -> str:
    if not trip.limit:
        return "the next script runs as if nothing had been"
    return "fired" if trip.budgets.fuel is None else "fired, in a script"


def _finding(trip: Trip, detail: str, *, ok: bool = False) -> Finding:
    return Finding(
        f"limit {trip.limit}" if trip.limit else "after every limit", ok=ok, detail=detail, mend="" if ok else _MEND
    )
