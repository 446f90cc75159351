"""A run that is tried again, or taken over, with calls beside the one that failed: under way, given up, not begun yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CallError, CodeMode
from isolith.durable.dry_replay import dry_replay
from isolith.durable.ledger import LEASE
from isolith.journal import Order
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith import Outcome
    from isolith.journal import Journal
    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio

ONE_AT_A_TIME = Budgets(concurrent_calls_per_connector=1)
GATHERED = """
async def one(n):
    await asyncio.sleep(0.001 * (n % 2))
    return await desk.get(n=n)
await asyncio.gather(*[one(n) for n in range(6)])
"""
COLLECTED = """
found = await asyncio.gather(*[desk.get(n=n) for n in range(6)], return_exceptions=True)
for error in [each for each in found if isinstance(each, ToolError)]:
    raise error
found
"""
HANDLED = """
try:
    await desk.get(n=2)
except ToolError:
    await desk.get(n=7)
await desk.get(n=8)
await desk.get(n=3)
"""


class Desk(RecordingConnector):
    """Fails for these numbers, the first time; hangs at one as long as its host is there."""

    def __init__(self, *fails: int, hangs: int | None = None) -> None:
        super().__init__("desk", {"get": None})
        self.fails, self.hangs = set(fails), hangs
        self.made: list[int] = []
        self.under_way = asyncio.Event()

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        number = arguments["n"]
        assert isinstance(number, int)
        if number == self.hangs:
            self.under_way.set()
            await asyncio.Event().wait()
        if number in self.fails:
            self.fails.remove(number)
            raise CallError("tool_error", f"not {number} yet")
        self.made.append(number)
        return number


async def retried(host: CodeMode, script: str, budgets: Budgets) -> tuple[Outcome, int]:
    """Until it ends otherwise than by a call, and how often it was tried again."""
    runs, times = await host.runs(), 0
    outcome = await host.execute(script, budgets=budgets)
    while outcome.status == "failed" and times < 9:
        assert outcome.error is not None
        assert outcome.error.kind == "tool_error", outcome.error
        outcome, times = await runs.retry(outcome.execution_id), times + 1
    return outcome, times


@pytest.mark.parametrize("budgets", [ONE_AT_A_TIME, Budgets()], ids=["one at a time", "together"])
@pytest.mark.parametrize("script", [GATHERED, COLLECTED], ids=["gathered", "collected"])
async def test_the_calls_beside_one_that_failed(journal: Journal, script: str, budgets: Budgets) -> None:
    """It used to fail for ever, or to diverge: by the failure before what succeeded, and by calls of no entry."""
    desk = Desk(0, 2, 3, 5)
    async with CodeMode([desk], journal=journal, tend=False) as host:
        outcome, times = await retried(host, script, budgets)
        assert (outcome.error, outcome.value) == (None, [*range(6)])
        assert 0 < times <= 4
        assert sorted(desk.made) == [*range(6)]  # nothing that succeeded was made again
        assert not (await journal.records.verify()).findings


async def test_a_failure_that_the_script_went_on_from_is_not_made_again(journal: Journal) -> None:
    desk = Desk(2, 3)
    async with CodeMode([desk], journal=journal, tend=False) as host:
        outcome, times = await retried(host, HANDLED, Budgets())
        assert (outcome.error, outcome.value, times) == (None, 3, 1)
        assert desk.made == [7, 8, 3]


async def test_calls_that_were_not_begun_when_their_host_stopped(journal: Journal, other: Journal) -> None:
    """The journal has none of them, and goes on while they are asked for again."""
    desk, after = Desk(hangs=3), Desk()
    async with CodeMode([desk], journal=journal, tend=False) as host:
        execution = host.start(GATHERED, budgets=ONE_AT_A_TIME)
        await desk.under_way.wait()
        await host.leave(0)
    async with CodeMode([after], journal=other, tend=False) as host:
        [outcome] = await (await host.runs()).recover()
        while outcome.status == "paused":
            outcome = await host.approve(outcome.execution_id, outcome.pending[0].call_id)
        assert outcome.execution_id == execution.execution_id
        assert (outcome.error, outcome.value) == (None, [*range(6)])
        assert sorted(desk.made + after.made) == [*range(6)]
        assert not (await other.records.verify()).findings


async def test_a_host_that_stopped_before_it_noted_anything(journal: Journal) -> None:
    """What is delivered afterwards is followed once more: by a retry, and by who looks at it."""
    order = Order(
        "left", "[await desk.get(n=n) for n in range(3)]", budgets=Budgets().model_dump_json(), seed=b"s" * 32
    )
    await journal.leases.release(await journal.executions.create(order, "host/0", LEASE))
    desk = Desk(2)
    async with CodeMode([desk], journal=journal, tend=False) as host:
        runs = await host.runs()
        failed = await runs.take_over("left")
        assert (failed.status, failed.error and failed.error.kind) == ("failed", "tool_error")
        outcome = await runs.retry("left")
        assert (outcome.error, outcome.value, desk.made) == (None, [0, 1, 2], [0, 1, 2])
        again = await dry_replay(runs, "left")
        assert (again.error, again.value) == (None, [0, 1, 2])
