"""Cancelled from outside: within 250 ms the guest is gone, its calls are cancelled, and the outcome says what was done.

The 250 ms are of the guest's own CPU, which no other program takes from it; `tests/benchmark/cancelling.py` prints the
time by the clock on the wall. That nothing is waited for is shown by what would otherwise never come.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import pytest
from tests.e2e.guest_cpu import WITHIN_MS, GuestCpu

from isolith import Budgets, CodeMode, Outcome, connector
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from tests.e2e.conftest import Crm

    from isolith import Execution

pytestmark = pytest.mark.anyio

PATIENCE_S = 240
"""Seconds after which nothing comes any more, however busy the machine is; what is waited for here takes an hour."""
LONG_SCRIPT = "\n".join(f"def f{n}(a, b):\n    return [a + b * {n} for a in range(9) if a]" for n in range(3000))
"""Takes the compiler a third of a second of its CPU here: longer than to notice that it has begun, on any machine."""
ENCODES_FOR_EVER = """
class Endless(list):
    def __iter__(self):
        while True: pass
x = [[n, {"n": n}] for n in range(150_000)]
print("go")
[x, Endless([1])]
"""


async def first_event(execution: Execution, name: str) -> None:
    async for event in execution.events():
        if event["event"] == name:
            return


Cancel = Callable[["Execution"], Awaitable[Outcome]]


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> GuestCpu:
    return GuestCpu().watch(monkeypatch.setattr)


@pytest.fixture
def cancelled(cpu: GuestCpu) -> Cancel:
    async def cancel(execution: Execution) -> Outcome:
        execution.cancel()
        outcome = await asyncio.wait_for(execution.outcome(), PATIENCE_S)
        assert [used for used in cpu.after_stop_ms().values() if used >= WITHIN_MS] == []
        assert outcome.error is not None
        assert (outcome.status, outcome.error.kind, outcome.exit_code) == ("cancelled", "cancelled", 1)
        assert outcome.error.message == "the run was cancelled from outside"
        return outcome

    return cancel


async def test_before_it_began(cancelled: Cancel, code_mode: CodeMode) -> None:
    outcome = await cancelled(code_mode.start("1"))
    assert outcome.value is None


async def test_during_compilation(cancelled: Cancel, cpu: GuestCpu, code_mode: CodeMode) -> None:
    execution = code_mode.start(LONG_SCRIPT, budgets=Budgets(cpu_ms=60_000))
    while not cpu.running:
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)
    await cancelled(execution)


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "sum(range(10**12))", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
     "while True:\n    try:\n        while True: pass\n    except BaseException: pass"],
)  # fmt: skip
async def test_in_a_loop(cancelled: Cancel, code_mode: CodeMode, loop: str) -> None:
    execution = code_mode.start(f"print('go')\n{loop}", budgets=Budgets(cpu_ms=60_000))
    await first_event(execution, "log")
    outcome = await cancelled(execution)
    assert [record.message for record in outcome.logs] == ["go"]


@pytest.mark.parametrize("script", ["x = 1\ncrm.hang()", "x = 1\nawait crm.hang()"])
async def test_inside_a_tool(cancelled: Cancel, code_mode: CodeMode, crm: Crm, script: str) -> None:
    execution = code_mode.start(script)
    await crm.hanging.wait()
    outcome = await cancelled(execution)
    assert crm.cancelled == 1
    assert [(call.method, call.status, call.line) for call in outcome.calls] == [("hang", "cancelled", 2)]
    assert outcome.error is not None
    assert outcome.error.line == 2


async def test_between_two_gathered_tools(cancelled: Cancel, code_mode: CodeMode, crm: Crm) -> None:
    execution = code_mode.start("await asyncio.gather(crm.get(id=1), crm.hang(), crm.hang())")
    await crm.hanging.wait()
    await asyncio.sleep(0.02)
    outcome = await cancelled(execution)
    assert [call.status for call in outcome.calls] == ["completed", "cancelled", "cancelled"]
    assert crm.cancelled == 2


async def test_inside_a_blocking_tool_which_is_abandoned(cancelled: Cancel) -> None:
    release = threading.Event()

    @connector("tool")
    class Tool:
        def block(self) -> None:
            release.wait(2 * PATIENCE_S)

    async with CodeMode([Tool]) as code_mode:
        execution = code_mode.start("tool.block()")
        await first_event(execution, "call_started")
        try:
            outcome = await cancelled(execution)
        finally:
            release.set()
    assert [call.status for call in outcome.calls] == ["cancelled"]


@pytest.mark.parametrize("sleep", ["await asyncio.sleep(3600)", "import time; time.sleep(3600)"])
async def test_in_a_sleep(cancelled: Cancel, code_mode: CodeMode, sleep: str) -> None:
    execution = code_mode.start(f"print('go')\n{sleep}", budgets=Budgets(wall_s=3600))
    await first_event(execution, "log")
    await asyncio.sleep(0.02)
    await cancelled(execution)


async def test_while_the_value_is_encoded(cancelled: Cancel, code_mode: CodeMode) -> None:
    execution = code_mode.start(ENCODES_FOR_EVER, budgets=Budgets(cpu_ms=60_000))
    await first_event(execution, "log")
    await asyncio.sleep(0.02)
    await cancelled(execution)


async def test_nothing_is_called_after_it(cancelled: Cancel, code_mode: CodeMode, crm: Crm) -> None:
    script = (
        "n = 0\nwhile True:\n    try:\n        n += 1\n        crm.get(id=n)\n    except BaseException:\n        pass"
    )
    execution = code_mode.start(script, budgets=Budgets(cpu_ms=60_000, calls=5000))
    while len(crm.reached) < 5:
        await asyncio.sleep(0.001)
    outcome = await cancelled(execution)
    reached = len(crm.reached)
    assert reached == sum(call.status in {"completed", "cancelled"} for call in outcome.calls)
    await asyncio.sleep(0.1)
    assert len(crm.reached) == reached


async def test_twice_and_after_the_end_it_does_nothing_more(code_mode: CodeMode) -> None:
    execution = code_mode.start("1 + 1")
    done = await execution.outcome()
    execution.cancel()
    execution.cancel()
    assert (await execution.outcome(), done.value) == (done, 2)


async def test_a_cancelled_caller_of_execute_cancels_the_execution(
    code_mode: CodeMode, crm: Crm, cpu: GuestCpu
) -> None:
    busy = "call = asyncio.create_task(crm.hang())\nawait asyncio.sleep(0)\nprint('asked')\nwhile True: pass"
    task = asyncio.create_task(code_mode.execute(busy, budgets=Budgets(cpu_ms=60_000, wall_s=3600)))
    await crm.hanging.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE_S)
    assert crm.cancelled == 1
    [used] = cpu.after_stop_ms().values()
    assert used < WITHIN_MS


async def test_whoever_stops_waiting_for_the_outcome_cancels_nothing(code_mode: CodeMode) -> None:
    execution = code_mode.start("crm.slow(steps=2, pause_s=0.05)")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(execution.outcome(), 0.01)
    assert (await execution.outcome()).value == 2


async def test_closing_the_code_mode_cancels_what_runs(crm: Crm) -> None:
    async with CodeMode([crm]) as code_mode:
        execution = code_mode.start("crm.hang()")
        await crm.hanging.wait()
    assert (await execution.outcome()).status == "cancelled"
    assert crm.cancelled == 1


async def test_the_pool_serves_the_next_run_and_no_thread_is_left(code_mode: CodeMode) -> None:
    executions = [code_mode.start("while True: pass") for _ in range(8)]
    await asyncio.sleep(0.05)
    for execution in executions:
        execution.cancel()
    assert {(await execution.outcome()).status for execution in executions} == {"cancelled"}
    assert (await code_mode.execute("1 + 1")).value == 2
    deadline = time.monotonic() + PATIENCE_S
    while get_supply().threads.count and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert get_supply().threads.count == 0
