"""Prints how long it takes, by the clock on the wall, until a cancelled run is gone and its call cancelled upstream.

    python tests/benchmark/cancelling.py [TIMES]

Cancelled by `execution.cancel()`, by Ctrl-C in the command line, and by clients of `isolith serve` that close their
pipe or their connection. The script computes without end, with a call under way; the call is cancelled only when the
guest is gone, so one number stands for both.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from json import dumps
from pathlib import Path
from urllib.parse import urlsplit

from isolith import Budgets, CodeMode, connector

BUSY = "call = asyncio.create_task(tool.hang())\nawait asyncio.sleep(0)\nprint('asked')\nwhile True: pass"
BUDGETS = {"cpu_ms": 60_000}
TOOL = """
import asyncio, time
from pathlib import Path
from isolith import connector

@connector("tool")
class Tool:
    async def hang(self) -> None:
        Path("begun").touch()
        try:
            await asyncio.Event().wait()
        finally:
            Path("found").write_text(str(time.monotonic_ns()))
            Path("found").rename("ended")
"""
HEAD = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: execute\r\n"
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "execute", "arguments": {"code": BUSY, "budgets": BUDGETS}, "_meta": META},
}
ISOLITH = str(Path(sys.executable).with_name("isolith"))
Found = tuple[float, float]
"""Milliseconds from the cancellation until the call is cancelled upstream, and until there is an answer, or an end."""


@connector("tool")
class Tool:
    """In this process."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.ended = 0

    async def hang(self) -> None:
        """Until it is cancelled."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = time.monotonic_ns()


async def library() -> Found:
    """By `execution.cancel()`, to the outcome."""
    tool = Tool()
    async with CodeMode([tool]) as code_mode:
        execution = code_mode.start(BUSY, budgets=Budgets(cpu_ms=60_000))
        await tool.begun.wait()
        await asyncio.sleep(0.05)
        begun = time.monotonic_ns()
        execution.cancel()
        await execution.outcome()
        done = time.monotonic_ns()
    return (tool.ended - begun) / 1e6, (done - begun) / 1e6


def _appears(path: Path) -> Path:
    while not path.exists():
        time.sleep(0.002)
    return path


def ctrl_c(folder: Path) -> Found:
    """From the signal on, to the end of the process."""
    command = [ISOLITH, "run", "-c", BUSY, "--connect", "tool.py", "--cpu-ms", "60000", "--json"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)
    _appears(folder / "begun")
    begun = time.monotonic_ns()
    process.send_signal(signal.SIGINT)
    process.communicate()
    done = time.monotonic_ns()
    return (int((folder / "ended").read_text()) - begun) / 1e6, (done - begun) / 1e6


def closed_pipe(folder: Path) -> Found:
    """From the moment that the pipe is closed; to the end of the server."""
    command = [ISOLITH, "serve", "--stdio", "--connect", "tool.py"]
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(dumps(CALL).encode() + b"\n")
    process.stdin.flush()
    _appears(folder / "begun")
    begun = time.monotonic_ns()
    process.stdin.close()
    process.wait()
    done = time.monotonic_ns()
    return (int((folder / "ended").read_text()) - begun) / 1e6, (done - begun) / 1e6


def closed_connection(folder: Path) -> Found:
    """From the moment that the connection is closed; the server goes on."""
    command = [ISOLITH, "serve", "--http", "127.0.0.1:0", "--no-auth", "--connect", "tool.py"]
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "300"}
    )
    assert process.stderr is not None
    while not (found := re.search(r"serving (http://\S+)", process.stderr.readline())):
        pass
    url = urlsplit(found[1])
    assert url.hostname is not None
    body = dumps(CALL)
    with socket.create_connection((url.hostname, url.port or 80)) as connection:
        head = f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\n{HEAD}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall((head + body).encode())
        _appears(folder / "begun")
        begun = time.monotonic_ns()
    ended = int(_appears(folder / "ended").read_text())
    process.send_signal(signal.SIGTERM)
    process.wait()
    return (ended - begun) / 1e6, float("nan")


def in_a_folder(way: Callable[[Path], Found]) -> Found:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "tool.py").write_text(TOOL)
        return way(Path(name))


def main(times: int) -> None:
    asyncio.run(library())  # the image is there from now on
    ways = {
        "execution.cancel()": [asyncio.run(library()) for _ in range(times)],
        "Ctrl-C": [in_a_folder(ctrl_c) for _ in range(times)],
        "a closed pipe": [in_a_folder(closed_pipe) for _ in range(times)],
        "a closed connection": [in_a_folder(closed_connection) for _ in range(times)],
    }
    for name, found in ways.items():
        gone, done = ([each[place] for each in found] for place in (0, 1))
        end = (
            "the server goes on" if math.isnan(done[0]) else f"answered or ended after {statistics.median(done):.0f} ms"
        )
        soon, late = statistics.median(gone), max(gone)
        sys.stdout.write(f"{name:20} gone, its call cancelled: median {soon:.0f} ms, at most {late:.0f} ms; {end}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
