"""Run by test_soak in a process of its own: many executions, a tenth of them hostile; prints what is left of them as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time

import psutil
from tests.security.desk import Desk
from tests.security.samples import quick

from isolith import CodeMode

WARM_UP = 60
PATIENCE_S = 20.0
HONEST = """
rows = [{"id": i, "name": f"name {i}"} for i in range(1000)]
back = desk.echo(value=rows)
print(len(back))
sum(row["id"] for row in back)
"""


def measure() -> dict[str, int]:
    gc.collect()
    process = psutil.Process()
    descriptors = process.num_fds() if hasattr(process, "num_fds") else 0
    return {"threads": process.num_threads(), "descriptors": descriptors, "resident": process.memory_info().rss}


async def main(count: int) -> dict[str, object]:
    desk = Desk()
    hostile = quick()
    wrong: list[str] = []

    async def run(number: int) -> None:
        desk.reached.clear()
        if number % 10:
            outcome = await code_mode.execute(HONEST)
            if outcome.value != 499_500:
                wrong.append(f"honest {number}: {outcome.to_json_text()[:500]}")
        else:
            script = hostile[number * 7 // 10 % len(hostile)]
            found = script.wrong(await code_mode.execute(script.text, budgets=script.budgets), desk.reached)
            wrong.extend(f"{script.name}: {words}" for words in found)

    async with CodeMode([desk]) as code_mode:
        for number in range(WARM_UP):
            await run(number)
        before = await settled(None)
        begun = time.perf_counter()
        for number in range(count):
            await run(number)
        took = time.perf_counter() - begun
        after = await settled(before)
    return {"count": count, "seconds": round(took, 1), "before": before, "after": after, "wrong": wrong[:20]}


async def settled(before: dict[str, int] | None) -> dict[str, int]:
    """What there is once idle threads have left: at most `PATIENCE_S` later."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = measure()
        enough = now["threads"] <= (before["threads"] if before else 4)
        if enough or time.monotonic() > deadline:
            return now
        await asyncio.sleep(0.2)


sys.stdout.write(json.dumps(asyncio.run(main(int(sys.argv[1])))) + "\n")
