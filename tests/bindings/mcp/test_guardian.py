"""What a process has started ends although that process is killed; what it has let go of does not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification
from tests.bindings.mcp.conftest import until_gone

from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.stdio import Program, stdio_streams

if TYPE_CHECKING:
    from pathlib import Path

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


STARTED = """
import asyncio, os, signal, sys
from isolith_bindings.mcp import guardian
from isolith_bindings.mcp.descriptions import StdioServer
from isolith_bindings.mcp.stdio import Program, stdio_streams

def killed(group):
    print(group, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    server = StdioServer("sh", ("-c", f"echo began > {sys.argv[1]}; sleep 1077"))
    async with stdio_streams(server, Program()):
        raise AssertionError("not reached")

guardian.watch = killed
asyncio.run(main())
"""


def test_a_program_whose_starter_is_killed_before_it_is_watched_never_begins(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    done = subprocess.run(
        [sys.executable, "-c", STARTED, str(mark)], stdout=subprocess.PIPE, text=True, timeout=240, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert until_gone(int(done.stdout))
    assert not mark.exists()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["NAME", "a-name"])
async def test_a_program_has_every_variable_whatever_its_name(tmp_path: Path, name: str) -> None:
    """A shell drops those whose names are none of its own: such a program begins without one."""
    found = tmp_path / "found"
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ[sys.argv[2]] + sys.stdin.readline())"
    server = StdioServer(sys.executable, ("-c", code, str(found), name), env={name: "a value "})
    async with stdio_streams(server, Program()) as (_, writing):
        await writing.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="hello")))
        async with asyncio.timeout(240):
            while not found.exists() or not found.read_text().endswith("\n"):
                await asyncio.sleep(0.01)
    said, _, message = found.read_text().partition(" value ")
    assert (said, json.loads(message)["method"]) == ("a", "hello")


@pytest.mark.parametrize("guardian", ["lives", "killed"])
def test_what_is_watched_ends_with_the_process_that_started_it(guardian: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, guardian], stdout=subprocess.PIPE, text=True, timeout=240, check=False
    )
    assert done.returncode == -signal.SIGKILL
    first, second, third = map(int, done.stdout.split())
    try:
        assert until_gone(first)
        assert until_gone(third)
        os.kill(second, 0)
    finally:
        os.killpg(second, signal.SIGKILL)
    assert until_gone(second)
