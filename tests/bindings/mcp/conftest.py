"""Real servers for the tests: from npm and from PyPI, and those of fixtures/mcp."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from filelock import FileLock
from tests.npm import npm

PACKAGES = ("server-everything", "server-filesystem", "server-memory")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def npm_servers(request: pytest.FixtureRequest) -> Path:
    """The folder of the programs of three servers from npm, installed once into pytest's cache folder."""
    program = npm()
    folder = Path(request.config.cache.mkdir("mcp-npm"))
    programs = folder / "node_modules" / ".bin"
    with FileLock(folder / "lock"):
        if not all((programs / f"mcp-{package}").exists() for package in PACKAGES):
            names = [f"@modelcontextprotocol/{package}@2026.8.31" for package in PACKAGES]
            command = [program, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *names]
            subprocess.run(command, check=True, capture_output=True, timeout=240)
    return programs


def until_gone(pid: int, seconds: float = 240) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            told = Path(f"/proc/{pid}/stat").read_text() if Path("/proc/self/stat").exists() else ") S"
        except (ProcessLookupError, FileNotFoundError):  # its file goes when it is waited for: perhaps just now
            return True
        if told.rsplit(")", 1)[1][1] == "Z":
            return True
        time.sleep(0.02)
    return False
