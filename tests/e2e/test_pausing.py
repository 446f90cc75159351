"""A run that needs a person pauses, costs nothing while it waits, and goes on as if it had only waited."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING

import psutil
import pytest

from isolith import Budgets, CodeMode, connector, method
from isolith.calling import asking
from isolith.durable import durable_runs, tending
from isolith.durable.history import History, load_history
from isolith.errors import UsageError
from isolith.journal.errors import AlreadyDecided, DigestMismatch
from isolith_runtime.isolate import Isolate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from isolith.journal.journal import Journal

pytestmark = pytest.mark.anyio


class Ledger:
    """What was really done."""

    def __init__(self) -> None:
        self.done: list[tuple[str, object]] = []


def bank_of(ledger: Ledger) -> object:
    @connector("bank")
    class Bank:
        async def balance(self, account: str) -> int:
            """What is there."""
            ledger.done.append(("balance", account))
            return 100

        async def hold(self) -> None:
            """Give no answer."""
            await asyncio.Event().wait()

        @method(policy="ask")
        async def pay(self, to: str, amount: int) -> str:
            """Send money."""
            ledger.done.append(("pay", (to, amount)))
            return f"paid {amount} to {to}"

    return Bank


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
async def bank(ledger: Ledger) -> AsyncIterator[CodeMode]:
    async with CodeMode(connectors=[bank_of(ledger)]) as code_mode:
        yield code_mode


ASYNC = """
before = await bank.balance(account="a")
got = await bank.pay(to="b", amount=before // 2)
[before, got, await bank.balance(account="b")]
"""
SYNC = ASYNC.replace("await ", "")


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
async def test_it_pauses_and_goes_on(bank: CodeMode, ledger: Ledger, script: str) -> None:
    outcome = await bank.execute(script)
    assert outcome.error is None
    assert (outcome.status, outcome.exit_code) == ("paused", 4)
    [waiting] = outcome.pending
    assert (waiting.connector, waiting.method, waiting.arguments) == ("bank", "pay", {"to": "b", "amount": 50})
    assert ledger.done == [("balance", "a")]
    final = await bank.approve(outcome.execution_id, waiting.call_id, digest=waiting.digest)
    assert final.error is None
    assert (final.status, final.value) == ("completed", [100, "paid 50 to b", 100])
    assert ledger.done == [("balance", "a"), ("pay", ("b", 50)), ("balance", "b")]
    assert [call.status for call in final.calls] == ["completed"] * 3
    assert (final.usage.calls, final.usage.passes, final.execution_id) == (3, 2, outcome.execution_id)


async def test_what_was_cut_before_it_paused_stays_cut(bank: CodeMode) -> None:
    script = f"print('x' * 200)\nemit('y' * 200)\n{ASYNC}\nprint('after')\nemit('after')"
    paused = await bank.execute(script, budgets=Budgets(log_bytes=150))
    assert paused.truncated
    final = await bank.approve(paused.execution_id, paused.pending[0].call_id)
    assert (final.status, final.usage.passes, final.truncated) == ("completed", 2, True)
    assert final.logs == paused.logs


def begun() -> weakref.WeakSet[Isolate]:
    """The isolates in which something has run: those that wait to be used are nobody's."""
    gc.collect()
    return weakref.WeakSet(each for each in gc.get_objects() if type(each) is Isolate and hasattr(each, "limits"))


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
async def test_a_run_that_waits_has_no_isolate_and_no_process(bank: CodeMode, script: str) -> None:
    await bank.execute(script.replace("bank.pay", "bank.balance").replace('to="b", amount=before // 2', 'account="b"'))
    others = begun()
    processes = {each.pid for each in psutil.Process().children(recursive=True)}
    paused = [await bank.execute(script) for _ in range(5)]
    assert [outcome.status for outcome in paused] == ["paused"] * 5
    async with asyncio.timeout(120):
        while begun() - others:  # the last one is being taken down
            await asyncio.sleep(0.1)
    assert {each.pid for each in psutil.Process().children(recursive=True)} <= processes
    final = await bank.approve(paused[0].execution_id, paused[0].pending[0].call_id)
    assert final.status == "completed"


@pytest.mark.parametrize("script", [ASYNC, SYNC], ids=["async", "sync"])
async def test_a_rejection_is_raised_in_the_script(bank: CodeMode, ledger: Ledger, script: str) -> None:
    outcome = await bank.execute(script)
    final = await bank.reject(outcome.execution_id, outcome.pending[0].call_id, reason="too much")
    assert final.status == "rejected"
    assert final.error is not None
    assert (final.error.kind, final.error.line, final.error.tool) == ("rejected", 3, "bank.pay")
    assert "too much" in final.error.message
    assert ledger.done == [("balance", "a")]


async def test_a_rejection_can_be_caught(bank: CodeMode) -> None:
    script = "try:\n    await bank.pay(to='b', amount=1)\nexcept ToolError as error:\n    got = error.kind\ngot"
    outcome = await bank.execute(script)
    final = await bank.reject(outcome.execution_id, outcome.pending[0].call_id)
    assert (final.status, final.value) == ("completed", "rejected")
    assert [call.status for call in final.calls] == ["rejected"]


@pytest.mark.parametrize("wait", ["await ", ""], ids=["async", "sync"])
async def test_a_rejection_has_a_class_of_its_own(bank: CodeMode, wait: str) -> None:
    script = f"""
try:
    {wait}bank.pay(to='b', amount=1)
except Rejected as error:
    got = [type(error).__name__, isinstance(error, ToolError), error.kind, error.tool, str(error)]
got
"""
    outcome = await bank.execute(script)
    final = await bank.reject(outcome.execution_id, outcome.pending[0].call_id, reason="not him")
    assert final.value == ["Rejected", True, "rejected", "bank.pay", "a person rejected bank.pay: not him"]


async def test_edited_arguments_are_what_is_sent(bank: CodeMode, ledger: Ledger) -> None:
    outcome = await bank.execute(ASYNC)
    arguments: dict[str, object] = {"to": "c", "amount": 1}
    final = await bank.approve(outcome.execution_id, outcome.pending[0].call_id, arguments=arguments)
    assert final.value == [100, "paid 1 to c", 100]
    assert ("pay", ("c", 1)) in ledger.done


async def test_arguments_that_the_method_would_refuse_decide_nothing(bank: CodeMode, ledger: Ledger) -> None:
    paused = await bank.execute(ASYNC)
    [call] = paused.pending
    unfit: list[dict[str, object]] = [{"to": "b", "amount": "much"}, {"to": "b"}, {"to": "b", "amount": 1, "why": ""}]
    for wrong in unfit:
        with pytest.raises(UsageError, match=r"and waits on: bank\.pay"):
            await bank.approve(paused.execution_id, call.call_id, arguments=wrong)
    final = await bank.approve(paused.execution_id, call.call_id, arguments={"to": "b", "amount": 1})
    assert (final.status, ledger.done[1]) == ("completed", ("pay", ("b", 1)))


async def test_a_call_that_its_method_takes_no_more_is_not_approved_as_it_is(tmp_path: Path, ledger: Ledger) -> None:
    """The approval used to be spent, and the run to fail, because of a connector that was changed meanwhile."""

    @connector("bank")
    class Changed:
        async def balance(self, account: str) -> int:
            """What is there."""
            return len(account)

        @method(policy="ask")
        async def pay(self, to: str, cents: int) -> str:
            """Send money."""
            return f"paid {cents} cents to {to}"

    journal = tmp_path / "journal.db"
    async with CodeMode([bank_of(ledger)], journal=journal) as before:
        paused = await before.execute(ASYNC)
    [call] = paused.pending
    async with CodeMode([Changed], journal=journal) as now:
        for _ in range(2):
            with pytest.raises(UsageError, match=r"as it is any more, and waits on: bank\.pay .*`--arguments`"):
                await now.approve(paused.execution_id, call.call_id, digest=call.digest)
        final = await now.approve(paused.execution_id, call.call_id, arguments={"to": "b", "cents": 5000})
        assert (final.status, final.value) == ("completed", [100, "paid 5000 cents to b", 1])


@connector("other")
class Other:
    async def read(self) -> int:
        return 1


@pytest.mark.parametrize("script", ["bank.pay(to='a', amount=1)", "await bank.pay(to='a', amount=1)"])
async def test_a_process_without_the_connectors_of_a_run_neither_decides_nor_ends_it(
    tmp_path: Path, ledger: Ledger, script: str
) -> None:
    """The run ended with `diverged`, or for want of the tool, and the approval was spent."""
    journal = tmp_path / "journal.db"
    async with CodeMode([bank_of(ledger)], journal=journal, tend=False) as bank:
        paused = await bank.execute(script)
        [call] = paused.pending
        async with CodeMode([Other], journal=journal, tend=False) as elsewhere:
            missing = "the run needs `bank`, which this process has not connected"
            for decide in (elsewhere.approve, elsewhere.reject):
                with pytest.raises(UsageError, match=missing):
                    await decide(paused.execution_id, call.call_id)
            runs = await elsewhere.runs()
            assert [waiting.call_id for waiting in await runs.pending(paused.execution_id)] == [call.call_id]
            # Only to decide takes no connector; to go on does.
            decided = await runs.decide(paused.execution_id, call.call_id, "approve", go_on=False)
            assert decided.status == "paused"
            with pytest.raises(UsageError, match=missing):
                await runs.resume(paused.execution_id)
        assert (await (await bank.runs()).resume(paused.execution_id)).value == "paid 1 to a"
    assert ledger.done == [("pay", ("a", 1))]


async def test_independent_calls_go_on_and_all_that_wait_are_pending_together(bank: CodeMode, ledger: Ledger) -> None:
    script = """
import asyncio
async def careful(n):
    return await bank.pay(to=f"p{n}", amount=n)
async def loop():
    for n in range(3):
        await asyncio.sleep(0.01)
        await bank.balance(account=str(n))
    return "looped"
await asyncio.gather(careful(1), loop(), careful(2))
"""
    outcome = await bank.execute(script)
    assert [waiting.arguments["to"] for waiting in outcome.pending] == ["p1", "p2"]
    assert [name for name, _ in ledger.done] == ["balance"] * 3
    second, first = outcome.pending[1], outcome.pending[0]
    still = await bank.approve(outcome.execution_id, second.call_id)
    assert (still.status, [waiting.call_id for waiting in still.pending]) == ("paused", [first.call_id])
    assert len(ledger.done) == 3
    final = await bank.approve(outcome.execution_id, first.call_id)
    assert final.value == ["paid 1 to p1", "looped", "paid 2 to p2"]
    assert len(ledger.done) == 5


async def test_logs_artifacts_and_warnings_are_there_after_a_wake(bank: CodeMode) -> None:
    script = """
print("before")
kept = await artifact(b"abc", name="a")
await bank.pay(to="b", amount=1)
print("after")
await kept.read()
"""
    outcome = await bank.execute(script)
    final = await bank.approve(outcome.execution_id, outcome.pending[0].call_id)
    assert [(line.seq, line.message) for line in final.logs] == [(1, "before"), (2, "after")]
    assert final.value == b"abc"
    assert len(final.artifacts) == 1


async def test_invalid_arguments_are_refused_before_anybody_is_asked(bank: CodeMode) -> None:
    outcome = await bank.execute("x = {'to': 'b', 'amount': 'many'}\nawait bank.pay(**x)")
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind) == ("failed", "invalid_arguments")
    assert outcome.pending == ()


async def test_a_pause_in_a_pause(bank: CodeMode) -> None:
    script = "[await bank.pay(to=str(n), amount=n) for n in range(3)]"
    outcome = await bank.execute(script)
    for _ in range(3):
        assert outcome.status == "paused"
        outcome = await bank.approve(outcome.execution_id, outcome.pending[0].call_id)
    assert outcome.value == ["paid 0 to 0", "paid 1 to 1", "paid 2 to 2"]
    assert outcome.usage.passes == 4


async def test_each_pass_is_kept_with_its_end_and_what_it_cost(bank: CodeMode) -> None:
    paused = await bank.execute(ASYNC)
    await bank.approve(paused.execution_id, paused.pending[0].call_id)
    passes = await (await bank.runs()).journal.story.passes(paused.execution_id)
    assert [(each.how, each.ending) for each in passes] == [("start", "paused"), ("wake", "completed")]
    assert all(each.ended_at is not None and each.usage is not None for each in passes)


async def test_two_reviewers_in_any_order_while_it_runs_on(ledger: Ledger, tmp_path: Path) -> None:
    script = "import asyncio\nsorted(await asyncio.gather(*[bank.pay(to=str(n), amount=n) for n in range(5)]))"
    journal = tmp_path / "journal.db"
    async with CodeMode([bank_of(ledger)], journal=journal) as one, CodeMode([bank_of(ledger)], journal=journal) as two:
        paused = await one.execute(script)
        waiting = list(paused.pending)
        assert len(waiting) == 5
        outcomes = [
            await host.approve(paused.execution_id, call.call_id, digest=call.digest, who=f"reviewer {position % 2}")
            for position, (host, call) in enumerate(zip([one, two, one, two, one], waiting[::-1], strict=True))
        ]
        assert [outcome.status for outcome in outcomes] == ["paused"] * 4 + ["completed"]
        assert outcomes[-1].value == [f"paid {n} to {n}" for n in range(5)]
        assert len(ledger.done) == 5
        with pytest.raises(AlreadyDecided) as late:
            await two.reject(paused.execution_id, waiting[0].call_id)
        assert "approved" in str(late.value) or "approve" in str(late.value)


async def test_an_answer_about_other_arguments_is_refused(bank: CodeMode, ledger: Ledger) -> None:
    paused = await bank.execute(ASYNC)
    with pytest.raises(DigestMismatch):
        await bank.approve(paused.execution_id, paused.pending[0].call_id, digest="0" * 64)
    assert ledger.done == [("balance", "a")]


async def test_answers_that_come_while_the_script_still_works_are_taken_at_once(bank: CodeMode) -> None:
    script = """
import asyncio
async def busy():
    while not done:
        await asyncio.sleep(0.01)
done = []
work = asyncio.create_task(busy())
got = await bank.pay(to="b", amount=1)
done.append(1)
await work
got
"""
    execution = bank.start(script)
    async for event in execution.events():
        if event["event"] == "call_pending":
            break
    [waiting] = execution.pending()
    final = await bank.approve(execution.execution_id, waiting.call_id)
    assert (final.status, final.value, final.usage.passes) == ("completed", "paid 1 to b", 1)


async def test_nobody_s_answer_ends_the_run_by_itself(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "EXPIRY", timedelta(seconds=-1))
    monkeypatch.setattr(tending, "_TEND_S", 0.02)
    journal = tmp_path / "journal.db"
    async with CodeMode([bank_of(ledger)], journal=journal, tend=False) as code_mode:
        paused = await code_mode.execute(ASYNC)
        assert paused.status == "paused"
    async with CodeMode([bank_of(ledger)], journal=journal) as another:
        runs = await another.runs()
        async with asyncio.timeout(240):
            while (ended := await runs.outcome(paused.execution_id)).status == "paused":
                await asyncio.sleep(0.02)
        # One that goes on meanwhile, and so cannot pause.
        at_once = await another.execute("await asyncio.gather(bank.pay(to='b', amount=1), bank.hold())")
    for outcome in (ended, at_once):
        assert outcome.error is not None
        assert (outcome.status, outcome.error.kind, outcome.error.tool) == ("expired", "expired", "bank.pay")
    assert ledger.done == [("balance", "a")]


@pytest.mark.parametrize("image", [None, "0" * 64], ids=["this-image", "another-image"])
async def test_another_way_than_the_journal_s_is_told_with_both_sides(
    bank: CodeMode, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, image: str | None
) -> None:
    paused = await bank.execute(SYNC)

    async def changed(journal: Journal, execution_id: str) -> History:
        history = await load_history(journal, execution_id)
        script, begun_in = SYNC.replace('account="a"', 'account="z"'), image or history.order.image_digest
        return dataclasses.replace(
            history, order=dataclasses.replace(history.order, script=script, image_digest=begun_in)
        )

    monkeypatch.setattr(durable_runs, "load_history", changed)
    final = await bank.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.error is not None
    assert (final.status, final.error.kind) == ("failed", "diverged")
    assert final.error.message == (
        'run again, the script asked for bank.balance({"account":"z"}) (call 1, line 2), where the journal has '
        'bank.balance({"account":"a"}) (call 1) and bank.pay({"to":"b","amount":50}) (call 2)'
    )
    assert ("another version of the guest began it" in (final.error.hint or "")) == (image is not None)
    assert ledger.done == [("balance", "a")]


@pytest.mark.parametrize(
    ("instead", "asked"),
    [
        ('bank.pay(to="b", amount=1)', 'bank.pay({"to":"b","amount":1}) (call 2, line 4)'),
        ('bank.balance(account="z")', 'bank.balance({"account":"z"}) (call 2, line 4)'),
        ("1", "nothing"),
    ],
)
async def test_another_way_than_what_was_approved_is_told_and_nothing_is_called(
    bank: CodeMode, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, instead: str, asked: str
) -> None:
    """It used to be replayed without end: it asked again, could not pause, for a yes was there, and went on."""
    script = SYNC.replace('bank.balance(account="b")', "0")
    paused = await bank.execute(f"import time\n{script}")
    other = script.replace('bank.pay(to="b", amount=before // 2)', f"({instead}, time.sleep(0.001))")

    async def changed(journal: Journal, execution_id: str) -> History:
        history = await load_history(journal, execution_id)
        return dataclasses.replace(history, order=dataclasses.replace(history.order, script=f"import time\n{other}"))

    monkeypatch.setattr(durable_runs, "load_history", changed)
    async with asyncio.timeout(240):
        final = await bank.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.error is not None
    assert (final.status, final.error.kind, final.usage.passes) == ("failed", "diverged", 2)
    assert final.error.message == (
        f'run again, the script asked for {asked}, where the journal has bank.pay({{"to":"b","amount":50}}) (call 2)'
    )
    assert ledger.done == [("balance", "a")]
