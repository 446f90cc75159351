"""Defects of other systems, each by its number: W-1 to W-19 of the comparison that this project began with."""

from __future__ import annotations

import asyncio
import functools
import re
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING

import pytest

from isolith import Budgets, CodeMode, McpServer, StdioServer, connector, method
from isolith.durable import durable_runs
from isolith.durable.history import load_history
from isolith.durable.ledger import LEASE
from isolith.journal import NewCall, Order
from isolith.journal.errors import AlreadyDecided, DigestMismatch, WrongStatus

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

Done = list[tuple[str, int]]


def shop_of(done: Done, *, grown: bool = False) -> object:
    @connector("shop")
    class Shop:
        async def look(self, n: int = 0) -> dict[str, object]:
            """Look at one."""
            done.append(("look", n))
            return {"n": n, "when": float("nan"), "parts": (1, 2), "tags": {"a"}}

        async def lots(self) -> bytes:
            """More than the journal keeps in the row of a call."""
            done.append(("lots", 0))
            return b"x" * 200_000

        async def fail(self, n: int = 0) -> int:
            """Fail, after it has counted."""
            done.append(("fail", n))
            raise ValueError(
                f"no {n}" if len([d for d in done if d[0] == "fail"]) == 1 else "another time, another word"
            )

        async def slow(self, n: int = 0) -> int:
            """Take long."""
            done.append(("slow", n))
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                done.append(("slow was cancelled", n))
                raise
            return n

        @method(policy="ask")
        async def buy(self, n: int = 0) -> str:
            """Buy one."""
            done.append(("buy", n))
            return f"bought {n}"

    if grown:
        Shop.added = Shop.look  # type: ignore[attr-defined]
    return Shop


@pytest.fixture
def done() -> Done:
    return []


@pytest.fixture(params=["woken", "replayed"])
def replayed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "replayed":
        monkeypatch.setattr(durable_runs, "load_history", functools.partial(load_history, awake=True))
    return bool(request.param == "replayed")


@pytest.mark.parametrize("script", ["raise Exception", "raise Exception('')", "raise ValueError(None)", "assert False"])
async def test_w1_a_failure_without_words_is_a_failure(script: str) -> None:
    async with CodeMode() as code_mode:
        outcome = await code_mode.execute(script)
    assert outcome.error is not None
    assert (outcome.status, outcome.error.kind) == ("failed", "exception")


async def test_w2_a_call_that_failed_is_not_made_again(done: Done, replayed: bool) -> None:
    script = (
        "try:\n    await shop.fail(n=1)\nexcept ToolError as error:\n    said = str(error)\n[said, await shop.buy(n=2)]"
    )
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute(script)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.value == ["no 1", "bought 2"]
    assert done == [("fail", 1), ("buy", 2)]


async def test_w3_a_script_cannot_say_that_a_call_was_made(done: Done) -> None:
    script = (
        "import os, asyncio\ntask = asyncio.ensure_future(shop.buy(n=1))\nawait asyncio.sleep(0)\n"
        'os.write(4, b\'[["answer",1,"bought for free"]]\')\nawait task'
    )
    async with CodeMode([shop_of(done)]) as code_mode:
        outcome = await code_mode.execute(script)
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert "an unknown frame" in outcome.error.message
    assert done == []


async def test_w4_an_approval_is_for_one_call_and_its_arguments(done: Done) -> None:
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute("[await shop.buy(n=1), await shop.buy(n=2)]")
        first = paused.pending[0]
        again = await code_mode.approve(paused.execution_id, first.call_id, digest=first.digest)
        assert [waiting.arguments for waiting in again.pending] == [{"n": 2}]
        with pytest.raises(AlreadyDecided):  # the double click
            await code_mode.approve(paused.execution_id, first.call_id, digest=first.digest)
        with pytest.raises(DigestMismatch):
            await code_mode.approve(paused.execution_id, again.pending[0].call_id, digest=first.digest)
    assert done == [("buy", 1)]


async def test_w5_parallel_calls_beside_a_question_are_made_once(done: Done, replayed: bool) -> None:
    script = "import asyncio\nawait asyncio.gather(*[shop.look(n=n) for n in range(4)], shop.buy(n=9), shop.look(n=5))"
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute(script)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.error is None
    assert sorted(done) == [("buy", 9), *[("look", n) for n in (0, 1, 2, 3, 5)]]


@pytest.mark.parametrize(
    "script",
    [
        "shop.buy(n=1)\nawait shop.look()\nawait shop.look()\n'end'",
        "import asyncio\ntask = asyncio.create_task(shop.buy(n=1))\nawait shop.look()\nawait shop.look()\n'end'",
        "await shop.look()\nawait shop.look()\nshop.buy(n=1)\n'end'",
    ],
    ids=["a call", "a task", "at the end"],
)
async def test_w6_a_question_that_nobody_awaits_is_told(done: Done, tmp_path: Path, script: str) -> None:
    """However it comes, the run ends the same way, and nothing of it waits or is made after the end."""
    async with CodeMode([shop_of(done)], journal=tmp_path / "journal.db", tend=False, check="off") as code_mode:
        runs = await code_mode.runs()
        for _ in range(5):
            outcome = await code_mode.execute(script)
            assert (outcome.status, outcome.value, outcome.pending) == ("completed", "end", ())
            [bought] = [call for call in outcome.calls if call.method == "buy"]
            assert bought.status == "cancelled"
            [warning] = [found for found in outcome.warnings if "shop.buy" in found.message]
            assert "was cancelled" in warning.message
            kept = {call.number: call for call in await runs.journal.calls.of(outcome.execution_id)}
            if int(bought.call_id.rpartition(".")[2]) in kept:
                with pytest.raises(AlreadyDecided):
                    await code_mode.approve(outcome.execution_id, bought.call_id)
        assert await runs.pending() == []
    assert done == [("look", 0)] * 10


async def test_w6_a_question_that_is_awaited_later_is_kept(done: Done, replayed: bool) -> None:
    script = (
        "import asyncio\ntask = asyncio.create_task(shop.buy(n=1))\nawait shop.look(n=0)\n"
        "[await shop.buy(n=2), await task]"
    )
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute(script)
        assert sorted(str(waiting.arguments) for waiting in paused.pending) == ["{'n': 1}", "{'n': 2}"]
        first, second = paused.pending
        await code_mode.approve(paused.execution_id, first.call_id, digest=first.digest)
        final = await code_mode.approve(paused.execution_id, second.call_id, digest=second.digest)
    assert final.value == ["bought 2", "bought 1"]
    assert sorted(done) == [("buy", 1), ("buy", 2), ("look", 0)]


async def test_w7_types_are_the_same_after_a_pause(done: Done, replayed: bool) -> None:
    script = (
        "got = await shop.look(n=1)\nawait shop.buy()\n"
        "[type(got[name]).__name__ for name in ('n', 'when', 'parts', 'tags')] + [got['when'] != got['when']]"
    )
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute(script)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.value == ["int", "float", "tuple", "set", True]


async def test_w7_a_large_answer_is_the_same_after_a_pause(done: Done, replayed: bool) -> None:
    script = "got = await shop.lots()\nawait shop.buy()\n[type(got).__name__, len(got)]"
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute(script)
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
    assert final.value == ["bytes", 200_000]
    assert done == [("lots", 0), ("buy", 0)]


async def test_w8_the_catalogue_may_grow_while_a_run_waits(done: Done, replayed: bool, tmp_path: Path) -> None:
    script = "found = await search('')\nawait shop.buy(n=1)\nlen(found['results'])"
    journal = tmp_path / "journal.db"
    async with CodeMode([shop_of(done)], journal=journal, tend=False) as before:
        paused = await before.execute(script)
        assert paused.status == "paused", paused.error
    async with CodeMode([shop_of(done, grown=True)], journal=journal, tend=False) as after:
        assert "added" in dict(after.connectors[0].methods)
        final = await after.approve(paused.execution_id, paused.pending[0].call_id)
        assert final.error is None
        fresh = await after.execute("len((await search(''))['results'])")
    assert isinstance(final.value, int)
    assert final.value > 0
    assert fresh.value == final.value + 1  # it has what it had


async def test_w8_a_snippet_may_change_while_a_run_waits(done: Done, replayed: bool, tmp_path: Path) -> None:
    async with CodeMode([shop_of(done)], journal=tmp_path / "journal.db", tend=False) as code_mode:

        async def put(script: str) -> None:
            proven = await code_mode.execute(script)
            made = await code_mode.snippets.propose(proven.execution_id, "peek", "Look", who="ada")
            await code_mode.snippets.approve("peek", made.version, who="bob", content_hash=made.content_hash)

        await put("(await shop.look(n=1))['n']")
        script = "before = await snippets.peek()\ntold = await describe('snippets.peek')\nawait shop.buy(n=1)\n"
        paused = await code_mode.execute(f"{script}[before, await snippets.peek()]")
        assert paused.status == "paused", paused.error
        await put("(await shop.look(n=2))['n'] * 100")
        final = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
        fresh = await code_mode.execute("await snippets.peek()")
    assert (final.value, fresh.value) == ([1, 1], 200)  # it has the version that it began with


async def test_w9_what_a_run_left_behind_is_cancelled_upstream_and_listed(done: Done) -> None:
    async with CodeMode([shop_of(done)]) as code_mode:
        outcome = await code_mode.execute("await shop.slow(n=1)", budgets=Budgets(wall_s=2))
    assert outcome.error is not None
    assert outcome.error.kind == "wall_exceeded"
    assert [call.status for call in outcome.calls] == ["cancelled"]
    assert done == [("slow", 1), ("slow was cancelled", 1)]


async def test_w10_a_server_that_is_not_there_takes_nobody_with_it(done: Done) -> None:
    gone = McpServer("gone", StdioServer("/no/such/server"))
    async with CodeMode([shop_of(done), gone]) as code_mode:
        for _ in range(2):  # nothing of the failure is kept for the next run
            fine = await code_mode.execute("(await shop.look(n=1))['n']")
            lost = await code_mode.execute(
                "try:\n    await gone.look()\nexcept ToolError as error:\n    kind = error.kind\nkind"
            )
            assert (fine.value, lost.value) == (1, "tool_unavailable")
    assert done == [("look", 1)] * 2


async def test_w11_a_rollback_undoes_once_and_says_what_nobody_knows(tmp_path: Path) -> None:
    undone: list[int] = []

    @connector("shop")
    class Shop:
        @method(revert=lambda **call: undone.append(call["arguments"]["n"]))
        async def order(self, n: int) -> int:
            return n

        @method(policy="ask")
        async def buy(self, n: int) -> int:
            return n

    async with CodeMode([Shop], journal=tmp_path / "journal.db", tend=False) as code_mode:
        paused = await code_mode.execute("[await shop.order(n=1), await shop.order(n=2), await shop.buy(n=3)]")
        runs = await code_mode.runs()
        with pytest.raises(WrongStatus, match="is paused: cancel it first"):
            await code_mode.rollback(paused.execution_id)
        assert (await runs.cancel(paused.execution_id)).pending == ()
        assert await runs.pending() == []
        both = [code_mode.rollback(paused.execution_id) for _ in range(2)]
        results = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) in (
            ["Leased", "Outcome"],
            ["Outcome", "WrongStatus"],
        )
        assert undone == [2, 1]
        journal = runs.journal
        lease = await journal.executions.create(Order("left", "1"), "host/0", LEASE)
        await journal.calls.start(lease, [NewCall(1, "shop", "order", '{"n":4}', revertible=True)])
        await journal.executions.move(lease, "failed")
        left = await code_mode.rollback("left")
        assert left.status == "failed"
        [call] = await journal.calls.of("left")
        assert call.status == "revert_unknown"  # it may have happened: a person has to look
    assert undone == [2, 1]


async def test_w13_who_is_too_late_is_told_what_was_decided(done: Done) -> None:
    async with CodeMode([shop_of(done)]) as code_mode:
        paused = await code_mode.execute("await shop.buy(n=1)")
        call = paused.pending[0]
        answers = await asyncio.gather(
            code_mode.approve(paused.execution_id, call.call_id, who="ada"),
            code_mode.reject(paused.execution_id, call.call_id, who="bob"),
            return_exceptions=True,
        )
    [late] = [answer for answer in answers if isinstance(answer, BaseException)]
    assert isinstance(late, AlreadyDecided)
    assert "ada" in str(late) or "bob" in str(late)


async def test_w14_a_script_cannot_switch_its_time_off() -> None:
    script = "import asyncio, time\nasyncio.sleep = time.sleep = time.monotonic = lambda *_: 0\nwhile True: pass"
    async with CodeMode() as code_mode:
        outcome = await code_mode.execute(script, budgets=Budgets(cpu_ms=200))
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("cpu_exceeded", 3)


async def test_w15_logs_cannot_be_erased_by_who_wrote_them() -> None:
    script = """
import gc
print("kept")
for found in gc.get_objects():
    if type(found) is list and any(isinstance(item, str) and "kept" in item for item in found[:50]):
        found.clear()
1
"""
    async with CodeMode() as code_mode:
        outcome = await code_mode.execute(script)
    assert [line.message for line in outcome.logs] == ["kept"]


if TYPE_CHECKING:

    @dataclass
    class Bought:
        id: int

    @dataclass
    class Priced:
        price: float
else:  # two types of one name, as two modules may have
    Bought = make_dataclass("Row", [("id", int)])
    Priced = make_dataclass("Row", [("price", float)])


async def test_w18_no_two_types_of_a_method_share_a_name() -> None:
    @connector("shop")
    class Shop:
        async def prices(self, of: list[Bought]) -> dict[str, Priced]:
            """Prices."""
            return {str(each.id): Priced(1.0) for each in of}

    async with CodeMode([Shop]) as code_mode:
        text = code_mode.catalog.describe("shop.prices", "full").text
        outcome = await code_mode.execute("await shop.prices(of=[{'id': 7}])")
    [(bought, _), (priced, _)] = sorted(
        re.findall(r"class (\w+)\(TypedDict\):\s+(\w+)", text), key=lambda each: each[1]
    )
    assert bought != priced
    assert f"of: list[{bought}]) -> dict[str, {priced}]" in text
    assert outcome.value == {"7": {"price": 1.0}}


async def test_w19_nobody_is_asked_about_a_call_that_cannot_be_made(done: Done) -> None:
    async with CodeMode([shop_of(done)], check="off") as code_mode:
        for script in ("await shop.buy(n='many')", "await shop.buy(no_such=1)", "await shop.buys(n=1)"):
            outcome = await code_mode.execute(script)
            assert outcome.error is not None
            assert outcome.error.kind in {"invalid_arguments", "unknown_tool"}
            assert outcome.pending == ()
    assert done == []
