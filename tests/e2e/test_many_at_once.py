"""Many executions in one process: each sees its own data, none waits for another, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import psutil
import pytest

from isolith import Budgets, CodeMode, connector
from isolith.run.supply import get_supply

pytestmark = pytest.mark.anyio

RUNS, CALLS = 200, 10
GATHERED = f"""
import random
mine = await asyncio.gather(*[keeper.mine(run=input["run"], number=n) for n in range({CALLS})])
[mine, input["run"], random.random()]
"""
ONE_BY_ONE = f"""
import random
mine = [keeper.mine(run=input["run"], number=n) for n in range({CALLS})]
[mine, input["run"], random.random()]
"""


@connector("keeper")
class Keeper:
    """Knows which execution asked for what."""

    async def mine(self, run: int, number: int) -> list[int]:
        """Gives back what it was asked, after others had their turn."""
        await asyncio.sleep(0.001)
        return [run, number]


async def idle() -> None:
    """Wait until the guest threads have ended, which they do when nothing was asked of them for two seconds."""
    deadline = time.monotonic() + 240
    while get_supply().threads.count and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert get_supply().threads.count == 0


def kinds_of_threads() -> set[str]:
    """Their names without numbers: Python's own executor may begin one more of a kind at any time."""
    return {thread.name.rstrip("0123456789") for thread in threading.enumerate()}


async def all_at_once(script: str) -> None:
    async with CodeMode([Keeper]) as code_mode:
        outcomes = await asyncio.gather(*[code_mode.execute(script, input={"run": run}) for run in range(RUNS)])
    seen: set[object] = set()
    for run, outcome in enumerate(outcomes):
        assert outcome.error is None
        assert isinstance(outcome.value, list)
        mine, same, number = outcome.value
        assert (mine, same) == ([[run, n] for n in range(CALLS)], run)
        assert all(call.call_id.startswith(outcome.execution_id) for call in outcome.calls)
        seen.add(number)
    assert len({outcome.execution_id for outcome in outcomes}) == len(seen) == RUNS


@pytest.mark.slow
async def test_two_hundred_with_ten_calls_each_see_their_own_and_leave_nothing() -> None:
    process = psutil.Process()
    await all_at_once(GATHERED)
    await idle()
    others = kinds_of_threads()
    gc.collect()
    before, descriptors = process.memory_info().rss, process.num_fds()
    await all_at_once(GATHERED)
    await all_at_once(ONE_BY_ONE)
    await idle()
    gc.collect()
    assert kinds_of_threads() - others <= {"isolith-ticker", "asyncio_"}
    assert process.num_fds() <= descriptors
    # An isolate is 30 MB: a tenth of one a hundred runs would show.
    assert process.memory_info().rss - before < 60 * 2**20


PATIENT = Budgets(wall_s=300, call_s=200, cpu_ms=60_000)


@connector("gate")
class Gate:
    """Blocks the thread it is called on."""

    def __init__(self) -> None:
        self.entered, self.opened, self.six = threading.Event(), threading.Event(), threading.Barrier(6, timeout=100)

    def wait(self) -> bool:
        """Until it is opened."""
        self.entered.set()
        return self.opened.wait(100)

    def meet(self) -> bool:
        """Until six are here at once."""
        return self.six.wait() < 6


async def test_a_blocking_function_blocks_no_other_execution(code_mode: CodeMode) -> None:
    gate = Gate()
    async with CodeMode([gate]) as gated:
        blocked = asyncio.create_task(gated.execute("gate.wait()", budgets=PATIENT))
        assert await asyncio.to_thread(gate.entered.wait, 100)
        others = await asyncio.gather(*[code_mode.execute("crm.get(id=1)") for _ in range(5)])
        assert [outcome.value for outcome in others] == [{"id": 1}] * 5
        assert not blocked.done()
        gate.opened.set()
        assert (await blocked).value is True


async def test_blocking_functions_run_side_by_side() -> None:
    async with CodeMode([Gate()]) as gated:
        outcome = await gated.execute("await asyncio.gather(*[gate.meet() for _ in range(6)])", budgets=PATIENT)
    assert outcome.value == [True] * 6


async def test_a_guest_that_computes_does_not_hold_up_the_loop(code_mode: CodeMode) -> None:
    busy = [code_mode.start("while True:\n    pass", budgets=PATIENT) for _ in range(2)]
    assert (await code_mode.execute("crm.get(id=1)")).value == {"id": 1}
    for execution in busy:
        execution.cancel()
    # Had they held up the loop, they would have ended by their budget before it came to cancel them.
    assert [(await execution.outcome()).status for execution in busy] == ["cancelled"] * 2


def test_each_event_loop_is_served() -> None:
    code_mode = CodeMode([Keeper])
    for run in range(3):
        assert code_mode.execute_sync("keeper.mine(run=input, number=1)", input=run).value == [run, 1]


def test_threads_with_loops_of_their_own_are_served() -> None:
    values: list[object] = []

    def work(run: int) -> None:
        values.append(CodeMode([Keeper]).execute_sync("keeper.mine(run=input, number=2)", input=run).value)

    threads = [threading.Thread(target=work, args=(run,)) for run in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, values)) == [f"[{run}, 2]" for run in range(8)]
