"""What is learnt from results, and what must not be."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from isolith_bindings.schema.observed import MAX_ITEMS, MAX_KEYS, observe
from isolith_bindings.schema.stubs import Subject, stub


def learnt(*values: object) -> str:
    schema = observe(values[0])
    for value in values[1:]:
        schema = observe(value, schema)
    made = stub(Subject("do", {}, schema, observed=True))
    return "; ".join([*(text.replace("\n", " ") for text in made.types.values()), made.signature.partition(" -> ")[2]])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1], "int"), ([1, 2.5], "float"), ([2.5, 1], "float"), ([None, "a"], "str | None"), ([True, 1], "bool | int"), ([[]], "list[Any]"), ([[1, None]], "list[int | None]"), ([[], [1]], "list[int]"), ([(1,)], "list[int]"),
        ([{}], "dict[str, Any]"), ([{"a": 1}], "class DoResult(TypedDict):     a: int; DoResult"), ([{"a": 1}, {"b": 2}], "class DoResult(TypedDict):     a: NotRequired[int]     b: NotRequired[int]; DoResult"),
        ([{"a": 1}, {"a": None}], "class DoResult(TypedDict):     a: int | None; DoResult"), ([[{"a": 1}, {"a": 2, "b": 3}]], "class DoResultItem(TypedDict):     a: int     b: NotRequired[int]; list[DoResultItem]"),
        ([{"ann@example.com": 1}], "dict[str, int]"), ([{"u12345678": 1}], "dict[str, int]"), ([{"a": 1}, {"a b c": "x"}], "dict[str, int | str]"), ([dt.date(2026, 1, 1)], "str"), ([b"x"], "str"),
    ],
)  # fmt: skip
def test_a_type(values: list[object], expected: str) -> None:
    assert learnt(*values) == expected


def test_nothing_of_the_data_is_kept() -> None:
    value = {
        "name": "canary-1",
        "rows": [{"mail": "canary-2", "canary-3@example.com": "canary-4"}],
        "by_id": {"canary-5-67890": 98765},
    }
    schema = observe(value, observe({"name": "canary-6"}))
    assert "canary" not in json.dumps(schema)
    assert "98765" not in json.dumps(schema)


def test_the_number_of_results_is_counted() -> None:
    assert observe(1, observe(1))["x-observed"] == 2


def test_it_stays_small() -> None:
    schema = observe({f"k{n}": n for n in range(MAX_KEYS)})
    for number in range(100):
        schema = observe({f"other_{chr(97 + number % 26)}{chr(97 + number // 26)}": 1}, schema)
    assert len(json.dumps(schema)) < 500
    nested: object = 1
    for _ in range(5_000):
        nested = [nested]
    assert len(json.dumps(observe(nested))) < 1_000


def test_of_a_long_list_the_beginning_is_looked_at_and_the_rest_stays_open() -> None:
    schema = observe([1] * MAX_ITEMS + ["x"])
    assert schema["items"] == {"anyOf": [{"type": "integer"}, {}]}
