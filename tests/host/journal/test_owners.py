"""A host that was killed holds nothing up: on its own machine that it is gone is known at once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.host.journal.support import created

from isolith import CodeMode, connector
from isolith.journal import Journal, Leased
from isolith.journal.owners import Owner, is_gone

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which processes one can see")

LONG = timedelta(hours=1)
NAMED = "from isolith.journal.owners import Owner; print(Owner().name)"
FORKED = """
import os
from isolith.journal.owners import Owner

owner = Owner()
owner.name
child = os.fork()
if child == 0:
    print(os.getppid(), os.getpid(), owner.name, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
KILLED = """
import asyncio, os, signal, sys
from isolith.budgets import Budgets
from isolith.durable.ledger import LEASE
from isolith.journal import Journal, Order
from isolith.journal.owners import Owner


async def main(url: str) -> None:
    async with await Journal.open(url) as journal:
        order = Order("left", "await files.add(n=1)", budgets=Budgets().model_dump_json(), seed=b"s" * 32)
        await journal.executions.create(order, Owner().name, LEASE)
        os.kill(os.getpid(), signal.SIGKILL)


asyncio.run(main(sys.argv[1]))
"""


def ended() -> str:
    """The name of an owner whose process has ended."""
    return subprocess.run([sys.executable, "-c", NAMED], capture_output=True, text=True, check=True).stdout.strip()


@linux
def test_who_has_ended_is_told_apart_from_who_has_not() -> None:
    mine = Owner().name
    host, process, place, mark = mine.split(":")
    assert (is_gone(mine), process) == (False, str(os.getpid()))
    gone = ended()
    assert gone.split(":")[2] == place
    assert is_gone(gone)
    other = gone.split(":")[1]
    for unknown in ("host/1", f"{host}:{other}", f"{host}:{other}::{mark}", f"{host}:{other}:{'0' * 16}:{mark}", ""):
        assert not is_gone(unknown)


@linux
def test_a_name_is_of_the_process_that_uses_it() -> None:
    """One that is made before a fork would be taken for ended with the process that made it."""
    said = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True).stdout.split()
    process, child, name = said
    assert (name.split(":")[1], process != child, is_gone(name)) == (child, True, True)


@linux
@pytest.mark.anyio
async def test_a_lease_of_who_has_ended_lasts_no_longer(journal: Journal, other: Journal) -> None:
    theirs, ours = await created(journal), await created(journal)
    assert await other.leases.release(theirs)
    assert await other.leases.release(ours)
    theirs = await other.leases.acquire(theirs.execution_id, ended(), LONG)
    ours = await other.leases.acquire(ours.execution_id, Owner().name, LONG)
    assert await journal.leases.abandoned() == [theirs.execution_id]
    taken = await journal.leases.acquire(theirs.execution_id, "host/2", LONG)
    assert taken.fence == theirs.fence + 1
    assert await journal.leases.abandoned() == []
    with pytest.raises(Leased):
        await journal.leases.acquire(ours.execution_id, "host/2", LONG)


@linux
@pytest.mark.anyio
async def test_a_run_whose_host_was_killed_as_it_was_made_is_gone_on_with_at_once(tmp_path: Path) -> None:
    """It used to wait for its lease to end."""

    @connector("files")
    class Files:
        async def add(self, n: int) -> int:
            """One more."""
            return n + 1

    url = f"sqlite:///{tmp_path / 'journal.db'}"
    command = [sys.executable, "-c", KILLED, url]
    done = await asyncio.to_thread(lambda: subprocess.run(command, check=False))
    assert done.returncode == -signal.SIGKILL
    async with CodeMode([Files], journal=url, tend=False) as host:
        [outcome] = await (await host.runs()).recover("null")
    assert (outcome.execution_id, outcome.error, outcome.value) == ("left", None, 2)
