"""Patterns of ECMA-262, and those that are made to take for ever."""

from __future__ import annotations

import pytest

from isolith_bindings.schema.patterns import MAX_PATTERN, MAX_TEXT, Clock, Patterns, Untranslatable, translate


def matches(pattern: str, text: str) -> bool | None:
    return Patterns().matches(pattern, text, Clock())


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("^a$", "a", True), ("^a$", "a\n", False), ("b", "abc", True), (r"^\d{2,3}$", "12", True), (r"^\d$", "৪", False), (r"^\w+$", "é", False),
        (r"^[^\s]+$", "a b", False), (r"^[\S]+$", "ab", True), (r"^[\W]$", "é", True), (r"^[\D]$", "1", False), (r"^\p{L}+$", "é", True), ("^.$", "\u2028", False), ("^.$", "#", True),
        ("foo{e}", "foo{e}", True), ("foo{e}", "fo", False), ("^[[:alpha:]]$", "a", False), ("^a#b c$", "a#b c", True), (r"^\u0041$", "A", True), (r"^\x41$", "A", True),
        (r"^(?<y>\d)-\k<y>$", "1-1", True), (r"(a)\1", "aa", True), (r"^[\b]$", "\b", True), (r"^\cA$", "\x01", True), (r"^[a&&b]+$", "a&b", True), ("[]", "a", False), ("^[^]$", "\n", True),
        (r"^[\w.+-]+@[\w-]+\.[\w.]+$", "a.b@c.de", True), (r"^\/$", "/", True), ("(?!x)y", "y", True), ("a||b", "", True), (r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", True),
    ],
)  # fmt: skip
def test_a_pattern(pattern: str, text: str, fits: bool) -> None:
    assert matches(pattern, text) is fits


@pytest.mark.parametrize("pattern", ["(?R)", "(?i)a", "(?P<n>a)", r"\Z", r"\A", r"\X", r"\N{DIGIT ONE}", "[", "(", "a{20000}", "x" * (MAX_PATTERN + 1), r"\u{110000}", "(?|a|b)", r"\L<words>", "(?:a"])  # fmt: skip
def test_what_is_no_pattern_of_theirs_decides_nothing(pattern: str) -> None:
    assert matches(pattern, "a") is None


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|aa)+$", "^(a*)*b$", r"^(\w+\s?)*$", "(.*a){25}$"])
def test_backtracking_for_ever_ends_and_decides_nothing(pattern: str) -> None:
    """The text is long enough for hours."""
    clock = Clock()
    fits = Patterns().matches(pattern, "a " * 20 + "a" * 5000 + "!", clock)
    assert fits is False or (fits is None and clock.left <= 0)


def test_a_spent_clock_decides_nothing() -> None:
    assert Patterns().matches("a", "a", Clock(0)) is None


def test_a_long_text_decides_nothing() -> None:
    assert matches("a", "a" * MAX_TEXT) is True
    assert matches("a", "a" * (MAX_TEXT + 1)) is None


def test_a_pattern_is_compiled_once() -> None:
    patterns = Patterns()
    assert [patterns.matches("(", "a", Clock()) for _ in range(2)] == [None, None]


def test_what_cannot_be_translated_says_why() -> None:
    with pytest.raises(Untranslatable, match="1,001 characters"):
        translate("x" * (MAX_PATTERN + 1))
