"""Kill -9 at every write of a rollback, before and after the commit; then another host goes on with it."""

from __future__ import annotations

import collections
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.host.journal.forker import Forker
from tests.host.journal.undoer import CALLS, EXECUTION, prepare, undo

from isolith.journal import Journal, Settings

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]

LATER = Settings(clock=lambda: datetime.now(UTC) + timedelta(hours=1))
"""A host that comes when the lease of the one that was killed is over."""
UNDONE = ["order3", "reserve1"]
"""The last call first."""


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    with Forker("tests.host.journal.undoer") as started:
        yield started


async def statuses(journal: Journal) -> list[str]:
    return [call.status for call in await journal.calls.of(EXECUTION)]


async def test_what_was_undone_is_not_undone_again_and_what_nobody_knows_is_said(
    new_url: Callable[[], str], forker: Forker, tmp_path: Path
) -> None:
    unknown = 0
    for side in ("before", "after"):
        at = 0
        while True:
            at += 1
            undone, own = tmp_path / f"undone-{at}-{side}", new_url()
            undone.touch()
            async with await Journal.open(own) as journal:
                await prepare(journal)
            code, said = forker.run(own, undone, at, side)
            if code == 0:
                break  # it had fewer writes than that
            assert code == -signal.SIGKILL, said
            async with await Journal.open(own, LATER) as journal:
                known = [n for n, status in enumerate(await statuses(journal), 1) if status == "reverted"]
                if (await journal.executions.get(EXECUTION)).status != "rolled_back":
                    outcome = await undo(journal, undone)
                    made = collections.Counter(undone.read_text().split())
                    assert all(made[f"{CALLS[n - 1]}{n}"] == 1 for n in known), at
                    assert max(made[line] for line in UNDONE if line.startswith("order")) <= 1, at
                    found = await statuses(journal)
                    left = [n for n, status in enumerate(found, 1) if status == "revert_unknown"]
                    assert (outcome.status == "rolled_back") == (not left), at
                    unknown += len(left)
                    assert len(left) <= 1, at  # what it was at, and nothing else
                    if left:
                        assert (await undo(journal, undone, again=True)).status == "rolled_back", at
                assert await statuses(journal) == [
                    "completed" if name == "log" else "reverted" for name in CALLS
                ]  # none is lost
                assert not (await journal.records.verify()).findings
            lines = undone.read_text().split()
            assert sorted(set(lines)) == sorted(UNDONE), at
            assert len(lines) <= len(UNDONE) + 1, at
        assert at > 10
    assert unknown > 0  # it was cut off in the middle of one, and said so
