"""Secrets in the places where a process keeps them, a desk for the scripts, and the image built ahead of any test."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.security.desk import CANARY, SPARING, Desk

from isolith import CodeMode
from isolith.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

os.environ["ISOLITH_TEST_SECRET"] = f"{CANARY}-environment"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The product lives in asyncio's loop."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    """Build the image where there is none, outside of any test's time."""
    get_supply()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def code_mode(desk: Desk) -> AsyncGenerator[CodeMode]:
    # Without the check, so that every script reaches the wall that it is written against.
    async with CodeMode([desk], check="off", policy=SPARING) as made:
        yield made
