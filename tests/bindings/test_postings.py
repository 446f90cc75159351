"""Which entries are looked at for a query: those that hold most of it, and what is gone is not among them."""

from __future__ import annotations

import pytest

from isolith_bindings.postings import MOST_TERMS, Postings, row_of
from isolith_bindings.query import Term


def term(*meanings: str, rarity: int = 0, weight: float = 1.0) -> Term:
    return Term(dict.fromkeys(meanings, 1.0), weight, rarity)


ENTRIES = {1: {"issu": 1.0, "list": 1.0}, 2: {"issu": 0.35, "close": 1.0}, 3: {"list": 1.0}}


def some() -> Postings:
    postings = Postings()
    for row, places in ENTRIES.items():
        postings.add(row, places)
    return postings


def test_those_that_hold_most_come_first() -> None:
    assert some().best([term("issu"), term("close")], 3, 10, None) == [2, 1]
    assert some().best([term("issu"), term("list")], 3, 1, None) == [1]


def test_a_word_stands_for_any_of_its_meanings_and_counts_once() -> None:
    assert some().best([term("issu", "list"), term("close", weight=0.5)], 3, 10, None) == [2, 1, 3]


def test_what_holds_a_word_as_it_is_said_is_before_what_holds_another_that_may_be_meant() -> None:
    """There may be more of these than are looked at: `star a repo` found a hundred methods that start something."""
    postings = Postings()
    for row in range(5):
        postings.add(row, {"start": 1.0, "repo": 1.0})
    postings.add(9, {"star": 0.35, "repo": 1.0})
    star = Term({"star": 1.0, "start": 0.85}, 5.0, 6)
    assert postings.best([star, term("repo")], 6, 3, None) == [9, 0, 1]
    assert postings.best([star], 6, 3, None) == [0, 1, 2], "a name that may be meant is before a word deep in a text"
    begun = Term({"start": 0.8}, 5.0, 5)
    assert postings.best([begun, term("repo")], 6, 2, None) == [0, 1]


def test_what_is_called_so_is_before_what_says_so() -> None:
    postings = some()
    postings.add(0, {"issu": 0.35})
    assert postings.best([term("issu")], 4, 10, None) == [1, 0, 2]


def test_of_those_that_are_called_so_the_shortest_name_is_first() -> None:
    postings = Postings()
    rows = [row_of(length, sequence) for sequence, length in enumerate((3, 1, 2, 10**6))]
    for row in rows:
        postings.add(row, {"issu": 1.0})
    assert postings.best([term("issu")], 4, 10, None) == [rows[1], rows[2], rows[0], rows[3]]


def test_a_common_word_chooses_nothing_and_still_counts() -> None:
    common = term("list", rarity=5_000)
    assert some().best([common, term("issu")], 10_000, 10, None) == [1, 2]
    assert some().best([common], 10_000, 10, None) == [1, 3]
    assert some().best([common, term("close")], 10_000, 10, lambda row: row != 2) == [1, 3]


def test_the_words_that_say_most_choose() -> None:
    """Of many, none of which is said together with another."""
    others = [term(f"word{number}", weight=0.1) for number in range(MOST_TERMS)]
    assert some().best([*others, term("close"), term("list", weight=0.5)], 3, 10, None) == [2, 1, 3]
    heavier = [term(f"word{number}", weight=2.0) for number in range(MOST_TERMS)]
    assert some().best([*heavier, term("close")], 3, 10, None) == []


@pytest.mark.parametrize("stem", ["東京", "น้", "ñandú", "naïv", "o2", "and", "or", "not", "near", "named", "7"])
def test_words_of_any_script_and_those_of_the_query_language_are_words(stem: str) -> None:
    postings = some()
    postings.add(9, {stem: 1.0})
    assert postings.best([term(stem), term("other")], 4, 10, None) == [9]
    postings.remove(9, {stem: 1.0})
    assert postings.best([term(stem)], 3, 10, None) == []


def test_what_is_left_out_and_what_is_gone() -> None:
    postings = some()
    assert postings.best([term("issu")], 3, 1, lambda row: row != 1) == [2]
    postings.remove(1, ENTRIES[1])
    assert postings.best([term("issu")], 2, 10, None) == [2]
    postings.remove(2, ENTRIES[2])
    assert postings.best([term("issu"), term("never")], 1, 10, None) == []
    assert postings.best([], 1, 10, None) == []
