"""Run by test_soak in a process of its own: many executions, a tenth of them hostile; prints what is left of them as JSON."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import anyio.to_thread
import psutil
from tests.security.desk import SPARING, Desk
from tests.security.samples import quick

if TYPE_CHECKING:
    from tests.security.corpus import Hostile

from isolith import CodeMode

WARM_UP = 60
PATIENCE_S = 120.0
THREADS = 3
"""Of a process at rest: its own, one that waits for the loop's work, and the C library's for timers."""
HONEST = """
rows = [{"id": i, "name": f"name {i}"} for i in range(1000)]
back = desk.echo(value=rows)
print(len(back))
sum(row["id"] for row in back)
"""


class _Mallinfo(ctypes.Structure):
    """glibc's account of its heap."""

    _names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in _names]


def measure() -> dict[str, int]:
    """What the process holds; `private` is what no file holds as well, resident memory without the mappings of files."""
    gc.collect()
    process = psutil.Process()
    return {
        "threads": process.num_threads(),
        "descriptors": process.num_fds() if psutil.POSIX else 0,
        "mappings": len(process.memory_maps(grouped=False)) if psutil.LINUX else 0,
        "objects": sys.getallocatedblocks(),
        "heap": _heap_in_use(),
        "resident": process.memory_info().rss,
        "private": _private(),
    }


def _private() -> int:
    """Bytes of resident memory that belong to no file, where the system says so; else 0."""
    if not psutil.LINUX:
        return 0
    [line] = [
        line for line in Path("/proc/self/smaps_rollup").read_text().splitlines() if line.startswith("Anonymous:")
    ]
    return int(line.split()[1]) * 1024


def _heap_in_use() -> int:
    """Bytes of C's heap in use, where it says so; else 0."""
    account = getattr(ctypes.CDLL(None), "mallinfo2", None) if psutil.LINUX else None
    if account is None:
        return 0
    account.restype = _Mallinfo
    found = account()
    return int(found.uordblks + found.hblkhd)


async def main(count: int) -> dict[str, object]:
    desk = Desk()
    hostile = quick()
    wrong: list[str] = []

    async def attack(script: Hostile) -> None:
        desk.reached.clear()
        found = script.wrong(await code_mode.execute(script.text, budgets=script.budgets), desk.reached)
        wrong.extend(f"{script.name}: {words}" for words in found)

    async def attack_the_channel() -> None:
        for script in hostile:
            if script.name.startswith("forgery/"):  # these leave a guest in the oddest of states
                await attack(script)

    async def run(number: int) -> None:
        if number % 10:
            outcome = await code_mode.execute(HONEST)
            if outcome.value != 499_500:
                wrong.append(f"honest {number}: {outcome.to_json_text()[:500]}")
        else:
            await attack(hostile[number * 7 // 10 % len(hostile)])

    async with CodeMode([desk], check="off", policy=SPARING) as code_mode:
        for number in range(WARM_UP):
            await run(number)
        await code_mode.execute("'a word ' * 50_000")  # loads the vocabulary by which what is shown is counted
        before = await settled(None)
        begun = time.perf_counter()
        for number in range(count):
            await run(number)
            tell(number + 1, time.perf_counter() - begun)
        took = time.perf_counter() - begun
        after = await settled(before)
        await attack_the_channel()
        attacked = await settled(before)
    return {
        "count": count,
        "seconds": round(took, 1),
        "before": before,
        "after": after,
        "attacked": attacked,
        "wrong": wrong[:20],
    }


def tell(done: int, seconds: float) -> None:
    """Now and then, how far it is: a long run may be broken off."""
    if done % 500 == 0:
        sys.stderr.write(f"{done} in {seconds:.0f} s: {json.dumps(measure())}\n")


async def settled(before: dict[str, int] | None) -> dict[str, int]:
    """What there is once idle threads have left: at most `PATIENCE_S` later."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        now = measure()
        enough = now["threads"] <= (before["threads"] if before else THREADS)
        if enough or time.monotonic() > deadline:
            return now
        await anyio.to_thread.run_sync(int)  # idle threads of anyio's leave when it is next used
        await asyncio.sleep(0.2)


sys.stdout.write(json.dumps(asyncio.run(main(int(sys.argv[1])))) + "\n")
