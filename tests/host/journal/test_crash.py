"""Kill -9: what was acknowledged is there, what was not is there whole or not at all, and all of it can go on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import inspect
from tests.host.journal.crasher import LASTS, LIVES, SIDES, STEPS, Life, digest, listening, snapshot
from tests.host.journal.support import engine_of
from tests.host.journal.test_migrations import OF_VERSION_1, at_version
from tests.host.journal.write_points import transactions, write_points

from isolith.journal import Journal, schema

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.host.journal.support import Clock

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CRASHER = Path(__file__).with_name("crasher.py")


LOOK: dict[str, Callable[[Journal], Awaitable[object]]] = {
    "Grants.find": lambda journal: journal.grants.find(),
    "Leases.abandoned": lambda journal: journal.leases.abandoned(),
}
"""Nobody is killed there: they write nothing, and are asked of the writer for the time, which is the database's."""
THROWN_AWAY = {"copy": "into a journal of its own, for a look at a run: what a kill leaves of that nobody opens"}
TRANSACTIONS = {
    "journal/store.py:Store._together": "what the points hand over: a group of them",
    "journal/store.py:Store._alone": "what the points hand over: one of them",
    "journal/journal.py:_open": "killed in test_killed_while_it_is_opened",
    "journal/dialects.py:SQLite.compact": "not killed there: SQLite gives free pages back, and none of our rows changes",
}


def killed(url: str, life: str, how: str = "killed") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CRASHER), url, life, how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def flooding(url: str, execution_id: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CRASHER), url, "flood", execution_id]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("name", LIVES)
async def test_killed_before_and_after_every_commit(new_url: Callable[[], str], name: str) -> None:
    """One life, in two processes for each of its steps: the first dies before the commit, the second after it."""
    expected, points = await lived(new_url(), name)
    url = new_url()
    done = await asyncio.to_thread(killed, url, name)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    found = [line for line in said if not line.startswith("killed ")]
    async with await Journal.open(url) as journal:
        found.append(digest(await snapshot(journal, "killed")))
        assert not (await journal.records.verify()).findings
    assert found == [one for one in expected for _ in SIDES][:-1]
    struck = [line.removeprefix("killed ") for line in said if line.startswith("killed ")]
    assert struck == [f"{side} {point}" for point in points for side in SIDES]


async def lived(url: str, name: str) -> tuple[list[str], list[str]]:
    """What the journal has before and after each step of a life, and the method whose write each step ends with."""
    async with await Journal.open(url) as journal:
        life = Life(journal, "whole")
        states, points = [digest(await snapshot(journal, "whole"))], list[str]()
        for step in LIVES[name]:
            with listening() as heard:
                await step(life)
            points.append(heard[-1])
            states.append(digest(await snapshot(journal, "whole")))
    assert len(set(states)) == len(LIVES[name]) + 1  # each step changes something
    return states, points


async def test_no_method_that_writes_is_left_out(
    new_url: Callable[[], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Against the code, not a list: who adds a method that writes adds a step to a life, where it is killed."""
    stepped = set[str]()
    for name in LIVES:
        _, points = await lived(new_url(), name)
        stepped |= set(points)
    with capsys.disabled():
        print("", *(f"not killed in {name}: it only looks" for name in LOOK), sep="\n")
        print(*(f"{place}: {reason}" for place, reason in (THROWN_AWAY | TRANSACTIONS).items()), sep="\n")
    assert write_points() == stepped | LOOK.keys() | THROWN_AWAY.keys()
    assert transactions() == TRANSACTIONS.keys()


async def test_what_only_looks_writes_nothing(journal: Journal) -> None:
    await Life(journal, "whole").create()
    before = [line async for line in journal.export(contents=True)]
    for look in LOOK.values():
        await look(journal)
    assert [line async for line in journal.export(contents=True)] == before


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
async def test_killed_while_it_is_opened(new_url: Callable[[], str], *, old: bool) -> None:
    """Made, or migrated: whole or not at all, and the next one to open it does it."""
    for side in SIDES:
        url = new_url()
        if old:
            at_version(url, 1, *OF_VERSION_1)
        done = await asyncio.to_thread(killed, url, "open", side)
        assert (done.returncode, done.stdout) == (0, f"killed {side} _open\n"), done.stderr
        with engine_of(url) as engine:
            tables = set(inspect(engine).get_table_names())
        made = schema.metadata.tables.keys()
        assert (tables == made) == (side == "after")
        async with await Journal.open(url) as journal:
            assert [one.execution_id for one in await journal.executions.find()] == ["e1"] * old
            await Life(journal, "e2").create()
            assert old or not (await journal.records.verify()).findings  # the old one was made up


async def test_whatever_was_cut_off_is_found_and_goes_on(journal: Journal, clock: Clock) -> None:
    """An execution left at each of its steps: its lease expires, another host takes it over."""
    for count in range(1, len(STEPS) + 1):
        life = Life(journal, f"left-{count}")
        for step in STEPS[:count]:
            await step(life)
    clock.advance(hours=1)
    executions = {execution.execution_id: execution for execution in await journal.executions.find()}
    cut_off = {
        execution_id
        for execution_id, execution in executions.items()
        if execution.status == "running" or execution.rollback == "under_way"
    }
    assert set(await journal.leases.abandoned()) == cut_off
    assert len(cut_off) > 20
    for execution_id in cut_off:
        before = await journal.calls.of(execution_id)
        lease = await journal.leases.acquire(execution_id, "host/2", LASTS)
        unknown = {call.number for call in await journal.calls.lose(lease)}
        for old, new in zip(before, await journal.calls.of(execution_id), strict=True):
            if old.status in {"started", "reverting"}:
                assert new.status in {"unknown", "revert_unknown"}
                assert new.number in unknown
            else:
                assert new == old
    assert not (await journal.records.verify()).findings


async def test_killed_at_any_moment_under_load(url: str) -> None:
    for round_ in range(2):
        execution_id = f"flood-{round_}"
        writer = flooding(url, execution_id)
        assert writer.stdout is not None
        said = [await asyncio.to_thread(writer.stdout.readline) for _ in range(150 + 37 * round_)]
        writer.kill()
        said += await asyncio.to_thread(writer.stdout.readlines)
        writer.stdout.close()
        await asyncio.to_thread(writer.wait)
        async with await Journal.open(url) as journal:
            calls = {call.number: call for call in await journal.calls.of(execution_id)}
            for line in said:
                what, _, number = line.strip().partition(" ")
                call = calls[int(number)]
                if what == "ended":
                    assert (call.status, call.outcome) == ("completed", f'"{number}"')
            assert not (await journal.records.verify()).findings
