"""Isolith beside native CPython and pydantic-monty, in one run. Prints medians and ratios; decides nothing."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psutil

from isolith import CodeMode, connector
from isolith.run.supply import get_supply
from isolith_bindings.testing import RecordingConnector
from isolith_runtime.isolate import Isolate

# By name, because type checkers run without the extra `benchmark`.
AsyncMonty: Any = (
    importlib.import_module("pydantic_monty").AsyncMonty if importlib.util.find_spec("pydantic_monty") else None
)

CPU = {
    "fib(24)": "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(24)",
    "10^6 loop": "def f():\n    t = 0\n    for i in range(1_000_000):\n        t += i & 3\n    return t\nf()",
    "json round trip": (
        "import json\nd = [{'id': i, 'name': str(i), 'tags': ['a', 'b']} for i in range(20_000)]\n"
        "len(json.loads(json.dumps(d)))"
    ),
    "sort 10^5": "x = [(i * 7919) % 100_003 / 7 for i in range(100_000)]\nlen(sorted(x))",
    "regex 1 MB": "import re\nlen(re.findall(r'[a-z]+\\d', 'abc1 def ' * 110_000))",
}
CALLS = {
    "1 call": "await demo.get(i=1)",
    "10 calls": "for i in range(10):\n    x = await demo.get(i=i)\nx",
    "100 calls": "for i in range(100):\n    x = await demo.get(i=i)\nx",
    "100 parallel calls": "import asyncio\nlen(await asyncio.gather(*[demo.get(i=i) for i in range(100)]))",
}

MANY = (1_000, 10_000)
"""Tools that are connected and not used."""

Once = Callable[[], Awaitable[object]]


@connector("demo")
class Demo:
    """One function that answers at once."""

    async def get(self, i: int) -> int:
        """Give back what was given."""
        return i


async def beside_many(tools: int) -> float:
    """The median of `1 + 1`, in milliseconds, beside so many tools in one connector, none of which it uses."""
    named = {f"get_the_{position}th_thing": position for position in range(tools)}
    async with CodeMode(connectors=[RecordingConnector("many", named)]) as code_mode:
        return await median_ms(lambda: code_mode.execute("1 + 1"), 60)


async def get(i: int) -> int:
    """The same for the peer."""
    return i


async def median_ms(once: Once, runs: int) -> float:
    """The median of `runs`, after two that are not counted."""
    taken: list[float] = []
    for position in range(runs + 2):
        begun = time.perf_counter()
        await once()
        if position >= 2:
            taken.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(taken)


def row(name: str, ours: float, peer: float | None, peer_name: str) -> None:
    """One line of the table."""
    against = f"{peer:9.2f} {peer_name:7} {ours / peer:6.2f}x" if peer else f"{'-':>9} {peer_name:7}"
    print(f"{name:24} {ours:9.2f} isolith {against}")


def native(script: str) -> Once:
    """The script as this Python runs it, compiled anew each time as the isolate does."""

    async def once() -> None:
        exec(compile(script, "<native>", "exec"), {})  # noqa: S102 - our own constants above

    return once


class Peer:
    """pydantic-monty through one pool: a checked-out session for each script."""

    def __init__(self, pool: Any) -> None:  # noqa: ANN401 - optional, untyped here
        self._pool = pool

    def once(self, script: str) -> Once:
        """Run a script in a session of its own."""

        async def run() -> None:
            async with self._pool.checkout() as session:
                await session.feed_run(script.replace("demo.get", "get"), external_lookup={"get": get})

        return run


async def throughput(code_mode: CodeMode, at_once: int, total: int = 200) -> float:
    """Executions of `1 + 1` per second with so many under way."""
    begun = time.perf_counter()
    left = iter(range(total))

    async def worker() -> None:
        for _ in left:
            await code_mode.execute("1 + 1")

    await asyncio.gather(*[worker() for _ in range(at_once)])
    return total / (time.perf_counter() - begun)


def isolate_memory(count: int = 30) -> float:
    """MiB of private memory of one live, warm isolate."""
    engine = get_supply().engine
    process = psutil.Process()
    before = process.memory_full_info().uss
    isolates = [Isolate(engine) for _ in range(count)]
    used = (process.memory_full_info().uss - before) / count / 2**20
    for isolate in isolates:
        isolate.close()
    return used


async def compare(peer: Peer | None) -> None:
    """All of it."""
    async with CodeMode(connectors=[Demo]) as code_mode:

        def ours(script: str) -> Once:
            return lambda: code_mode.execute(script)

        async def theirs(script: str, runs: int) -> float | None:
            return None if peer is None else await median_ms(peer.once(script), runs)

        alone = await median_ms(ours("1 + 1"), 60)
        row("fresh isolate, 1 + 1", alone, await theirs("1 + 1", 60), "monty")
        for tools in MANY:
            row(f"beside {tools:,} tools", await beside_many(tools), alone, "1 tool")
        for name, script in CALLS.items():
            row(name, await median_ms(ours(script), 20), await theirs(script, 20), "monty")
        for name, script in CPU.items():
            taken = await median_ms(ours(script), 5)
            row(name, taken, await median_ms(native(script), 5), "native")
        for at_once in (1, 2, 8):
            print(f"executions/s, {at_once} at once {await throughput(code_mode, at_once):9.0f}")
    print(f"a live isolate           {isolate_memory():9.2f} MiB private")
    print(f"this process             {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:9.0f} MiB at most")


async def main() -> None:
    """With the peer where it is installed."""
    print(f"CPython {sys.version.split()[0]}; medians in ms")
    get_supply()
    if AsyncMonty is None:
        await compare(None)
        return
    async with AsyncMonty() as pool:
        await compare(Peer(pool))


if __name__ == "__main__":
    asyncio.run(main())
