"""The threads under the journal: groups, order, and a database that fails."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING

import pytest
from tests.host.journal.support import LASTS, created, engine_of, started

from isolith.journal import Answer, Delivery, Journal, JournalUnavailable, Lease, NewCall
from isolith.journal.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from isolith.journal.transaction import Transaction

pytestmark = pytest.mark.anyio


async def test_a_group_is_one_commit(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed over while the writer is busy is written by one transaction."""
    lease = await created(journal)
    dialect, commits = journal.store.dialect, 0
    writing = dialect.writing

    def counted(*, hard: bool) -> contextlib.AbstractContextManager[Connection]:
        nonlocal commits
        commits += 1
        return writing(hard=hard)

    monkeypatch.setattr(dialect, "writing", counted)
    begun, handed_over = threading.Event(), threading.Event()

    def busy(_transaction: Transaction) -> bool:
        begun.set()
        return handed_over.wait(240)

    working = journal.store.write(busy)
    assert await asyncio.to_thread(begun.wait, 240)
    calls = [NewCall(number, "crm", "add", "{}", number) for number in range(100)]
    starting = [asyncio.create_task(journal.calls.start(lease, [call])) for call in calls]
    await asyncio.sleep(0)
    handed_over.set()
    assert await working
    await asyncio.gather(*starting)
    assert commits == 2
    assert [call.number for call in await journal.calls.of(lease.execution_id)] == list(range(100))


async def test_a_hard_commit_is_flushed_and_a_soft_one_is_not(journal: Journal, url: str) -> None:
    """Also after a failure, when the writer has another connection."""
    asked, hard, soft = ("PRAGMA synchronous", 2, 1) if "sqlite" in url else ("SHOW synchronous_commit", "on", "off")

    def look(transaction: Transaction) -> object:
        return transaction.connection.exec_driver_sql(asked).scalar_one()

    def fail(transaction: Transaction) -> None:
        transaction.connection.exec_driver_sql("SELECT * FROM nowhere")

    for _ in range(2):
        assert await journal.store.write(look, hard=True) == hard
        assert await journal.store.write(look) == soft
        both = await asyncio.gather(
            journal.store.write(look), *[journal.store.write(look, hard=True) for _ in range(9)]
        )
        assert both[-1] == hard
        for was_hard in (True, False):
            with pytest.raises(JournalUnavailable):
                await journal.store.write(fail, hard=was_hard)
            assert await journal.store.write(look, hard=was_hard) == (hard if was_hard else soft)


async def test_what_must_be_on_the_disk_is_handed_over_hard(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever reaches the world, a person or the caller; not what only the script is told."""
    flushed: list[bool] = []
    write = Store.write

    def noting(self: Store, work: Callable[[Transaction], object], *, hard: bool = False) -> asyncio.Future[object]:
        flushed.append(hard)
        return write(self, work, hard=hard)

    lease = await created(journal)
    monkeypatch.setattr(Store, "write", noting)

    async def hard(work: Awaitable[object]) -> bool:
        flushed.clear()
        await work
        return flushed == [True]

    id_, calls = lease.execution_id, journal.calls
    assert await hard(calls.start(lease, [NewCall(1, "crm", "add", "{}")]))
    assert not await hard(calls.start(lease, [NewCall(2, "crm", "list", "{}", repeatable=True)]))
    assert await hard(
        calls.start(lease, [NewCall(n, "crm", "x", f"{n}", repeatable=n == 3) for n in (3, 4)]),
    )
    assert not await hard(calls.end(lease, 1, "completed", outcome="1"))
    assert not await hard(journal.story.deliver(lease, Delivery(1, 1, (1,), None)))
    assert await hard(calls.ask(lease, NewCall(5, "crm", "delete", "{}"), reason=""))
    pending = await calls.get(id_, 5)
    assert await hard(journal.executions.move(lease, "paused"))
    assert await hard(journal.approvals.decide(Answer(id_, 5, pending.digest, "approve", "bob")))
    lease = await journal.leases.acquire(id_, "host/1", LASTS)
    assert await hard(journal.executions.move(lease, "running"))
    assert await hard(calls.begin(lease, 5))
    await calls.lose(lease)
    assert await hard(calls.repeat(lease, 5))
    assert await hard(calls.revert(lease, 1))
    assert await hard(journal.executions.move(lease, "completed", outcome="1"))


async def test_one_that_fails_after_it_wrote_takes_nobody_with_it(journal: Journal) -> None:
    lease = await created(journal)

    def bad(transaction: Transaction) -> None:
        transaction.touch(transaction.head(lease.execution_id))
        raise ZeroDivisionError

    async def write_badly() -> None:
        await journal.store.write(bad)

    results = await asyncio.gather(
        started(journal, lease, 1), write_badly(), started(journal, lease, 2), write_badly(), return_exceptions=True
    )
    assert [type(result).__name__ for result in results] == ["Call", "ZeroDivisionError", "Call", "ZeroDivisionError"]
    assert len(await journal.calls.of(lease.execution_id)) == 2
    assert not (await journal.records.verify()).findings


async def test_whoever_stops_waiting_stops_nobody(journal: Journal) -> None:
    lease = await created(journal)
    task = asyncio.create_task(started(journal, lease, 1))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await started(journal, lease, 2)
    assert [call.number for call in await journal.calls.of(lease.execution_id)] == [1, 2]


def test_from_several_loops(url: str) -> None:
    """`execute_sync` has a loop of its own."""
    journal = asyncio.run(Journal.open(url))

    async def work(number: int) -> None:
        lease = await created(journal)
        await asyncio.gather(*[started(journal, lease, number) for number in range(1, 4)])

    for number in range(3):
        asyncio.run(work(number))

    async def abandon() -> None:
        """Its loop is gone when the commit is there."""
        lease = await created(journal)
        journal.story.deliver(lease, Delivery(1, 1, (), None))

    asyncio.run(abandon())
    assert len(asyncio.run(journal.executions.find())) == 4
    asyncio.run(journal.close())
    gc.collect()


async def test_to_close_is_to_commit(url: str) -> None:
    journal = await Journal.open(url)
    lease = await created(journal)
    handed = [journal.story.deliver(lease, Delivery(number, 1, (), None)) for number in range(1, 50)]
    await journal.close()
    await asyncio.gather(*handed)
    async with await Journal.open(url) as again:
        assert len(await again.story.deliveries(lease.execution_id)) == 49


@pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)
async def test_a_full_disk(journal: Journal) -> None:
    """What does not fit is told and is not there; what fits later is written."""
    lease = await created(journal)

    def limit(transaction: Transaction) -> None:
        transaction.connection.exec_driver_sql("PRAGMA max_page_count=100").all()

    await journal.store.write(limit)
    with pytest.raises(JournalUnavailable, match="full"):
        await journal.artifacts.keep(lease, b"x" * 1_000_000, mime="")
    await journal.artifacts.keep(lease, b"x" * 1_000_000, mime="")  # the writer's new connection has no such limit
    assert len(await journal.artifacts.of(lease.execution_id)) == 1
    assert not (await journal.records.verify()).findings


@pytest.mark.parametrize("new_url", ["postgres"], indirect=True)
async def test_connections_that_are_cut(journal: Journal, url: str) -> None:
    """A server that was restarted between two writes costs nobody anything."""
    lease = await created(journal)
    for number in range(1, 4):
        with engine_of(url) as engine, engine.begin() as connection:
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'isolith'"
            connection.exec_driver_sql(cut)
        await started(journal, lease, number)
    assert len(await journal.calls.of(lease.execution_id)) == 3
    assert not (await journal.records.verify()).findings


async def test_a_commit_that_fails_is_told_to_all_and_run_by_nobody_again(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have counted: here it did, and only its answer was lost."""
    lease = await created(journal)
    store = journal.store
    writing, runs = store.dialect.writing, 0

    @contextlib.contextmanager
    def lossy(*, hard: bool) -> Generator[Connection]:
        with writing(hard=hard) as connection:
            yield connection
        raise store.dialect.failures[0]("the connection was lost")

    def work(transaction: Transaction) -> None:
        nonlocal runs
        runs += 1
        transaction.touch(transaction.head(lease.execution_id))

    for count in (1, 5):
        runs = 0
        monkeypatch.setattr(store.dialect, "writing", lossy)
        results = await asyncio.gather(*[store.write(work) for _ in range(count)], return_exceptions=True)
        monkeypatch.setattr(store.dialect, "writing", writing)
        assert {type(result) for result in results} == {JournalUnavailable}
        assert runs == count
    assert (await started(journal, lease)).status == "started"


@pytest.mark.parametrize("new_url", ["postgres"], indirect=True)
async def test_groups_that_lock_each_other(journal: Journal, other: Journal) -> None:
    """Two hosts that write of the same executions in opposite order: nobody waits for ever, nothing is lost."""
    leases = [await created(journal) for _ in range(8)]

    async def log(side: Journal, lease: Lease, number: int) -> None:
        await side.calls.start(lease, [NewCall(number, "crm", "add", "{}", number)])

    for round_ in range(10):
        attempts = [log(journal, lease, 2 * round_) for lease in leases]
        attempts += [log(other, lease, 2 * round_ + 1) for lease in reversed(leases)]
        await asyncio.gather(*attempts)
    for lease in leases:
        assert len(await journal.calls.of(lease.execution_id)) == 20
    assert not (await journal.records.verify()).findings


async def test_an_error_says_nothing_of_the_data(journal: Journal, url: str) -> None:
    lease = await created(journal)
    with engine_of(url) as engine, engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE calls")
    with pytest.raises(JournalUnavailable) as caught:
        await journal.calls.start(lease, [NewCall(1, "crm", "add", '"sk-canary"')])
    assert "calls" in str(caught.value)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    with pytest.raises(JournalUnavailable):
        await journal.calls.of(lease.execution_id)
