"""A mark that stands for what was cut out of a value is known again, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.cuts import MORE_KEYS, mark_in, more_characters, more_items, more_keys


@given(st.integers(1, 10**12), st.text())
def test_each_mark_is_known(number: int, text: str) -> None:
    assert mark_in([1, more_items(number)]) == more_items(number)
    assert mark_in({"a": ({"b": text + more_characters(number)},)}) == more_characters(number)
    assert mark_in({"a": 1, MORE_KEYS: more_keys(number)}) == more_keys(number)


@pytest.mark.parametrize(
    "value",
    [
        *("", "…", "and so on …", "… more items", "12 more items", "… 12 more items are on their way", "12 more keys"),
        *({"…": "and so on"}, {"…": 3}, {"a": "12 more keys"}, [None, 1.5, b"\xe2\x80\xa6"], "(+3 characters)"),
    ],
)
def test_what_only_looks_like_one_is_none(value: object) -> None:
    assert mark_in(value) is None
