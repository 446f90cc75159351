"""Cancelled from outside: within 250 ms the guest is gone, its calls are cancelled, and the outcome says what was done."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, Outcome
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from tests.e2e.conftest import Crm

    from isolith import Execution

pytestmark = pytest.mark.anyio

WITHIN_S = 0.25
LONG_SCRIPT = "\n".join(f"def f{n}(a, b):\n    return [a + b * {n} for a in range(9) if a]" for n in range(3000))
"""Takes the compiler longer than the tests need to cancel it."""


async def first_event(execution: Execution, name: str) -> None:
    async for event in execution.events():
        if event["event"] == name:
            return


async def cancelled(execution: Execution) -> Outcome:
    begun = time.perf_counter()
    execution.cancel()
    outcome = await execution.outcome()
    assert time.perf_counter() - begun < WITHIN_S
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.exit_code) == ("cancelled", "cancelled", 1)
    assert outcome.error.message == "the run was cancelled from outside"
    return outcome


async def test_before_it_began(code_mode: CodeMode) -> None:
    outcome = await cancelled(code_mode.start("1"))
    assert outcome.value is None


async def test_during_compilation(code_mode: CodeMode) -> None:
    execution = code_mode.start(LONG_SCRIPT, budgets=Budgets(cpu_ms=60_000))
    await asyncio.sleep(0.1)
    await cancelled(execution)


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "sum(range(10**12))", "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
     "while True:\n    try:\n        while True: pass\n    except BaseException: pass"],
)  # fmt: skip
async def test_in_a_loop(code_mode: CodeMode, loop: str) -> None:
    execution = code_mode.start(f"print('go')\n{loop}", budgets=Budgets(cpu_ms=60_000))
    await first_event(execution, "log")
    outcome = await cancelled(execution)
    assert [record.message for record in outcome.logs] == ["go"]


@pytest.mark.parametrize("script", ["x = 1\ncrm.hang()", "x = 1\nawait crm.hang()"])
async def test_inside_a_tool(code_mode: CodeMode, crm: Crm, script: str) -> None:
    execution = code_mode.start(script)
    await crm.hanging.wait()
    outcome = await cancelled(execution)
    assert crm.cancelled == 1
    assert [(call.method, call.status, call.line) for call in outcome.calls] == [("hang", "cancelled", 2)]
    assert outcome.error is not None
    assert outcome.error.line == 2


async def test_between_two_gathered_tools(code_mode: CodeMode, crm: Crm) -> None:
    execution = code_mode.start("await asyncio.gather(crm.get(id=1), crm.hang(), crm.hang())")
    await crm.hanging.wait()
    await asyncio.sleep(0.02)
    outcome = await cancelled(execution)
    assert [call.status for call in outcome.calls] == ["completed", "cancelled", "cancelled"]
    assert crm.cancelled == 2


async def test_inside_a_blocking_tool_which_is_abandoned(code_mode: CodeMode) -> None:
    execution = code_mode.start("crm.block(seconds=0.6)")
    await first_event(execution, "call_started")
    outcome = await cancelled(execution)
    assert [call.status for call in outcome.calls] == ["cancelled"]


@pytest.mark.parametrize("sleep", ["await asyncio.sleep(60)", "import time; time.sleep(60)"])
async def test_in_a_sleep(code_mode: CodeMode, sleep: str) -> None:
    execution = code_mode.start(f"print('go')\n{sleep}")
    await first_event(execution, "log")
    await asyncio.sleep(0.02)
    await cancelled(execution)


async def test_while_the_value_is_encoded(code_mode: CodeMode) -> None:
    script = "x = [[n, {'n': n}] for n in range(150_000)]\nprint('go')\nx"
    execution = code_mode.start(script, budgets=Budgets(cpu_ms=60_000))
    await first_event(execution, "log")
    await asyncio.sleep(0.02)
    await cancelled(execution)


async def test_nothing_is_called_after_it(code_mode: CodeMode, crm: Crm) -> None:
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


async def test_a_cancelled_caller_of_execute_cancels_the_execution(code_mode: CodeMode, crm: Crm) -> None:
    task = asyncio.create_task(code_mode.execute("crm.hang()"))
    await crm.hanging.wait()
    begun = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (time.perf_counter() - begun < WITHIN_S, crm.cancelled) == (True, 1)


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
    deadline = time.monotonic() + 30
    while get_supply().threads.count and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert get_supply().threads.count == 0
