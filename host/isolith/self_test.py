"""Every limit, really tripped once, so that an upgrade of the engine cannot quietly turn one into nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.budgets import Budgets
from isolith.code_mode import CodeMode
from isolith_bindings.functions import connector
from isolith_runtime.image.doctor import Finding

if TYPE_CHECKING:
    from isolith.outcome import Kind, Outcome


@connector("probe")
class _Probe:
    """What the scripts below call."""

    async def wait(self) -> None:
        """Never answer."""
        await asyncio.Event().wait()

    async def answer(self) -> int:
        """Answer at once."""
        return 1


@dataclass(frozen=True)
class Trip:
    """A script that has to end by one limit."""

    limit: str
    script: str
    budgets: Budgets
    kind: Kind


TRIPS = (
    Trip("cpu_ms, interrupt", "while True: pass", Budgets(cpu_ms=20), "cpu_exceeded"),
    Trip("cpu_ms, trap", "sum(range(10**12))", Budgets(cpu_ms=20), "cpu_exceeded"),
    Trip("memory_mb", "[0] * 10**8", Budgets(memory_mb=64), "memory_exceeded"),
    Trip("wall_s", "import time\ntime.sleep(60)", Budgets(wall_s=0.05), "wall_exceeded"),
    Trip("call_s", "probe.wait()", Budgets(call_s=0.05), "tool_timeout"),
    Trip("calls", "probe.answer()", Budgets(calls=0), "calls_exceeded"),
    Trip("value_bytes", "'x' * 5000", Budgets(value_bytes=1000), "output_exceeded"),
    Trip("argument_bytes", "search('x' * 5000)", Budgets(argument_bytes=1000), "invalid_arguments"),
    Trip("recursion", "def f(): return f()\nf()", Budgets(), "recursion"),
    Trip("no file system", "import os\nos.read(3, 1)", Budgets(), "exception"),
)


async def trip_limits() -> list[Finding]:
    """Trip each limit and say which did not fire. Takes about half a second where the image is there."""
    async with CodeMode(connectors=[_Probe]) as code_mode:
        findings = [_judge(trip, await code_mode.execute(trip.script, budgets=trip.budgets)) for trip in TRIPS]
        logs = await code_mode.execute("print('x' * 5000)", budgets=Budgets(log_bytes=100))
        after = await code_mode.execute("1 + 1")
    cut = logs.truncated and sum(len(line.message) for line in logs.logs) < 1000
    findings.append(
        Finding("limit log_bytes", ok=cut, detail="fired" if cut else "did not fire", mend="" if cut else _MEND)
    )
    fine = after.value == 2
    findings.append(Finding("the process afterwards", ok=fine, detail="runs 1 + 1", mend="" if fine else _MEND))
    return findings


_MEND = "Run no untrusted script with this: `pip install --force-reinstall isolith`, then `isolith image clear`."


def _judge(trip: Trip, outcome: Outcome) -> Finding:
    kind = outcome.error.kind if outcome.error is not None else outcome.status
    fired = kind == trip.kind
    detail = "fired" if fired else f"did not fire: the probe ended as {kind}, not as {trip.kind}"
    return Finding(f"limit {trip.limit}", ok=fired, detail=detail, mend="" if fired else _MEND)
