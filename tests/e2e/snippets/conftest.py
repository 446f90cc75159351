"""A code mode over a connector whose effects are seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.e2e.crm import Done, crm_of

from isolith import CodeMode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def done() -> Done:
    return Done()


@pytest.fixture
async def code_mode(done: Done, tmp_path: Path) -> AsyncIterator[CodeMode]:
    async with CodeMode([crm_of(done)], journal=tmp_path / "journal.db") as made:
        yield made
