"""Kill -9: what was acknowledged is there, what was not is there whole or not at all, and all of it can go on."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.host.journal.crasher import LASTS, LIVES, SIDES, STEPS, Life, digest, snapshot

from isolith.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.host.journal.support import Clock

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CRASHER = Path(__file__).with_name("crasher.py")


def killed(url: str, life: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CRASHER), url, life, "killed"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def flooding(url: str, execution_id: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(CRASHER), url, "flood", execution_id]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("name", LIVES)
async def test_killed_before_and_after_every_commit(new_url: Callable[[], str], name: str) -> None:
    """One life, in two processes for each of its steps: the first dies before the commit, the second after it."""
    async with await Journal.open(new_url()) as journal:
        life = Life(journal, "whole")
        expected = [digest(await snapshot(journal, "whole"))]
        for step in LIVES[name]:
            await step(life)
            expected.append(digest(await snapshot(journal, "whole")))
        assert len(set(expected)) == len(LIVES[name]) + 1
    url = new_url()
    done = await asyncio.to_thread(killed, url, name)
    assert done.returncode == 0, done.stderr
    found = done.stdout.splitlines()
    async with await Journal.open(url) as journal:
        found.append(digest(await snapshot(journal, "killed")))
        assert not (await journal.records.verify()).findings
    assert found == [one for one in expected for _ in SIDES][:-1]


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
