"""One execution, run to its end over a journal, from wherever that is; and a process that is killed on the way.

What the tool really does is a line in the file `effects`, on the disk before the tool answers.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.host.journal.crasher import Killer

from isolith import CodeMode, connector, method

if TYPE_CHECKING:
    from isolith import Outcome
    from isolith.journal import Journal

SCRIPT = """
import asyncio, random
first, second = await asyncio.gather(tool.get(n=1), tool.pay(n=random.randrange(2, 3)))
try:
    await tool.fail(n=3)
except ToolError as error:
    third = str(error)
[first, second, third]
"""
EXPECTED = ["got 1", "paid 2", "no 3"]


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


async def drive(journal: str | Journal, effects: Path, script: str, killer: Killer | None = None) -> Outcome:
    """Begin it, or go on with it; whoever is asked says yes."""
    async with CodeMode([tool_of(effects)], journal=journal, tend=False) as code_mode:
        runs = await code_mode.runs()
        found = [each for each in await runs.journal.executions.find() if each.principal == "driven"]
        if killer is not None:
            killer.arm()
        if not found:
            outcome = await code_mode.execute(script, principal="driven")
        else:
            outcome = await runs.outcome(min(each.execution_id for each in found))
        while outcome.status in {"running", "paused"} or await runs.pending():
            outcome = await step(code_mode, outcome)
        return outcome


async def step(code_mode: CodeMode, outcome: Outcome) -> Outcome:
    runs = await code_mode.runs()
    for waiting in await runs.pending():
        within, _, _ = waiting.call_id.rpartition(".")
        if within != outcome.execution_id:  # a snippet's run asks
            await code_mode.approve(within, waiting.call_id, digest=waiting.digest)
            return await runs.retry(outcome.execution_id)
    if outcome.status == "running":
        return await runs.take_over(outcome.execution_id)
    if not outcome.pending:
        return await runs.resume(outcome.execution_id)
    waiting = outcome.pending[0]
    return await code_mode.approve(outcome.execution_id, waiting.call_id, digest=waiting.digest)


def main(url: str, effects: str, script: str, at: str, side: str) -> None:
    """Run it, and be killed at its write number `at`, before or after the commit; unless it has fewer."""
    outcome = asyncio.run(drive(url, Path(effects), script, Killer(int(at), side)))
    assert outcome.status == "completed", outcome.error
