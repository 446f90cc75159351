"""Cutting a value by its shape."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.check.corpus import shop

from isolith.json_form import to_json_text
from isolith.run.shortening import shorten
from isolith_bindings.check import check
from isolith_bindings.cuts import mark_in
from isolith_bindings.tokens import count

DATA = st.recursive(
    st.none() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
    max_leaves=40,
)


@settings(deadline=None)  # the first count loads the vocabulary
@given(DATA, st.integers(1, 300))
def test_the_cut_always_fits_and_is_data(value: object, tokens: int) -> None:
    assert count(to_json_text(shorten(value, tokens))) <= tokens


@given(DATA)
def test_what_fits_stays_as_it_is(value: object) -> None:
    cut = shorten(value, 100_000)
    assert to_json_text(cut) == to_json_text(value)


@pytest.mark.parametrize(
    ("value", "tokens", "cut"),
    [
        (list(range(1000)), 130, [*range(40), "… 960 more items"]),
        ("a" * 1000, 50, "a" * 160 + "… (+840 characters)"),
        ({f"k{n}": n for n in range(500)}, 60, {**{f"k{n}": n for n in range(6)}, "…": "494 more keys"}),
        (b"x" * 999, 20, "<999 bytes>"),
        (1 << 5000, 20, "<integer of 5,001 bits>"),
        ({"rows": [{"id": n, "text": "t" * 90} for n in range(99)]}, 60, None),
        ([[[[[[[[[[[[[[[1]]]]]]]]]]]]]]], 20, None),
        (list(range(10_000)), 8, "<list, too large to show>"),
    ],
)
def test_what_was_cut_is_said(value: object, tokens: int, cut: object) -> None:
    found = shorten(value, tokens)
    assert count(to_json_text(found)) <= tokens
    if cut is not None:
        assert found == cut


def test_where_not_even_that_fits_it_is_no_value_of_a_script() -> None:
    assert shorten(list(range(10_000)), 7) == "…"
    assert shorten(list(range(10_000)), 1) is None


def test_the_work_does_not_grow_with_what_is_cut_off() -> None:
    shared: object = "leaf"
    for _ in range(60):
        shared = [shared] * 50
    begun = time.perf_counter()
    shorten(shared, 100)
    assert time.perf_counter() - begun < 100  # all of it would be 50 to the power of 60 leaves


@pytest.mark.parametrize("value", [list(range(10_000)), "x" * 100_000, {str(each): each for each in range(10_000)}])
def test_what_was_cut_is_known_where_it_is_pasted_back(value: object) -> None:
    shown = shorten(value, 200)
    assert mark_in(shown) is not None
    report = check(f"await notes.put(key='a', value={shown!r})", shop())
    assert report.fatal is not None
    assert (report.fatal.kind, report.fatal.line) == ("invalid_arguments", 1)
    assert "which stands for what was left out" in report.fatal.message
    assert check(f"await notes.put(key='a', value={shown!r}[:1])", shop()).findings == ()
