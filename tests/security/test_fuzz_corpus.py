"""What fuzzing began with and what it found, given again to what was fuzzed: see `fuzz.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.fuzz_targets import TARGETS

KEPT = Path(__file__).parents[2] / "fixtures" / "fuzz"
FILES = sorted(path for path in KEPT.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_what_was_kept(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())  # some took hours


def test_there_is_something_of_each() -> None:
    assert {path.parent.name for path in FILES} == set(TARGETS)


@pytest.mark.parametrize("name", TARGETS)
@given(data=st.binary(max_size=300))
def test_any_bytes(name: str, data: bytes) -> None:
    TARGETS[name](data)
