"""Runs one execution to its end over a journal, from wherever that is: runner.py URL EFFECTS [AT SIDE]

With AT and SIDE it is killed at its AT-th write, before or after the commit. What the tool really does is a line in the
file EFFECTS, on the disk before the tool answers.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tests.host.journal.crasher import Killer

from isolith import CodeMode, connector, durable_runs, ledger, method

if TYPE_CHECKING:
    from isolith import Outcome

SCRIPT = """
import asyncio, random
first = await tool.get(n=1)
second, third = await asyncio.gather(tool.get(n=2), tool.pay(n=3))
fourth = await tool.get(n=random.randrange(4, 5))
try:
    await tool.fail(n=5)
except ToolError as error:
    fifth = str(error)
[first, second, third, fourth, fifth]
"""
EXPECTED = ["got 1", "got 2", "paid 3", "got 4", "no 5"]
SHORT = timedelta(milliseconds=400)


def tool_of(effects: Path) -> object:
    def note(n: int) -> None:
        with effects.open("a") as file:
            file.write(f"{n}\n")
            file.flush()
            os.fsync(file.fileno())

    @connector("tool")
    class Tool:
        async def get(self, n: int) -> str:
            note(n)
            return f"got {n}"

        async def fail(self, n: int) -> str:
            note(n)
            raise ValueError(f"no {n}")

        @method(policy="ask")
        async def pay(self, n: int) -> str:
            note(n)
            return f"paid {n}"

    return Tool


async def drive(url: str, effects: Path, killer: Killer | None) -> Outcome:
    async with CodeMode(connectors=[tool_of(effects)], journal=url) as code_mode:
        runs = await code_mode.runs()
        found = await runs.journal.executions.find()
        if killer is not None:
            killer.arm()
        if not found:
            outcome = await code_mode.execute(SCRIPT)
        else:
            outcome = await runs.outcome(found[0].execution_id)
        while outcome.status in {"running", "paused"}:
            outcome = await step(code_mode, outcome)
        return outcome


async def step(code_mode: CodeMode, outcome: Outcome) -> Outcome:
    runs = await code_mode.runs()
    if outcome.status == "running":
        await asyncio.sleep(0.1)  # until the lease of whoever was killed is over
        recovered = await runs.recover()
        return recovered[0] if recovered else await runs.outcome(outcome.execution_id)  # somebody else did
    if not outcome.pending:
        return await runs.resume(outcome.execution_id)
    waiting = outcome.pending[0]
    return await code_mode.approve(outcome.execution_id, waiting.call_id, digest=waiting.digest)


if __name__ == "__main__":
    ledger.LEASE = durable_runs.LEASE = SHORT  # type: ignore[attr-defined]
    url, effects, *killed = sys.argv[1:]
    killer = Killer(int(killed[0]), killed[1]) if killed else None
    ended = asyncio.run(drive(url, Path(effects), killer))
    sys.stdout.write(ended.to_json_text() + "\n")
