"""The right tool is found, more often than two others find it, with words that the order was not tuned with."""

from collections.abc import Sequence
from functools import cache

import pytest
from tests.benchmark.relevance.corpus import connectors, queries
from tests.benchmark.relevance.relevance import Recall, Search, recall, searches

pytestmark = pytest.mark.slow
HALVES = ("tuning", "held_out")


@cache
def every() -> dict[str, Search]:
    return searches()


@cache
def measured(name: str, half: str) -> Recall:
    asked = queries(half)
    found: Sequence[Sequence[str]] = [every()[name](query.text) for query in asked]
    return recall(found, asked)


def test_there_is_enough_to_find() -> None:
    paths = {f"{connector.name}.{name}" for connector in connectors() for name in connector.methods}
    asked = [query for half in HALVES for query in queries(half)]
    assert len(paths) > 3000
    assert len(asked) >= 150
    assert all(query.right <= paths for query in asked)
    assert len({query.text for query in asked}) == len(asked)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("other", ["opencode", "cloudflare"])
def test_ours_is_better(half: str, other: str) -> None:
    ours, theirs = measured("isolith", half), measured(other, half)
    assert ours.at_1 > theirs.at_1
    assert ours.at_5 > theirs.at_5


@pytest.mark.parametrize(("half", "at_1", "at_5"), [("tuning", 0.72, 0.92), ("held_out", 0.67, 0.86)])
def test_it_does_not_get_worse(half: str, at_1: float, at_5: float) -> None:
    found = measured("isolith", half)
    assert found.at_1 >= at_1
    assert found.at_5 >= at_5
