"""Events: kept in order, followed from anywhere, bounded."""

from __future__ import annotations

import asyncio

import pytest

from isolith.events import MAX_EVENTS, Event, EventLog

pytestmark = pytest.mark.anyio


async def collected(log: EventLog, after: int = 0) -> list[Event]:
    return [event async for event in log.follow(after)]


async def test_who_comes_late_sees_all_of_it_in_order() -> None:
    log = EventLog("e")
    log.append("log", message="a")
    log.append("emit", value=1)
    log.close()
    events = await collected(log)
    assert [(event["event"], event["seq"], event["execution_id"]) for event in events] == [
        ("log", 1, "e"),
        ("emit", 2, "e"),
    ]
    assert (events[0]["message"], events[1]["value"]) == ("a", 1)
    assert [event["seq"] for event in await collected(log, after=1)] == [2]
    assert await collected(log, after=2) == []


async def test_followers_are_woken_by_each_event_and_by_the_end() -> None:
    log = EventLog("e")
    first, second = asyncio.create_task(collected(log)), asyncio.create_task(collected(log))
    for number in range(5):
        log.append("emit", value=number)
        await asyncio.sleep(0)
    log.close()
    assert [event["value"] for event in await first] == [0, 1, 2, 3, 4]
    assert await first == await second


async def test_a_part_may_be_called_like_anything() -> None:
    log = EventLog("e")
    log.append("log", attrs={"name": 1}, line=None)
    log.close()
    [event] = await collected(log)
    assert (event["attrs"], event["line"]) == ({"name": 1}, None)


async def test_past_the_most_there_is_one_mark_and_the_outcome() -> None:
    log = EventLog("e")
    for number in range(MAX_EVENTS + 50):
        log.append("emit", value=number)
    log.append("outcome", status="completed")
    log.close()
    events = await collected(log)
    assert len(events) == MAX_EVENTS + 2
    assert [event["event"] for event in events[-3:]] == ["emit", "truncated", "outcome"]
