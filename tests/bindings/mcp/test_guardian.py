"""What a process has started ends although that process is killed; what it has let go of does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from tests.bindings.mcp.conftest import until_gone

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="there is none")]

KILLED = """
import os, signal, subprocess, sys
import psutil
from isolith_bindings.mcp import guardian

def stubborn():
    return subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; sleep 1077; sleep 1077"], start_new_session=True, stdout=subprocess.PIPE
    )

first, second, third = (stubborn() for _ in range(3))
for process in (first, second, third):
    process.stdout.readline()
guardian.watch(first.pid)
guardian.watch(second.pid)
if sys.argv[1] == "killed":
    mine = {first.pid, second.pid, third.pid}
    [shell] = [child for child in psutil.Process().children() if child.pid not in mine]
    shell.kill()
    shell.wait()
guardian.forget(second.pid)
guardian.watch(third.pid)
print(first.pid, second.pid, third.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("guardian", ["lives", "killed"])
def test_what_is_watched_ends_with_the_process_that_started_it(guardian: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, guardian], stdout=subprocess.PIPE, text=True, timeout=240, check=False
    )
    assert done.returncode == -signal.SIGKILL
    first, second, third = map(int, done.stdout.split())
    try:
        assert until_gone(first, 30)
        assert until_gone(third, 30)
        os.kill(second, 0)
    finally:
        os.killpg(second, signal.SIGKILL)
    assert until_gone(second, 30)
