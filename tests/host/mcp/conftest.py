"""What every test of the MCP server runs on; each module says what is connected, as `crm`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator


@pytest.fixture(autouse=True, scope="session")
def image() -> None:
    get_supply()


@pytest.fixture
async def code_mode(crm: object) -> AsyncGenerator[CodeMode]:
    async with CodeMode([crm]) as made:
        yield made
