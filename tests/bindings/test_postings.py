"""Which entries are looked at for a query: those that hold most of it, and what is gone is not among them."""

from __future__ import annotations

from isolith_bindings.postings import Postings
from isolith_bindings.query import Term


def term(*meanings: str, rarity: int = 1, weight: float = 1.0) -> Term:
    return Term(dict.fromkeys(meanings, 1.0), weight, rarity)


def some() -> Postings:
    postings = Postings()
    postings.add(1, {"issu": 1.0, "list": 1.0})
    postings.add(2, {"issu": 0.35, "close": 1.0})
    postings.add(3, {"list": 1.0})
    return postings


def test_those_that_hold_most_come_first() -> None:
    assert some().best([term("issu"), term("close")], 3, 10, None) == [2, 1]
    assert some().best([term("issu"), term("list")], 3, 1, None) == [1]


def test_a_word_counts_by_its_best_meaning_only() -> None:
    assert some().best([term("issu", "list"), term("close", weight=0.5)], 3, 10, None) == [1, 3, 2]


def test_a_common_word_chooses_nothing_and_still_counts() -> None:
    common = term("list", rarity=5_000)
    assert some().best([common, term("issu")], 10_000, 10, None) == [1, 2]
    assert some().best([common], 10_000, 10, None) == [1, 3]


def test_what_is_left_out_and_what_is_gone() -> None:
    postings = some()
    assert postings.best([term("issu")], 3, 1, lambda row: row != 1) == [2]
    postings.remove(1, ["issu", "list"])
    assert postings.best([term("issu")], 2, 10, None) == [2]
    postings.remove(2, ["issu", "close"])
    assert postings.best([term("issu"), term("never")], 1, 10, None) == []
    assert postings.best([], 1, 10, None) == []
