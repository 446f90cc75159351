"""Two hosts, each a process, on one journal: no execution is run by both."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from isolith.journal import Journal, Order

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WORKER = Path(__file__).with_name("worker.py")
MOMENT = timedelta(microseconds=1)


def host(url: str, owner: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WORKER), url, owner]
    return subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"


async def test_what_was_left_behind_is_taken_over_by_one(url: str) -> None:
    ids = [f"e{number}" for number in range(40)]
    async with await Journal.open(url) as journal:
        for execution_id in ids:
            await journal.executions.create(Order(execution_id, "1"), "host/0", MOMENT)
        hosts = {owner: host(url, owner) for owner in ("ann", "bob")}
        for process in hosts.values():
            await asyncio.to_thread(ready, process)
        said = [asyncio.to_thread(process.communicate, "go\n") for process in hosts.values()]
        made = dict(zip(hosts, [out.split() for out, _ in await asyncio.gather(*said)], strict=True))
        assert [process.returncode for process in hosts.values()] == [0, 0]
        assert sorted(made["ann"] + made["bob"]) == sorted(ids)
        for owner, done in made.items():
            for execution_id in done:
                (call,) = await journal.calls.of(execution_id)
                assert (call.outcome, call.attempts) == (f'"{owner}"', 1)
                assert await journal.executions.outcome(execution_id) == f'"{owner}"'
        assert not (await journal.records.verify()).findings
