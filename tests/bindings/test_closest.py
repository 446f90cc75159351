"""What is most like a text, held to the standard library's plain way."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from isolith_bindings.closest import closest

if TYPE_CHECKING:
    import pytest

WORDS = [
    f"{verb}{noun}{place}" for verb in ("list", "get", "merge") for noun in ("issue", "team") for place in ("", "s")
]
TEXT = st.text("abcs_ é\u0301", max_size=12) | st.sampled_from(WORDS) | st.text(max_size=6) | st.text("ab", min_size=9)


@given(TEXT, st.lists(TEXT, max_size=30), st.integers(1, 4), st.sampled_from([0.01, 0.5, 0.6, 0.7, 1.0]))
@example("", ["", "a"], 3, 0.6)
@example("aaaaaaaaaaaa", ["aaaaaaaaab", "é"], 3, 0.6)
@example("ab" * 150, ["ab" * 140, "ba" * 150], 2, 0.6)
@example("abcd", ["abdc", "zabc"], 1, 0.6)
@example("abcd", ["abdc", "bacd", "abcd", "abcd", "abce"], 2, 0.6)
def test_it_is_the_plain_way(wanted: str, known: list[str], most: int, alike: float) -> None:
    assert closest(wanted, known, most, alike) == difflib.get_close_matches(wanted, known, most, alike)


def test_of_thousands_few_are_compared_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    plain = difflib.SequenceMatcher[str].set_seq1

    def counted(self: difflib.SequenceMatcher[str], a: str) -> None:
        compared.append(a)
        plain(self, a)

    known = [f"{one}{two}" for one in WORDS for two in "abcdefghijklmnopqrstuvwxyz"]
    monkeypatch.setattr(difflib.SequenceMatcher, "set_seq1", counted)
    assert closest("listisueq", known, 3, 0.6)[0] == "listissueq"
    assert len(compared) < len(known) / 10
