"""What was under way when its host stopped: made again under its own key, or asked about, by what its method says."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode
from isolith_bindings.connector import Annotations
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.journal import Journal
    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio

SCRIPT = "await asyncio.gather(desk.keyed(), desk.reads(), desk.other())"


class Desk(RecordingConnector):
    """Hangs as long as its host does, and remembers each call with the id that it was made under."""

    def __init__(self, *, hangs: bool) -> None:
        super().__init__("desk", dict.fromkeys(("keyed", "reads", "other")))
        self.methods["keyed"] = dataclasses.replace(self.methods["keyed"], idempotent=True)
        reads = Annotations(read_only=True, trusted=True)
        self.methods["reads"] = dataclasses.replace(self.methods["reads"], annotations=reads)
        self.made: list[tuple[str, str]] = []
        self.under_way = asyncio.Event()
        self.hangs = hangs

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        self.made.append((method.name, context.call_id))
        if len(self.made) == 3:
            self.under_way.set()
        if self.hangs:
            await asyncio.Event().wait()
        return method.name


async def left(journal: Journal) -> tuple[str, Desk]:
    """A run whose host stopped while three calls were under way."""
    desk = Desk(hangs=True)
    async with CodeMode([desk], journal=journal, tend=False) as host:
        execution = host.start(SCRIPT)
        await desk.under_way.wait()
        await host.leave(0)
    return execution.execution_id, desk


async def test_made_again_under_its_own_key_or_asked_about(journal: Journal, other: Journal) -> None:
    name, before = await left(journal)
    assert await other.leases.abandoned() == [name]
    after = Desk(hangs=False)
    async with CodeMode([after], journal=other, tend=False) as host:
        runs = await host.runs()
        [paused] = await runs.recover()
        assert (paused.execution_id, paused.status) == (name, "paused")
        [waiting] = paused.pending
        assert waiting.method == "other"
        assert "nobody knows whether it happened" in waiting.reason
        assert sorted(after.made) == sorted(one for one in before.made if one[0] != "other")  # ids and all
        outcome = await host.approve(name, waiting.call_id, digest=waiting.digest, who="ada")
    assert (outcome.status, outcome.value) == ("completed", ["keyed", "reads", "other"])
    assert sorted(after.made) == sorted(before.made)
    assert [call.attempts for call in await other.calls.of(name)] == [2, 2, 2]
    assert not (await other.records.verify()).findings


async def test_a_person_may_say_that_it_is_not_to_be_made_again(journal: Journal, other: Journal) -> None:
    name, _ = await left(journal)
    after = Desk(hangs=False)
    async with CodeMode([after], journal=other, tend=False) as host:
        [paused] = await (await host.runs()).recover()
        [waiting] = paused.pending
        outcome = await host.reject(name, waiting.call_id, digest=waiting.digest, who="ada", reason="it was done")
    assert (outcome.status, outcome.error and outcome.error.kind) == ("rejected", "rejected")
    assert "other" not in [method for method, _ in after.made]


async def test_two_hosts_that_find_it_at_once_run_it_once(journal: Journal, other: Journal) -> None:
    name, before = await left(journal)
    desks = [Desk(hangs=False), Desk(hangs=False)]
    async with (
        CodeMode([desks[0]], journal=journal, tend=False) as one,
        CodeMode([desks[1]], journal=other, tend=False) as two,
    ):
        found = await asyncio.gather(*[(await host.runs()).recover() for host in (one, two)])
    assert [outcome.execution_id for each in found for outcome in each] == [name]
    made = [call for desk in desks for call in desk.made]
    assert sorted(made) == sorted(call for call in before.made if call[0] != "other")
