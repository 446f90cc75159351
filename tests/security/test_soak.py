"""Threads, descriptors and memory end where they began. `ISOLITH_SOAK=10000` for the long run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNT = int(os.environ.get("ISOLITH_SOAK", "150"))
GROWTH = 0.05
"""How much larger resident memory may be at the end, beside `SLACK_BYTES` that an allocator keeps."""
SLACK_BYTES = 24 * 1024 * 1024


@pytest.mark.slow
@pytest.mark.timeout(300 + COUNT)
def test_nothing_is_left_of_many_executions(record_property: Callable[[str, object], None]) -> None:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "tests.security.soak_process", str(COUNT)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=280 + COUNT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    numbers = json.loads(done.stdout)
    record_property("soak", numbers)
    before, after = numbers["before"], numbers["after"]
    assert numbers["wrong"] == []
    assert after["threads"] <= before["threads"]
    assert after["descriptors"] <= before["descriptors"]
    assert after["resident"] <= before["resident"] * (1 + GROWTH) + SLACK_BYTES, numbers
