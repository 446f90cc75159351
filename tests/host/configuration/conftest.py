"""A folder of files that are connected, whose modules no other test finds loaded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


@pytest.fixture
def imports_are_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield
    assert sys.path == path
    for name in set(sys.modules) - modules:
        if _is_within(tmp_path, sys.modules[name]):
            del sys.modules[name]


def _is_within(folder: Path, module: ModuleType) -> bool:
    """Others that were first imported meanwhile stay: a second time they would be other modules, with other classes."""
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place is not None and Path(place).is_relative_to(folder) for place in places)
