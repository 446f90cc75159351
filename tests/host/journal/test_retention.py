"""What is kept, what goes, and what leaves as JSON lines."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select
from tests.host.journal.support import LASTS, Clock, asked, created, engine_of, started

from isolith.journal import Journal, NewSnippet, Pruned, Retention, UnknownEntry, schema
from isolith.journal.retention import victims

if TYPE_CHECKING:
    from isolith.journal.queries import Row

pytestmark = pytest.mark.anyio

FOREVER = Retention(count=None, age=None, bytes=None)


async def ended(journal: Journal, clock: Clock, size: int = 10) -> str:
    """An execution that completed, after an hour."""
    lease = await created(journal)
    await started(journal, lease)
    await journal.calls.end(lease, 1, "completed", outcome=json.dumps("x" * size))
    clock.advance(hours=1)
    await journal.executions.move(lease, "completed")
    return lease.execution_id


async def kept(journal: Journal) -> list[str]:
    return [execution.execution_id for execution in await journal.executions.find()][::-1]


async def test_by_count_the_oldest_go(journal: Journal, clock: Clock) -> None:
    ids = [await ended(journal, clock) for _ in range(4)]
    assert await journal.prune(FOREVER) == Pruned((), 0)
    pruned = await journal.prune(Retention(count=2))
    assert pruned.executions == tuple(ids[:2])
    assert pruned.bytes > 0
    assert await kept(journal) == ids[2:]


async def test_by_age(journal: Journal, clock: Clock) -> None:
    ids = [await ended(journal, clock) for _ in range(3)]
    assert (await journal.prune(Retention(age=timedelta(minutes=90)))).executions == (ids[0],)


async def test_by_bytes(journal: Journal, clock: Clock) -> None:
    ids = [await ended(journal, clock, size) for size in (10, 100_000, 10, 50_000)]
    pruned = await journal.prune(Retention(bytes=120_000))
    assert pruned.executions == tuple(ids[:2])
    assert 100_000 < pruned.bytes < 110_000


async def test_what_is_not_ended_is_never_deleted(journal: Journal, clock: Clock) -> None:
    running, paused = await created(journal), await created(journal)
    await asked(journal, paused)
    await journal.executions.move(paused, "paused")
    done = await ended(journal, clock)
    retried = await created(journal)
    await journal.executions.move(retried, "failed")
    retried = await journal.leases.acquire(retried.execution_id, "host/1", LASTS)
    clock.advance(days=1000)
    await journal.leases.renew([retried], LASTS)
    assert (await journal.prune(Retention(0, timedelta(), 0))).executions == (done,)
    assert sorted(await kept(journal)) == sorted(lease.execution_id for lease in (running, paused, retried))


async def test_nothing_of_it_is_left(journal: Journal, clock: Clock, url: str) -> None:
    lease = await created(journal)
    await asked(journal, lease)
    await journal.story.begin_pass(lease, "start")
    await journal.artifacts.keep(lease, b"x", mime="")
    await journal.hibernations.put(lease, b"x", image_digest="", pass_number=1)
    await journal.executions.move(lease, "cancelled")
    await journal.prune(Retention(count=0))
    with engine_of(url) as engine, engine.begin() as connection:
        for table in schema.OF_AN_EXECUTION:
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
        for table in (schema.records, schema.heads):
            streams = connection.execute(select(table.c.stream).distinct()).scalars().all()
            assert streams == [""]
    with pytest.raises(UnknownEntry):
        await journal.leases.acquire(lease.execution_id, "me", LASTS)
    assert not await journal.leases.release(lease)


async def test_several_hosts_may_prune(journal: Journal, other: Journal, clock: Clock) -> None:
    ids = [await ended(journal, clock) for _ in range(6)]
    both = await asyncio.gather(journal.prune(Retention(count=1)), other.prune(Retention(count=1)))
    assert sorted(both[0].executions + both[1].executions) == sorted(ids[:5])
    assert not (await journal.records.verify()).findings


def row(number: int, size: int, at: int) -> Row:
    return {"execution_id": str(number), "bytes": size, "ended_at": at}


def test_victims_are_chosen_by_each_rule() -> None:
    rows = [row(number, 10, 1_000_000 * (10 - number)) for number in range(5)]
    assert victims(rows, FOREVER, 10_000_000) == []
    assert victims(rows, Retention(3, None, None), 10_000_000) == ["4", "3"]
    assert victims(rows, Retention(None, timedelta(seconds=2), None), 10_000_000) == ["4", "3"]
    assert victims(rows, Retention(None, None, 20), 10_000_000) == ["4", "3", "2"]
    assert victims(rows, Retention(0, None, None), 10_000_000) == ["4", "3", "2", "1", "0"]


async def test_an_export_says_whose_when_and_how_long(journal: Journal, clock: Clock) -> None:
    lease = await created(journal, principal="u1", input='{"n":1}')
    await asked(journal, lease, 1)
    await started(journal, lease, 2)
    clock.advance(seconds=1.5)
    await journal.calls.end(lease, 2, "completed", outcome='["é"]')
    await journal.artifacts.keep(lease, b"\xff", mime="image/png", handle="art_1")
    await journal.executions.move(lease, "completed", outcome='{"value":1}')
    second = await created(journal)
    await journal.snippets.propose(NewSnippet("s", "d", "1", '{"type":"object"}', "{}", "3", "ann"))
    lines = [json.loads(line) async for line in journal.export()]
    assert {line.get("execution_id") for line in lines} == {lease.execution_id, second.execution_id, None}
    assert [line["kind"] for line in lines[-5:]] == ["snippets"] + ["records"] * 4
    assert lines[-5]["input_schema"] == {"type": "object"}
    mine = [json.loads(line) async for line in journal.export([lease.execution_id])]
    assert {line["principal"] for line in mine} == {"u1"}
    by_kind = {line["kind"]: line for line in mine}
    assert set(by_kind) == {"orders", "executions", "calls", "artifacts", "records"}
    assert by_kind["orders"]["input"] == {"n": 1}
    assert by_kind["executions"]["outcome"] == {"value": 1}
    assert by_kind["executions"]["duration_ms"] == 1500
    call = by_kind["calls"]
    assert (call["number"], call["outcome"], call["duration_ms"]) == (2, ["é"], 1500)
    assert call["started_at"] == "2026-01-01T00:00:00+00:00"
    assert "content" not in by_kind["artifacts"]
    whole = [json.loads(line) async for line in journal.export([lease.execution_id], contents=True)]
    (artifact,) = [line for line in whole if line["kind"] == "artifacts"]
    assert base64.b64decode(artifact["content"]) == b"\xff"
    assert [line["seq"] for line in mine if line["kind"] == "records"] == list(
        range(1, 1 + sum(line["kind"] == "records" for line in mine))
    )


async def test_an_export_of_what_is_not_there(journal: Journal) -> None:
    assert [line async for line in journal.export()] == []
    with pytest.raises(UnknownEntry):
        _ = [line async for line in journal.export(["no"])]
