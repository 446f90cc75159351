"""Parts that a script tests before it uses them, told by what they say and not by how they are written."""

from __future__ import annotations

import sys

import pytest

from isolith.run import tested_parts


@pytest.mark.parametrize(
    ("script", "places"),
    [
        ("if x[key]:\n    x[key]['name']", {(2, 5)}),
        ("if x[ 'a' ] is not None:\n    y = 'é', x[\"a\"].b", {(2, 14)}),
        ("[r['a'][0] for r in rows if r['a']]", {(1, 2)}),
        ("a = x[f(1)[2]] and x[f(1)[2]][3]", {(1, 20)}),
        ("if x[1]:\n    x[True][0], x['1'][0], y[1][0], x[1:][0]", set[tuple[int, int]]()),
        ("x[key]['name']", set[tuple[int, int]]()),
        ("if x[", set[tuple[int, int]]()),
    ],
)
def test_it_is_where_it_is_used(script: str, places: set[tuple[int, int]]) -> None:
    assert tested_parts.tested_uses(script) == places


def calls_of(script: str) -> int:
    """How many functions it takes: what it costs, whatever the machine."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        tested_parts.tested_uses(script)
    finally:
        sys.setprofile(before)
    return count


def test_each_part_is_looked_at_once() -> None:
    """A chain was written out as often as it is long, which took a minute for a script of the largest size."""
    chain = "x[0]\nif x[0]: " + "x[0]" + "[0]"
    assert calls_of(chain + "[0]" * 200) < 3 * calls_of(chain + "[0]" * 100)
