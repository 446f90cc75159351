"""From text to a tree within bounds; what this Python cannot parse may be right for the guest's."""

from __future__ import annotations

import sys
import warnings

import pytest

from isolith_bindings.check import check
from isolith_bindings.check.source import MAX_CHARACTERS, MAX_TOKENS, NotParsed, parse


@pytest.mark.parametrize(
    "text",
    [
        "1," * MAX_TOKENS,
        "a\n" * (MAX_TOKENS + 1),
        "'" + "x" * MAX_CHARACTERS + "'",
        "-" * 8000 + "1",
        "1+" * 4900 + "1",
        "x" + ".x" * 4900,
        "x" + "()" * 3000,
        "not " * 8000 + "1",
        "1**" * 3300 + "1",
        "x = '\0'",
    ],
    ids=["items", "lines", "characters", "minus", "plus", "attributes", "calls", "not", "power", "nul"],
)
def test_what_is_too_large_or_too_deep_is_left_to_the_guest(text: str) -> None:
    report = check(text, {})
    assert report.fatal is None
    assert not [finding for finding in report.findings if finding.certain]


@pytest.mark.parametrize(
    "text",
    [
        "(" * 150 + ")" * 150,
        "[" * 190 + "]" * 190,
        "if 1: pass\n" + "elif 1: pass\n" * 1500,
        "lambda: " * 1200 + "1",
        "1 if 1 else " * 1200 + "1",
        "f(" * 90 + ")" * 90,
        "x = " * 2000 + "1",
    ],
    ids=["parentheses", "lists", "elif", "lambda", "if", "calls", "assignments"],
)
def test_what_is_deep_and_parses_breaks_nothing(text: str) -> None:
    check(text, {})


def test_a_script_of_a_thousand_lines_is_looked_at() -> None:
    text = "total = sum([1, 2])\n" * 990 + "nope()"
    report = check(text, {})
    assert report.fatal is not None
    assert report.fatal.line == 991


@pytest.mark.parametrize("text", ["x = = 1", "def f(:\n", "f(a=1, a=", "'abc", "\ud800 = 1"])
def test_what_does_not_parse_is_certain_where_the_parser_is_the_guest_s(text: str) -> None:
    found = parse(text)
    if isinstance(found, NotParsed):
        assert found.certain == (sys.version_info[:2] == (3, 14))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    pass\nexcept ValueError, TypeError:\n    pass",
        "x = t'{1}'",
        "def first[T](xs: list[T]) -> T:\n    return xs[0]\nfirst([1])",
        "type Rows = list[int]\nRows",
        'rows = {\'a\': 1}\nf"{rows["a"]}"',
        "class Box[T]:\n    def get(self) -> T: ...\nBox()",
    ],
    ids=["except without parentheses", "t-string", "type parameters", "type alias", "nested quotes", "generic class"],
)
def test_what_only_a_newer_python_can_parse_is_no_certain_error(text: str) -> None:
    report = check(text, {})
    assert report.fatal is None
    assert all(finding.kind == "syntax" and not finding.certain for finding in report.findings)


def test_an_odd_escape_warns_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check("'\\d'\n1 is 1", {}).findings == ()
