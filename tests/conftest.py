"""What every test may use: the supply of guests of this process, from the user's own image store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith.supply import get_supply

if TYPE_CHECKING:
    from isolith_runtime.driver import Supply


@pytest.fixture(scope="session")
def supply() -> Supply:
    """Builds the image where there is none, which takes half a minute."""
    return get_supply()
