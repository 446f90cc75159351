"""What every adapter is asked to do, over one set of tools; no test has a model or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector, method
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@connector("crm")
class Crm:
    """Contacts of a company."""

    def __init__(self) -> None:
        self.deleted: list[int] = []

    async def revenue(self, year: int) -> int:
        """Revenue of one year."""
        return year * 2

    @method(policy="ask")
    async def delete(self, id: int) -> str:  # noqa: A002
        """Delete one contact."""
        self.deleted.append(id)
        return f"deleted {id}"


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    get_supply()


@pytest.fixture
def crm() -> Crm:
    return Crm()


@pytest.fixture
async def code_mode(crm: Crm) -> AsyncGenerator[CodeMode]:
    async with CodeMode([crm]) as made:
        yield made


@pytest.fixture
def deleted(crm: Crm) -> list[int]:
    return crm.deleted
