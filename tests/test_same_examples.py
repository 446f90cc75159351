"""A property is tried with the same examples, whatever was imported before it."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif("ISOLITH_EXPLORE" in os.environ, reason="new examples are asked for")
def test_an_import_changes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, str]] = []

    @settings(max_examples=1000)
    @given(st.integers(), st.text())
    def draw(number: int, text: str) -> None:
        drawn.append((number, text))

    def examples() -> list[tuple[int, str]]:
        drawn.clear()
        draw()
        return drawn.copy()

    before = examples()
    path = tmp_path / "constants.py"
    path.write_text("\n".join(f"A{number} = {number + 123_456}, 'text {number}'" for number in range(100)))
    spec = importlib.util.spec_from_file_location("constants_of_a_test", path)
    assert spec is not None
    monkeypatch.setitem(sys.modules, "constants_of_a_test", importlib.util.module_from_spec(spec))
    assert examples() == before
    assert len(before) > 500
