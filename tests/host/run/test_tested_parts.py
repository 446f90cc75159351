"""Parts that a script tests before it uses them, told by what they say and not by how they are written."""

from __future__ import annotations

import pytest
from tests.work import calls_of

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


def looked(script: str) -> int:
    return calls_of(lambda: tested_parts.tested_uses(script))


def test_each_part_is_looked_at_once() -> None:
    """A chain was written out as often as it is long, which took a minute for a script of the largest size."""
    chain = "x[0]\nif x[0]: " + "x[0]" + "[0]"
    assert looked(chain + "[0]" * 200) < 3 * looked(chain + "[0]" * 100)
