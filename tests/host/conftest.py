"""The host's tests run in asyncio's loop, as the host does; those that want a journal run over SQLite and over Postgres."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import create_engine, text
from tests.host.journal.support import Clock

from isolith.journal import Journal, Settings


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


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
