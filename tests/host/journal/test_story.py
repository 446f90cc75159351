"""Passes, deliveries, logs, artifacts and isolates at rest."""

from __future__ import annotations

import asyncio

import pytest
from tests.host.journal.support import Clock, created

from isolith.journal import (
    Caps,
    Delivery,
    DuplicateEntry,
    Journal,
    LeaseLost,
    LogLine,
    NewCall,
    Settings,
    TooLarge,
    UnknownEntry,
)

pytestmark = pytest.mark.anyio


async def test_passes_are_numbered_and_ended(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    first = await journal.story.begin_pass(lease, "start")
    clock.advance(seconds=3)
    await journal.story.end_pass(lease, first.number, "paused", '{"cpu_ms":4}')
    await journal.story.begin_pass(lease, "wake")
    done, open_ = await journal.story.passes(lease.execution_id)
    assert (done.number, done.how, done.ending, done.usage) == (1, "start", "paused", '{"cpu_ms":4}')
    assert done.ended_at == clock.now
    assert (open_.number, open_.how, open_.ended_at) == (2, "wake", None)


async def test_deliveries_keep_their_order(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    deliveries = [
        Delivery(1, 1, (3, 1), '{"readings":2}'),
        Delivery(2, 1, (), None),
        Delivery(3, 2, (2,), '{"readings":5}'),
    ]
    await asyncio.gather(*[journal.story.deliver(lease, delivery) for delivery in deliveries])
    found = await journal.story.deliveries(lease.execution_id)
    assert [(d.number, d.pass_number, d.calls, d.clock) for d in found] == [
        (d.number, d.pass_number, d.calls, d.clock) for d in deliveries
    ]
    assert {d.at for d in found} == {clock.now}


async def test_what_was_handed_over_first_is_there_first(journal: Journal, other: Journal) -> None:
    """Nobody awaits a delivery: the next call that is started is its witness."""
    lease = await created(journal)
    handed = []
    for number in range(1, 21):
        handed.append(journal.story.deliver(lease, Delivery(number, 1, (), None)))
        await journal.calls.start(lease, [NewCall(number, "crm", "add", "{}", occurrence=number)])
        assert len(await other.story.deliveries(lease.execution_id)) == number
    await asyncio.gather(*handed)


async def test_a_delivery_that_is_not_ours_to_make_says_so(journal: Journal) -> None:
    lease = await created(journal)
    handed = journal.story.deliver(lease, Delivery(1, 1, (), None))
    twice = journal.story.deliver(lease, Delivery(1, 1, (), None))
    await handed
    with pytest.raises(DuplicateEntry):
        await twice
    await journal.leases.release(lease)
    with pytest.raises(LeaseLost):
        await journal.story.deliver(lease, Delivery(2, 1, (), None))
    with pytest.raises(LeaseLost):
        await journal.story.log(lease, [LogLine(1, 1, "info", "hello")])


async def test_logs_are_followed_from_anywhere(journal: Journal) -> None:
    lease = await created(journal)
    lines = [LogLine(number, 1, "info", f"line {number}", '{"a":1}', number) for number in range(1, 6)]
    await journal.story.log(lease, lines[:2])
    await journal.story.log(lease, lines[2:])
    await journal.story.log(lease, [])
    assert [line.message for line in await journal.story.logs(lease.execution_id)] == [f"line {n}" for n in range(1, 6)]
    (last,) = await journal.story.logs(lease.execution_id, after=4)
    assert (last.number, last.level, last.attrs, last.line, last.pass_number) == (5, "info", '{"a":1}', 5, 1)


async def test_artifacts_are_of_their_execution(journal: Journal, other: Journal, clock: Clock) -> None:
    lease, stranger = await created(journal), await created(journal)
    content = bytes(range(256)) * 100
    kept = await journal.artifacts.keep(lease, content, mime="image/png", name="chart.png")
    clock.advance(seconds=1)
    named = await journal.artifacts.keep(lease, b"", mime="text/plain", handle="art_mine")
    assert len(kept.handle) >= len("art_") + 22  # 128 random bits at least
    assert (kept.mime, kept.name, kept.size) == ("image/png", "chart.png", len(content))
    assert await other.artifacts.read(lease.execution_id, kept.handle) == content
    assert await journal.artifacts.of(lease.execution_id) == [kept, named]
    with pytest.raises(UnknownEntry):
        await journal.artifacts.read(stranger.execution_id, kept.handle)
    with pytest.raises(DuplicateEntry):
        await journal.artifacts.keep(stranger, b"x", mime="text/plain", handle="art_mine")


async def test_artifacts_that_are_kept_at_once_are_listed_in_their_order(journal: Journal, other: Journal) -> None:
    """Written by one commit, they had one time; a run that went on after a pause had them in any order."""
    lease = await created(journal)
    kept = await asyncio.gather(*[journal.artifacts.keep(lease, b"x", mime="", name=f"{n}") for n in range(8)])
    assert await other.artifacts.of(lease.execution_id) == kept
    assert [each.name for each in kept] == list("01234567")


async def test_artifacts_are_capped_alone_and_together(url: str) -> None:
    async with await Journal.open(url, Settings(Caps(artifact=100, artifacts=250))) as journal:
        lease = await created(journal)
        with pytest.raises(TooLarge, match="101 bytes"):
            await journal.artifacts.keep(lease, b"x" * 101, mime="")
        for _ in range(2):
            await journal.artifacts.keep(lease, b"x" * 100, mime="")
        with pytest.raises(TooLarge, match="250 bytes of artifacts in all"):
            await journal.artifacts.keep(lease, b"x" * 51, mime="")
        await journal.artifacts.keep(lease, b"x" * 50, mime="")


async def test_one_isolate_rests_at_most(journal: Journal, other: Journal, clock: Clock) -> None:
    lease = await created(journal)
    assert await journal.hibernations.get(lease.execution_id) is None
    assert not await journal.hibernations.drop(lease)
    await journal.hibernations.put(lease, b"first", image_digest="i1", pass_number=1)
    await journal.hibernations.put(lease, bytes(range(256)) * 4000, image_digest="i2", pass_number=2)
    found = await other.hibernations.get(lease.execution_id)
    assert found is not None
    assert (found.blob, found.image_digest, found.pass_number) == (bytes(range(256)) * 4000, "i2", 2)
    assert found.at == clock.now
    assert await journal.hibernations.drop(lease)
    assert await other.hibernations.get(lease.execution_id) is None
    assert not (await journal.records.verify()).findings


async def test_an_isolate_is_capped(url: str) -> None:
    async with await Journal.open(url, Settings(Caps(hibernation=100))) as journal:
        lease = await created(journal)
        with pytest.raises(TooLarge, match="101 bytes"):
            await journal.hibernations.put(lease, b"x" * 101, image_digest="", pass_number=1)
