"""Kill -9 at every write of a run that was asked for under a key; then the same is asked for again, at another host."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from tests.host.journal.forker import Forker
from tests.host.journal.keyed import asked
from tests.host.journal.test_execution_crash import LATER, made, settled

from isolith.http import executions
from isolith.journal import Journal

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def forker() -> Iterator[Forker]:
    with Forker("tests.host.journal.keyed") as started:
        yield started


async def test_it_is_begun_once_and_ends(
    new_url: Callable[[], str], forker: Forker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executions, "_BEGINS", timedelta(0))  # whoever claimed the key has had its time
    for side in ("before", "after"):
        at = 0
        while True:
            at += 1
            effects, own = tmp_path / f"effects-{at}-{side}", new_url()
            code, said = forker.run(own, effects, at, side)
            if code == 0:
                break  # it had fewer writes than that
            assert code == -signal.SIGKILL, said
            async with await Journal.open(own, LATER) as journal:
                answered = await settled(journal)
                outcome = await asked(journal, effects)
                assert not (await journal.records.verify()).findings
                [execution] = await journal.executions.find()
            assert (outcome["status"], outcome["value"]) == ("completed", ["got 1", "got 2"]), at
            assert execution.execution_id == outcome["execution_id"]
            done = made(effects)
            assert {n: done[n] for n in answered} == dict.fromkeys(answered, 1), at
            assert set(done) == set("12"), at
            assert sum(done.values()) <= 3, at  # what was under way was unknown, and let be made again
        assert at > 8
