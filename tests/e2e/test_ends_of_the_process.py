"""However a command ends, no server that it has started runs on: not after SIGTERM, and not after SIGKILL."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest
from tests.e2e.conftest import isolith_command

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")]
SERVER = Path(__file__).parents[2] / "fixtures" / "mcp" / "raw_server.py"
MARK = "ISOLITH_TEST_MARK"
PATIENCE_S = 240.0

# Takes no notice of its input, nor of SIGTERM, and has started something of its own.
STUBBORN = ("sh", ["-c", "trap '' TERM; sleep 1077 & sleep 1077; sleep 1077"])
HANGS_IN_A_CALL = (sys.executable, [str(SERVER), "hang", "trace=TRACE"])


def running(mark: str) -> list[int]:
    found: list[int] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def until(holds: object, mark: str, trace: Path) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if holds == "called" and trace.exists() and "call echo" in trace.read_text():
            return True
        if isinstance(holds, int) and len(running(mark)) == holds:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL], ids=["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize(
    ("server", "begun"), [(STUBBORN, 3), (HANGS_IN_A_CALL, "called")], ids=["hangs at its start", "hangs in a call"]
)
def test_no_server_is_left(
    tmp_path: Path, end: signal.Signals, server: tuple[str, list[str]], begun: int | str
) -> None:
    mark, trace = uuid.uuid4().hex, tmp_path / "trace"
    command, arguments = server
    arguments = [argument.replace("TRACE", str(trace)) for argument in arguments]
    entry = {"command": command, "args": arguments, "env": {MARK: mark}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"box": entry}}))
    process = subprocess.Popen(
        [isolith_command(), "run", "--connect", "mcp.json", "-c", "await box.echo(n=1)"],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert until(begun, mark, trace)
        process.send_signal(end)
        _, said = process.communicate(timeout=PATIENCE_S)
        assert until(0, mark, trace), running(mark)
    finally:
        process.kill()
    if end is signal.SIGTERM:
        assert process.returncode in {1, 128 + signal.SIGTERM}
        assert "Traceback" not in said
    else:
        assert process.returncode == -signal.SIGKILL
