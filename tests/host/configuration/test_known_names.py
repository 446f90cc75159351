"""Which names a place of a document knows, by the schema that a model has of itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import BaseModel

from isolith.configuration.known_names import names_at


class Leaf(BaseModel):
    value: int


class Other(BaseModel):
    text: str
    more: Leaf | None = None


class Tree(BaseModel):
    leaf: Leaf
    many: tuple[Leaf | Other, ...] = ()
    named: Mapping[str, Other] = {}
    below: Tree | None = None


@pytest.mark.parametrize(
    ("place", "names"),
    [
        ((), {"leaf", "many", "named", "below"}),
        (("leaf",), {"value"}),
        (("many", 3), {"value", "text", "more"}),
        (("many", 3, "<other>"), {"value", "text", "more"}),
        (("named", "any", "more"), {"value"}),
        (("below", "below", "leaf"), {"value"}),
    ],
)
def test_the_names_at_a_place(place: tuple[str | int, ...], names: set[str]) -> None:
    assert names_at(Tree.model_json_schema(), place) == names
