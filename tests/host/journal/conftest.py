"""Journals to test: each test runs over SQLite and over a Postgres that is started here, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import create_engine, text
from tests.host.journal.support import Clock

from isolith.journal import Journal, Settings


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A cluster on a socket in a folder of its own, and its URL; gone after the tests."""
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
    run("pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start")
    try:
        yield f"postgresql://isolith@/postgres?host={quote(str(folder), safe='')}"
    finally:
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder)


def _programs() -> Path:
    found = _installed()
    if found is None and os.getuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-qq", "postgresql"], check=True, stdout=subprocess.DEVNULL)
        found = _installed()
    if found is None:
        pytest.skip("no Postgres here: install it, so that its `initdb` is on the path")
    return found


def _installed() -> Path | None:
    on_path = shutil.which("initdb")
    folders = [Path(on_path).parent] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "pg_ctl").exists()), None)


@pytest.fixture(params=["sqlite", "postgres"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Where a journal of its own can be made, a new place each time."""
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path / f'journal-{uuid.uuid4().hex}.db'}"
    server: str = request.getfixturevalue("postgres")

    def schema() -> str:
        name = f"test_{uuid.uuid4().hex}"
        engine = create_engine(server.replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:
            connection.execute(text(f"CREATE SCHEMA {name}"))
        engine.dispose()
        return f"{server}&options={quote(f'-csearch_path={name}')}"

    return schema


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    """Where a journal of this test's own can be made."""
    return new_url()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def journal(url: str, clock: Clock) -> AsyncIterator[Journal]:
    async with await Journal.open(url, Settings(clock=clock)) as opened:
        yield opened


@pytest.fixture
async def other(url: str, clock: Clock, journal: Journal) -> AsyncIterator[Journal]:
    """The same journal, as another host has it."""
    async with await Journal.open(url, Settings(clock=clock)) as opened:
        yield opened
