"""One execution: what it hands out while it runs, and that it ends with an outcome whatever happens around it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NoReturn

import pytest
import structlog.testing

from isolith.budgets import Budgets
from isolith.run.execution import Execution
from isolith.run.order import Order
from isolith.run.reply import Reply
from isolith.run.said import Said
from isolith_bindings.catalog import Catalog
from isolith_bindings.testing import RecordingConnector
from isolith_runtime.errors import ImageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith_runtime.driver import Supply

pytestmark = pytest.mark.anyio


def order(supply: Callable[[], Awaitable[Supply]], script: str = "1 + 1", **answers: object) -> Order:
    catalog = Catalog([RecordingConnector("tool", {"go": 1, **answers})])
    return Order(script, None, Budgets(), (), catalog, supply)


def having(supply: Supply) -> Callable[[], Awaitable[Supply]]:
    async def get() -> Supply:
        return supply

    return get


async def test_an_image_that_cannot_be_had_ends_it() -> None:
    async def none() -> NoReturn:
        raise ImageError("secret-4711")

    with structlog.testing.capture_logs() as logs:
        outcome = await Execution(order(none)).outcome()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind, outcome.error.error_id) == ("failed", "internal", logs[0]["error_id"])
    assert "secret-4711" not in outcome.to_json_text()


async def test_it_is_cancelled_while_the_image_is_built(supply: Supply) -> None:
    building = asyncio.Event()

    async def slow() -> Supply:
        await building.wait()
        return supply

    execution = Execution(order(slow))
    await asyncio.sleep(0.01)
    execution.cancel()
    outcome = await execution.outcome()
    assert (outcome.status, building.is_set()) == ("cancelled", False)
    building.set()
    await asyncio.sleep(0.01)
    assert (await execution.outcome()) == outcome
    assert outcome.usage.passes == 0


async def test_cancelled_at_once_a_script_that_is_none_is_still_answered_once(supply: Supply) -> None:
    execution = Execution(order(having(supply), script=""))
    execution.cancel()
    assert (await execution.outcome()).status in {"cancelled", "failed"}


async def test_a_batch_that_breaks_the_host_is_a_bug_with_an_id(
    supply: Supply, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> NoReturn:
        raise RuntimeError("secret-4711")

    monkeypatch.setattr(Said, "take", broken)
    with structlog.testing.capture_logs() as logs:
        execution = Execution(order(having(supply), "print(1)\nwhile True: pass"))
        outcome = await asyncio.wait_for(execution.outcome(), 120)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.error_id) == ("internal", logs[0]["error_id"])
    assert "secret-4711" not in f"{outcome.to_json_text()}{logs}"


async def test_an_outcome_that_cannot_be_written_is_one_too(supply: Supply, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> NoReturn:
        raise RuntimeError("secret-4711")

    monkeypatch.setattr(Reply, "shown", broken)
    with structlog.testing.capture_logs():
        outcome = await asyncio.wait_for(Execution(order(having(supply))).outcome(), 120)
    assert outcome.error is not None
    assert outcome.error.kind == "internal"


async def test_the_events_tell_the_calls_and_end_with_the_outcome(supply: Supply) -> None:
    execution = Execution(order(having(supply), "tool.go()"))
    events = [event async for event in execution.events()]
    assert [event["event"] for event in events] == ["call_started", "call_ended", "outcome"]
    assert (events[1]["status"], events[2]["status"]) == ("completed", "completed")
    assert [event["seq"] for event in [event async for event in execution.events(after=2)]] == [3]
    assert {event["execution_id"] for event in events} == {execution.execution_id}


async def test_followers_are_told_while_it_runs(supply: Supply) -> None:
    gate = asyncio.Event()

    async def wait(_: dict[str, object]) -> int:
        await gate.wait()
        return 5

    execution = Execution(order(having(supply), "print('before')\ntool.wait()", wait=wait))
    async for event in execution.events():
        if event["event"] == "log":
            gate.set()  # had the line come with the outcome only, nobody would have opened
    assert (await execution.outcome()).value == 5


async def test_whoever_asks_is_called_back(supply: Supply) -> None:
    called: list[int] = []
    execution = Execution(order(having(supply)))
    execution.when_done(lambda: called.append(1))
    await execution.outcome()
    await asyncio.sleep(0)
    assert called == [1]
