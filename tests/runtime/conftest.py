"""Scripts run in a real guest, without the host around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith_runtime.testing import Scripts

if TYPE_CHECKING:
    from isolith_runtime.driver import Supply


@pytest.fixture(scope="session")
def scripts(supply: Supply) -> Scripts:
    return Scripts(supply)
