"""Kill -9 at every write of an execution, before and after the commit; then another process goes on with it."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from tests.host.journal.runner import EXPECTED

from isolith.journal import Journal

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(600)]


def run(url: str, effects: Path, *killed: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.host.journal.runner", url, effects, *killed],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


async def settled(url: str) -> set[str]:
    """The numbers of the calls that had an outcome when the process was killed."""
    async with await Journal.open(url) as journal:
        calls = [call for each in await journal.executions.find() for call in await journal.calls.of(each.execution_id)]
    return {
        str(cast("dict[str, int]", json.loads(call.arguments))["n"])
        for call in calls
        if call.status in {"completed", "failed"}
    }


@pytest.mark.parametrize("side", ["before", "after"])
async def test_whatever_was_answered_is_not_done_again_and_the_run_ends(
    new_url: Callable[[], str], side: str, tmp_path: Path
) -> None:
    at = 0
    while True:
        at += 1
        effects, own = tmp_path / f"effects-{at}", new_url()
        died = run(own, effects, str(at), side)
        if died.returncode == 0:
            break  # it had fewer writes than that
        assert died.returncode == -signal.SIGKILL, died.stderr
        answered = await settled(own)
        ended = run(own, effects)
        assert ended.returncode == 0, (at, ended.stderr)
        outcome = json.loads(ended.stdout)
        assert (outcome["status"], outcome["value"]) == ("completed", EXPECTED), (at, outcome["error"])
        made = collections.Counter(effects.read_text().split())
        assert {n: made[n] for n in answered} == dict.fromkeys(answered, 1), at
        assert set(made) == set("12345"), at
        assert max(made.values()) <= 2, at  # a person let what was unknown be made again
        assert sum(made.values()) <= 6, at  # and only what was under way
    assert at > 12
