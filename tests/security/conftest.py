"""Secrets in the places where they are kept, in the process and in files, a desk for the scripts, and the image built
ahead of any test.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.security.broken_connector import BrokenConnector
from tests.security.configured import Upstream, upstream
from tests.security.desk import CANARY, SPARING, Desk, api

from isolith import CodeMode
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

PLANTED = {
    "ISOLITH_TEST_SECRET": f"{CANARY}-environment",
    "AWS_SECRET_ACCESS_KEY": f"{CANARY}-aws",
    "DATABASE_URL": f"postgres://user:{CANARY}-url@host/db",
    f"{CANARY}_NAME": "a secret name",
}
os.environ.update(PLANTED)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The product lives in asyncio's loop."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    """Build the image where there is none, outside of any test's time."""
    get_supply()


@pytest.fixture(scope="session")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file in which every hostile run is kept, to be searched when all of them have ended."""
    return tmp_path_factory.mktemp("journal") / "journal.db"


@pytest.fixture(scope="session")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Generator[Upstream]:
    """Configuration files with secrets in them, and the servers that are sent these."""
    with upstream(tmp_path_factory.mktemp("configured")) as made:
        yield made


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def code_mode(desk: Desk, journal: Path, configured: Upstream) -> AsyncGenerator[CodeMode]:
    # Without the check, so that every script reaches the wall that it is written against.
    connectors = [desk, BrokenConnector(), api(), *configured.connectors()]
    async with CodeMode(connectors, check="off", policy=SPARING, journal=journal, tend=False) as made:
        yield made
