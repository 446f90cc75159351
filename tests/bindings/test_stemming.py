"""Porter's stems are those that SQLite's tokenizer gives, over every word of the catalogues."""

import gzip
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings import stemming
from isolith_bindings.stemming import stem

CATALOGUES = Path(__file__).parents[2] / "fixtures" / "catalogues"


def vocabulary() -> Iterator[str]:
    for path in CATALOGUES.glob("*.jsonl.gz"):
        yield from re.findall("[a-z]+", gzip.decompress(path.read_bytes()).decode().lower())


def test_every_word_has_the_stem_that_sqlite_gives_it() -> None:
    known = sorted(set(vocabulary()))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter ascii')")
        database.executemany("INSERT INTO words(rowid, word) VALUES (?, ?)", enumerate(known))
        database.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, instance)")
        expected = {known[row]: term for term, row in database.execute("SELECT term, doc FROM stems")}
    assert len(known) > 5000
    assert {word: stem(word) for word in known} == {word: expected[word] for word in known}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("schedule schedules scheduled scheduling", "schedul"),
        ("deployment deployments", "deploy"),
        ("deploy deploys", "deploi"),
        ("repository repositories", "repositori"),
        ("issue issues", "issu"),
        ("caresses caress", "caress"),
        ("hoping", "hope"),
        ("hopping hop", "hop"),
        ("agreed agree", "agre"),
        ("feed", "feed"),
        ("sky", "sky"),
        ("is", "is"),
        ("über", "über"),
        ("v2", "v2"),
        ("x" * 70 + "s", "x" * 70 + "s"),
    ],
)
def test_stems(words: str, expected: str) -> None:
    assert {stem(word) for word in words.split()} == {expected}


@given(st.text())
def test_any_text_has_a_stem(text: str) -> None:
    assert isinstance(stem(text), str)


def test_what_has_no_stem_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script that searches for words of a thousand letters left each of them with its host, for all runs to come."""
    kept: list[str] = []
    cached = stemming._stem  # pyright: ignore[reportPrivateUsage]

    def noted(word: str) -> str:
        kept.append(word)
        return cached(word)

    monkeypatch.setattr(stemming, "_stem", noted)
    without, some = ["x" * 1000, "é" * 10, "ab", "a1b2"], "schedules"
    assert [stem(word) for word in (*without, some)] == [*without, "schedul"]
    # An index that another test left to be read in the background asks for words of its own.
    assert some in kept
    assert not set(without) & set(kept)
