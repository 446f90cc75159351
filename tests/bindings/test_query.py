"""What a query may mean, over a catalogue of a few words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.query import Request, Vocabulary, distance, understand
from isolith_bindings.stemming import stem

WORDS = "create customer delete get invoice list repository schedule user webhook assignee"
SPOKEN: dict[str, int] = dict.fromkeys(WORDS.split(), 5)


def read(query: str) -> Request:
    vocabulary = Vocabulary(
        100,
        frozenset({"crm", "billing"}),
        {stem(word): count for word, count in SPOKEN.items()},
        SPOKEN,
        lambda beginning: sorted(word for word in SPOKEN if word.startswith(beginning)),
        lambda word: sorted(other for other in SPOKEN if len(set(other) & set(word)) > 3),
    )
    return understand(query, vocabulary)


def means(query: str) -> dict[str, float]:
    return dict(read(query).terms[0].meanings)


def test_a_word_means_its_stem() -> None:
    assert means("customers")["custom"] == 1.0


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("custmer", "custom"),
        ("cutsomer", "custom"),
        ("invioce", "invoic"),
        ("cust", "custom"),
        ("repo", "repositori"),
        ("repositries", "repositori"),
        ("web hook", "webhook"),
        ("new", "creat"),
        ("assign", "assigne"),
        ("löschen", "delet"),
        ("Clientes", "custom"),
    ],
)
def test_a_word_means_what_it_is_near_to(word: str, meant: str) -> None:
    assert 0 < means(word)[meant] < 1


def test_a_word_of_the_tools_is_no_word_of_another_language() -> None:
    vocabulary = Vocabulary(
        9, frozenset(), {"list": 1, "lista": 1}, {"list": 1, "lista": 1}, lambda _: [], lambda _: []
    )
    [term, *_] = understand("lista", vocabulary).terms
    assert term.meanings["lista"] == 1.0
    assert "list" not in term.meanings


@pytest.mark.parametrize("word", ["zebra", "qq", "x"])
def test_a_word_that_is_near_to_nothing_means_nothing(word: str) -> None:
    assert means(word) == {}


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("delete a customer", "delete"),
        ("please create an invoice", "create"),
        ("invoices", "read"),
        ("webhook for a user", "do"),
        ("delte a customer", "delete"),
        ("factura crear", "create"),
        ("del customer", "delete"),
        ("creates of invoices", "read"),
        ("", None),
    ],
)
def test_what_is_to_be_done(query: str, intent: str | None) -> None:
    assert read(query).intent == intent


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others() -> None:
    assert [dict(term.meanings) for term in read("what is the customer").terms if not term.implied] == [{"custom": 1.0}]
    assert len(read("what is the").terms) >= 3


def test_who_asks_is_meant_by_my() -> None:
    assert any("authent" in term.meanings and term.implied for term in read("my invoices").terms)


def test_connectors_that_are_named() -> None:
    assert read("invoices in billing").connectors == {"billing"}


def test_a_rare_word_says_more_than_a_common_one() -> None:
    vocabulary = Vocabulary(100, frozenset(), {"rare": 1, "often": 50}, {}, lambda _: [], lambda _: [])
    rare, often = (term for term in understand("rare often", vocabulary).terms if not term.implied)
    assert rare.weight > often.weight


@pytest.mark.parametrize(
    ("one", "other", "limit", "expected"),
    [
        ("abcd", "abcd", 2, 0),
        ("abcd", "abdc", 2, 1),
        ("abcd", "abxcd", 2, 1),
        ("abcd", "acd", 2, 1),
        ("abcd", "axcy", 2, 2),
        ("abcd", "wxyz", 2, 3),
        ("ab", "abcdef", 2, 3),
        ("", "a", 1, 1),
    ],
)
def test_distance(one: str, other: str, limit: int, expected: int) -> None:
    assert distance(one, other, limit) == expected
    assert distance(other, one, limit) == expected


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_a_distance_is_none_only_between_equals(one: str, other: str) -> None:
    assert (distance(one, other, 6) == 0) == (one == other)


@given(st.text())
def test_any_text_is_understood(query: str) -> None:
    assert len(read(query).terms) <= 26
