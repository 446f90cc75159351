"""The command line as a process among others: Ctrl-C, a closed pipe, ten of them at once, a locale that is not UTF-8."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING

import pytest
from tests.e2e.conftest import isolith_command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Isolith

CONNECTOR = """
import asyncio, sys
from isolith import connector

@connector("tool")
class Tool:
    async def hang(self) -> None:
        print("called", file=sys.stderr, flush=True)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("cancelled in the tool", file=sys.stderr, flush=True)
            raise
"""


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [isolith_command(), "run", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, **environment},
    )


def wait_for(stream: IO[str] | None, text: str) -> None:
    assert stream is not None
    for line in stream:
        if text in line:
            return
    pytest.fail(f"{text!r} never came")


@pytest.mark.parametrize(
    "script", ["print('go')\nwhile True: pass", "print('go')\ntool.hang()", "print('go')\nawait asyncio.sleep(3600)"]
)
def test_ctrl_c_cancels_and_the_outcome_is_still_answered(tmp_path: Path, script: str) -> None:
    (tmp_path / "tool.py").write_text(CONNECTOR)
    process = started(
        tmp_path, "-c", script, "--connect", "tool.py", "--stream", "--cpu-ms", "60000", "--timeout", "3600"
    )
    wait_for(process.stdout, "call_started" if "hang" in script else "go")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    last = json.loads(out.splitlines()[-1])
    assert (process.returncode, last["status"], last["error"]["kind"]) == (1, "cancelled", "cancelled")
    assert [call["status"] for call in last["calls"]] == (["cancelled"] if "hang" in script else [])
    assert ("cancelled in the tool" in err) == ("hang" in script)
    assert "Traceback" not in err


def test_ctrl_c_in_words(tmp_path: Path) -> None:
    process = started(tmp_path, "-c", "print('go')\nwhile True: pass", "--cpu-ms", "60000")
    wait_for(process.stderr, "go")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[0] == "error[cancelled]: the run was cancelled from outside"
    assert "Traceback" not in err


def test_a_reader_that_goes_away_ends_it_without_a_word(tmp_path: Path) -> None:
    process = started(tmp_path, "-c", "for n in range(10_000):\n    emit('x' * 1000)", "--stream")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(240) != 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()


def test_ten_at_once(tmp_path: Path) -> None:
    processes = [started(tmp_path, "-c", f"input * {n}", "--input", "3", "--json") for n in range(10)]
    for n, process in enumerate(processes):
        out, err = process.communicate(timeout=240)
        assert (process.returncode, err, json.loads(out)["value"]) == (0, "", 3 * n)


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_the_locale_changes_nothing(tmp_path: Path, locale: str) -> None:
    process = started(tmp_path, "-c", "print('grün ✓')\n'日本 \\u2028'", LC_ALL=locale, LANG=locale, PYTHONUTF8="0")
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out, err) == (0, "日本 \u2028\n", "grün ✓\n")


def test_the_environment_of_the_process_is_not_the_script_s(isolith: Isolith) -> None:
    done = isolith("run", "-c", "import os\nlen(os.environ)", "--json")
    assert json.loads(done.stdout)["value"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminal there")
def test_on_a_terminal_value_type_logs_calls_and_usage_are_shown(tmp_path: Path) -> None:
    import pty

    (tmp_path / "tool.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    master, slave = pty.openpty()
    command = [isolith_command(), "run", "-c", "print('a line')\n{'sum': tool.add(a=1, b=2)}", "--connect", "tool.py"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "1"}
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, env=environment)
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(master)
    assert process.wait(240) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    for part in ("a line", "{'sum': 3}", "tool.add", "completed", "dict[str, int]", "1 call", "ms CPU", "MiB"):
        assert part in text
