"""Cutting a value by its shape."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith.json_form import to_json_text
from isolith.shortening import CHARACTERS_PER_TOKEN, shorten

DATA = st.recursive(
    st.none() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
    max_leaves=40,
)


@given(DATA, st.integers(1, 300))
def test_the_cut_always_fits_and_is_data(value: object, tokens: int) -> None:
    assert len(to_json_text(shorten(value, tokens))) <= tokens * CHARACTERS_PER_TOKEN


@given(DATA)
def test_what_fits_stays_as_it_is(value: object) -> None:
    cut = shorten(value, 100_000)
    assert to_json_text(cut) == to_json_text(value)


@pytest.mark.parametrize(
    ("value", "tokens", "cut"),
    [
        (list(range(1000)), 50, [*range(40), "… 960 more items"]),
        ("a" * 1000, 50, "a" * 160 + "… (+840 characters)"),
        ({f"k{n}": n for n in range(500)}, 20, {**{f"k{n}": n for n in range(6)}, "…": "494 more keys"}),
        (b"x" * 999, 20, "<999 bytes>"),
        (1 << 5000, 20, "<integer of 5,001 bits>"),
        ({"rows": [{"id": n, "text": "t" * 90} for n in range(99)]}, 60, None),
        ([[[[[[[[[[[[[[[1]]]]]]]]]]]]]]], 20, None),
        (list(range(10_000)), 1, "<l"),
    ],
)
def test_what_was_cut_is_said(value: object, tokens: int, cut: object) -> None:
    found = shorten(value, tokens)
    assert len(to_json_text(found)) <= tokens * CHARACTERS_PER_TOKEN
    if cut is not None:
        assert found == cut


def test_the_work_does_not_grow_with_what_is_cut_off() -> None:
    shared: object = "leaf"
    for _ in range(60):
        shared = [shared] * 50
    begun = time.perf_counter()
    shorten(shared, 100)
    assert time.perf_counter() - begun < 5
