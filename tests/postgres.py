"""A Postgres for the tests, installed and started here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def cluster() -> Generator[str]:
    """A cluster on a socket in a folder of its own, and its URL; gone afterwards."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="isolith-pg-"))
    user = "nobody" if os.getuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        done = subprocess.run(
            [programs / program, *arguments],
            user=user,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "isolith", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
    options = f"-k {folder} -c listen_addresses= -c fsync=off -c deadlock_timeout=100ms"
    run("pg_ctl", "-D", data, "-w", "-t", "240", "-o", options, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql://isolith@/postgres?host={quote(str(folder), safe='')}"
    finally:
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)


def _programs() -> Path:
    # One process at a time: another may be putting them there just now, and the first of them is no proof of the rest.
    with FileLock(Path(tempfile.gettempdir()) / f"isolith-tests-postgres-{os.getuid()}.lock"):
        found = _installed()
        if found is None and os.getuid() == 0 and shutil.which("apt-get"):
            subprocess.run(
                ["apt-get", "-o", "DPkg::Lock::Timeout=240", "install", "-y", "-qq", "postgresql"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            found = _installed()
    if found is None:
        pytest.skip("no Postgres here: install it, so that its `initdb` is on the path")
    return found


def _installed() -> Path | None:
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "pg_ctl").exists()), None)
