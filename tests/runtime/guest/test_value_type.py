"""The type of a value as a reader would write it."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isolith_runtime.guest.value_type import value_type


class Colour(enum.Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float


@dataclass
class Person:
    name: str
    age: int


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "None"),
        (True, "bool"),
        (1, "int"),
        (1.5, "float"),
        ("a", "str"),
        (b"a", "bytes"),
        (bytearray(b"a"), "bytes"),
        (Text("a"), "str"),
        (Colour.RED, "str"),
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "datetime"),
        (dt.date.min, "date"),
        (dt.timedelta(1), "timedelta"),
        (decimal.Decimal(1), "Decimal"),
        (1j, "complex"),
        ([], "list"),
        ([0, 1, 4], "list[int]"),
        ([1, None, 2], "list[int | None]"),
        ([None, 1], "list[int | None]"),
        ([1, "a", 2.5, b"", True], "list[object]"),
        ((), "tuple[()]"),
        ((1, "a"), "tuple[int, str]"),
        ((1, 1, 1, 1, 1), "tuple[int, ...]"),
        (Point(1, 2.0), "tuple[int, float]"),
        ({1}, "set[int]"),
        (frozenset({"a"}), "frozenset[str]"),
        ({}, "dict"),
        ({"a": 1}, "dict[str, int]"),
        ({"a": 1, 2: None}, "dict[str | int, int | None]"),
        ([{"a": 1}, {"b": 2}], "list[dict[str, int]]"),
        ([[[[[1]]]]], "list[list[list[list[list]]]]"),
        (range(3), "list[int]"),
        (collections.deque([1]), "list[int]"),
        (collections.Counter("a"), "dict[str, int]"),
        ({"a": 1}.values(), "list[int]"),
        (Person("Ada", 36), "dict[str, str | int]"),
    ],
)
def test_names(value: object, name: str) -> None:
    assert value_type(value) == name


def test_only_the_first_items_are_looked_at() -> None:
    assert value_type([1] * 256 + ["a"]) == "list[int]"


@settings(max_examples=30)
@given(st.recursive(st.none() | st.integers(), lambda v: st.lists(v) | st.dictionaries(st.text(), v), max_leaves=5))
def test_any_value_has_one(value: object) -> None:
    assert value_type(value)
