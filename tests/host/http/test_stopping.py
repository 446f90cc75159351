"""Many hosts over one journal: what one begins another ends, and none is lost when a host goes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import httpx2
import pytest
from structlog.testing import capture_logs
from tests.host.http.conftest import Bank, app_of, journal_of

from isolith import CodeMode
from isolith.configuration.connect import connect_all
from isolith.durable import ledger
from isolith.journal.errors import WrongStatus

if TYPE_CHECKING:
    from pathlib import Path

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.anyio


@pytest.fixture
def url(tmp_path: Path, supply: Supply) -> str:
    return f"sqlite:///{tmp_path / 'journal.db'}"


async def test_what_does_not_end_in_time_is_left_to_the_next_host(url: str) -> None:
    first, second = Bank(), Bank()
    async with (
        CodeMode([first], journal=url, tend=False) as leaving,
        CodeMode([second], journal=url, tend=False) as next_,
    ):
        execution = leaving.start("await bank.balance(name='Ada')\nawait bank.wait()\nawait bank.balance(name='Eve')")
        await first.asked.wait()
        await leaving.leave(grace_s=0.01)
        assert (await execution.outcome()).status == "running"
        runs = await next_.runs()
        assert (await runs.outcome(execution.execution_id)).status == "running"
        [paused] = [one for one in await runs.recover() if one.execution_id == execution.execution_id]
        [asked] = paused.pending  # nobody knows whether it happened
        assert (asked.method, "nobody knows" in asked.reason) == ("wait", True)
        second.answer.set()
        done = await runs.decide(execution.execution_id, 2, "approve", who="grace")
        assert (done.status, done.value) == ("completed", 3)
        assert not (await (await journal_of(next_)).records.verify()).findings


async def test_a_call_that_ends_just_as_its_host_leaves_is_no_failure(url: str) -> None:
    bank = Bank()
    async with (
        CodeMode([bank], journal=url, tend=False) as leaving,
        CodeMode([Bank()], journal=url, tend=False) as next_,
    ):
        execution = leaving.start("await bank.wait()")
        await bank.asked.wait()
        assert execution.order.durable is not None
        with capture_logs() as logged:
            await execution.order.durable.ledger.leave()
            bank.answer.set()  # before the run is told
            left = await execution.outcome()
        assert (left.status, left.error, logged) == ("running", None, [])
        [paused] = await (await next_.runs()).recover()
        assert (paused.execution_id, len(paused.pending)) == (execution.execution_id, 1)


async def test_a_run_that_another_host_took_over_is_that_host_s(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "LEASE", timedelta(0))  # as if it had not been heard of for long
    bank, second = Bank(), Bank()
    second.answer.set()
    async with (
        CodeMode([bank], journal=url, tend=False) as slow,
        CodeMode([second], journal=url, tend=False) as next_,
    ):
        execution = slow.start("await bank.wait()")
        await bank.asked.wait()
        [paused] = await (await next_.runs()).recover()
        with capture_logs() as logged:
            bank.answer.set()
            outcome = await execution.outcome()
        assert (outcome.status, outcome.error, logged) == ("running", None, [])
        assert (paused.status, len(paused.pending)) == ("paused", 1)


async def test_what_ends_in_time_has_ended(url: str) -> None:
    bank = Bank()
    async with CodeMode([bank], journal=url, tend=False) as leaving:
        execution = leaving.start("await bank.wait()")
        await bank.asked.wait()
        bank.answer.set()
        await leaving.leave(grace_s=60)
        assert (await (await leaving.runs()).outcome(execution.execution_id)).value == "waited"


async def test_a_run_ends_where_it_runs_whoever_is_asked(url: str) -> None:
    bank = Bank()
    async with CodeMode([bank], journal=url) as works, CodeMode([Bank()], journal=url, tend=False) as other:
        execution = works.start("await bank.wait()")
        await bank.asked.wait()
        await (await journal_of(other)).cancellations.ask(execution.execution_id, "ada")
        with anyio.fail_after(240):
            assert (await execution.outcome()).status == "cancelled"
        assert (await (await other.runs()).outcome(execution.execution_id)).status == "cancelled"
        with pytest.raises(WrongStatus, match="cancelled: it has ended"):
            await (await journal_of(other)).cancellations.ask(execution.execution_id, "ada")  # too late
        bank.answer.set()
        again = await (await works.runs()).retry(execution.execution_id)
        assert (again.status, again.value) == ("completed", "waited")


async def test_a_server_that_hangs_keeps_nothing_waiting(url: str) -> None:
    hung = connect_all(["hung=sleep 1000"])
    with anyio.fail_after(240):
        async with CodeMode([*hung, Bank()], journal=url, warm=True) as code_mode:
            async with httpx2.AsyncClient(
                transport=httpx2.ASGITransport(app=app_of(code_mode)), base_url="http://127.0.0.1:8000"
            ) as http:
                assert (await http.get("/healthz")).json() == {"status": "ok"}
            done = await code_mode.execute("await bank.balance(name='Ada')")
            assert done.value == 3
