"""What tests from npm need. Without it they are left out; where CI runs, which has all that the README names, they fail."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest

_WHY = "npm is not installed: the README names it among what is needed"


def npm() -> str:
    """Where npm is."""
    found = shutil.which("npm")
    return missing() if found is None else found


def missing() -> NoReturn:
    """It is not there."""
    if os.environ.get("CI"):
        pytest.fail(_WHY)
    pytest.skip(_WHY)
