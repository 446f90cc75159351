"""What it costs to put a run away: bytes, milliseconds to hibernate, to wake, and to replay the same run.

Then what the journal costs for each call of a run of 100, in SQLite, against the same run without one and against
replaying it. Prints medians and ratios; decides nothing.
"""

from __future__ import annotations

import asyncio
import functools
import statistics
import sys
import tempfile
import time
from pathlib import Path

from isolith import CodeMode, connector, method
from isolith.durable import durable_runs
from isolith.durable.history import load_history

RUNS = 9
SCRIPTS = {
    "small": "await bank.pay(amount=1)",
    "100 calls before": "for n in range(100):\n    await bank.balance()\nawait bank.pay(amount=1)",
    "10 MB of data": "rows = [{'n': n, 'name': str(n)} for n in range(50_000)]\nawait bank.pay(amount=1)\nlen(rows)",
    "work before": "t = 0\nfor n in range(1_000_000):\n    t += n & 3\nawait bank.pay(amount=1)\nt",
}


@connector("bank")
class Plain:
    """An account that nobody is asked about: without a journal nothing of its runs is kept."""

    async def balance(self) -> int:
        """What is there."""
        return 1


@connector("bank")
class Bank:
    """An account."""

    async def balance(self) -> int:
        """What is there."""
        return 1

    @method(policy="ask")
    async def pay(self, amount: int) -> int:
        """Send money."""
        return amount


async def measure(script: str, runs: int) -> tuple[float, float, int]:
    """Milliseconds to pause and to go on (medians), and bytes at rest."""
    paused_ms: list[float] = []
    going_on_ms: list[float] = []
    size = 0
    with tempfile.TemporaryDirectory() as folder:
        async with CodeMode([Bank], journal=Path(folder) / "journal.db", tend=False) as code_mode:
            journal = (await code_mode.runs()).journal
            for _ in range(runs):
                execution = code_mode.start(script)
                begun = time.perf_counter()
                async for event in execution.events():
                    if event["event"] == "call_pending":
                        begun = time.perf_counter()
                outcome = await execution.outcome()
                paused_ms.append((time.perf_counter() - begun) * 1e3)
                kept = await journal.hibernations.get(outcome.execution_id)
                size = len(kept.blob) if kept is not None else 0
                begun = time.perf_counter()
                final = await code_mode.approve(outcome.execution_id, outcome.pending[0].call_id)
                going_on_ms.append((time.perf_counter() - begun) * 1e3)
                assert final.status == "completed", final.error
    return statistics.median(paused_ms), statistics.median(going_on_ms), size


HUNDRED = "for n in range(100):\n    await bank.balance()\n"


async def per_call(kept: bool, runs: int) -> float:
    """Microseconds for each call of a run of 100, with a journal or without: median."""
    took: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.db" if kept else None
        async with CodeMode([Plain], journal=journal, tend=False) as code_mode:
            for _ in range(runs):
                begun = time.perf_counter()
                outcome = await code_mode.execute(HUNDRED)
                took.append((time.perf_counter() - begun) * 1e6 / 100)
                assert outcome.status == "completed", outcome.error
    return statistics.median(took)


async def replayed_call(runs: int) -> float:
    """Microseconds for each call of the same run when it is replayed: what going on takes more with 100 of them."""
    durable_runs.load_history = functools.partial(load_history, awake=True)  # type: ignore[attr-defined]
    _, many, _ = await measure(SCRIPTS["100 calls before"], runs)
    _, none, _ = await measure(SCRIPTS["small"], runs)
    durable_runs.load_history = load_history  # type: ignore[attr-defined]
    return (many - none) * 1e3 / 100


async def journal_against_replay() -> None:
    """Print what the journal costs a call."""
    plain, kept, replayed = await per_call(False, RUNS), await per_call(True, RUNS), await replayed_call(RUNS)
    cost = kept - plain
    sys.stdout.write(
        f"a call without a journal {plain:.0f} us, with one {kept:.0f} us: the journal costs {cost:.0f} us a call;"
        f" replaying it takes {replayed:.0f} us; journal / replay {cost / replayed:.2f}\n"
    )


async def main() -> None:
    """Print the table."""
    write = sys.stdout.write
    write(f"{'script':<20} {'at rest':>10} {'pause':>9} {'wake':>9} {'replay':>9} {'wake/replay':>12}\n")
    for name, script in SCRIPTS.items():
        paused, woken, size = await measure(script, RUNS)
        durable_runs.load_history = functools.partial(load_history, awake=True)  # type: ignore[attr-defined]
        _, replayed, _ = await measure(script, RUNS)
        durable_runs.load_history = load_history  # type: ignore[attr-defined]
        ratio = woken / replayed
        write(
            f"{name:<20} {size / 1e6:>7.2f} MB {paused:>6.1f} ms {woken:>6.1f} ms {replayed:>6.1f} ms {ratio:>12.2f}\n"
        )
    await journal_against_replay()


if __name__ == "__main__":
    asyncio.run(main())
