"""Literals against JSON Schema: lenient, in plain words, and never certain of what the connector would take."""

from __future__ import annotations

import ast
import enum
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast
from uuid import UUID

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from isolith_bindings.check.fits import Fitting
from isolith_bindings.check.literals import literal

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema


def misfits(expression: str, schema: object, root: JsonSchema | None = None) -> list[tuple[str, bool]]:
    value = literal(ast.parse(expression, mode="eval").body)
    return [(misfit.text, misfit.certain) for misfit in Fitting(root or {}).misfits(value, schema, "x")]


@pytest.mark.parametrize(
    ("expression", "schema", "text", "certain"),
    [
        ("'a'", {"type": "integer"}, "`x`: expected a valid integer, was given 'a' (str)", True),
        ("'5'", {"type": "integer"}, "`x`: expected a valid integer, was given '5' (str)", False),
        ("1.5", {"type": "integer"}, "`x`: expected a valid integer, was given 1.5 (float)", True),
        ("5", {"type": "string"}, "`x`: expected a valid string, was given 5 (int)", True),
        ("5", {"type": "string", "format": "date-time"}, "`x`: expected a valid string, was given 5 (int)", False),
        ("f'{1}'", {"type": "array"}, "`x`: expected a valid list, was given a str", True),
        ("[1 for y in z]", {"type": "string"}, "`x`: expected a valid string, was given a list", True),
        ("{1}", {"type": "object"}, "`x`: expected a valid dictionary, was given a set", True),
        ("None", {"type": "string"}, "`x`: expected a valid string, was given None", True),
        ("'yes'", {"type": "boolean"}, "`x`: expected a valid boolean, was given 'yes' (str)", False),
        ("'maybe'", {"type": "boolean"}, "`x`: expected a valid boolean, was given 'maybe' (str)", True),
        ("7", {"type": "boolean"}, "`x`: expected a valid boolean, was given 7 (int)", True),
        ("-1", {"minimum": 0}, "`x`: expected something greater than or equal to 0, was given -1 (int)", True),
        ("1", {"exclusiveMaximum": 1}, "`x`: expected something less than 1, was given 1 (int)", True),
        ("'abcd'", {"maxLength": 3}, "`x`: expected at most 3 characters, was given 4", True),
        ("'a'", {"minLength": 3}, "`x`: expected at least 3 characters, was given 1", False),
        ("[]", {"minItems": 1}, "`x`: expected at least 1 items, was given 0", True),
        ("'opne'", {"enum": ["open", "closed"]}, "`x`: expected 'open' or 'closed', was given 'opne' (str); did you mean 'open'?", True),
        ("'x'", {"const": "y"}, "`x`: expected 'y', was given 'x' (str)", True),
        ("{'a': 'x'}", {"properties": {"a": {"type": "integer"}}}, "`x.a`: expected a valid integer, was given 'x' (str)", True),
        ("{'b': 1}", {"required": ["a"]}, "`x.a` is missing", True),
        ("{'b': 1}", {"properties": {"a": {}}, "additionalProperties": False}, "`x.b` is not known", False),
        ("{'k': 'x'}", {"additionalProperties": {"type": "integer"}}, "`x.k`: expected a valid integer, was given 'x' (str)", True),
        ("[1, 'a']", {"items": {"type": "integer"}}, "`x[1]`: expected a valid integer, was given 'a' (str)", True),
        ("[1]", {"prefixItems": [{"type": "string"}]}, "`x[0]`: expected a valid string, was given 1 (int)", True),
        ("[]", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "`x`: expected a valid integer or None, was given [] (list)", True),
        ("'5'", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "`x`: expected a valid integer or None, was given '5' (str)", False),
        ("5", {"type": ["string", "null"]}, "`x`: expected a valid string or None, was given 5 (int)", True),
        ("5", {"allOf": [{}, {"type": "string"}]}, "`x`: expected a valid string, was given 5 (int)", True),
        ("5", {"$ref": "#/$defs/t"}, "`x`: expected a valid string, was given 5 (int)", True),
        ("5", False, "`x` may not be given", True),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(expression: str, schema: object, text: str, certain: bool) -> None:
    assert misfits(expression, schema, {"$defs": {"t": {"type": "string"}}}) == [(text, certain)]


@pytest.mark.parametrize(
    ("expression", "schema"),
    [
        ("5", {"type": "integer"}),
        ("5.0", {"type": "integer"}),
        ("True", {"type": "integer"}),
        ("5", {"type": "number"}),
        ("b'x'", {"type": "string"}),
        ("(1, 2)", {"type": "array"}),
        ("None", {"type": "string", "nullable": True}),
        ("y", {"type": "integer"}),
        ("y + 1", {"type": "string"}),
        ("[y, *z]", {"items": {"type": "string"}}),
        ("{'a': y, **z}", {"required": ["b"], "type": "object"}),
        ("{y: 1}", {"required": ["b"], "type": "object"}),
        ("'x'", {"pattern": "(a+)+$", "type": "string"}),
        ("'x'", {"$ref": "https://example.org/schema"}),
        ("'x'", {"$ref": "#/$defs/loop"}),
        ("'x'", {"$ref": "#/$defs/none"}),
        ("'x'", {"type": "unheard of"}),
        ("'x'", {"enum": "not a list"}),
        ("'x'", {"enum": [1, 2]}),
        ("'x'", {"anyOf": []}),
        ("'x'", {"not": {}}),
        ("...", {"type": "string"}),
        ("'x'", "nonsense"),
    ],
)
def test_what_fits_or_is_not_known_is_let_through(expression: str, schema: object) -> None:
    assert misfits(expression, schema, {"$defs": {"loop": {"$ref": "#/$defs/loop"}}}) == []


def test_a_schema_that_multiplies_itself_is_given_up() -> None:
    schema: JsonSchema = {"$ref": "#/$defs/a"}
    root: JsonSchema = {
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 9}, "b": {"anyOf": [{"$ref": "#/$defs/a"}] * 9}}
    }
    assert misfits("1", schema, root) == []


# agreement with those who decide

LEAVES = st.sampled_from(
    [
        {"type": "integer"},
        {"type": "number", "minimum": 0},
        {"type": "string"},
        {"type": "string", "maxLength": 2},
        {"type": "boolean"},
        {"type": "null"},
        {"enum": ["a", "b", 1]},
        {"const": "a"},
        {},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.fixed_dictionaries({"a": inner})}),
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner, "required": st.just(["b"])}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "abc", ""]) | st.floats(-2, 2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=100)
@given(SCHEMAS, VALUES)
def test_what_is_valid_raises_no_alarm(schema: JsonSchema, value: object) -> None:
    if jsonschema.Draft202012Validator(schema).is_valid(cast("Any", value)):
        assert Fitting(schema).misfits(value, schema, "x") == []


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float = 0


class Row(BaseModel):
    name: str
    points: list[Point] = []
    colour: Colour | None = None


_TYPES: list[Any] = [
    int,
    float,
    str,
    bool,
    bytes,
    date,
    datetime,
    timedelta,
    Decimal,
    UUID,
    Colour,
    Point,
    Row,
    list[int],
    set[str],
    tuple[int, str],
    dict[str, int],
    int | None,
    str | list[str],
    Literal["a", 1],
    Annotated[int, Field(ge=0, lt=3)],
    Annotated[str, Field(min_length=1, max_length=2)],
    Annotated[list[int], Field(max_length=1)],
    frozenset[int],
    object,
]
TYPES: dict[str, Any] = {str(hint): hint for hint in _TYPES}
GIVEN = VALUES | st.sampled_from(
    ["5", "1.5", "2026-01-01", "red", "yes", 0, 1, b"x", {"x": 1}, {"x": "1", "y": 2}, {"name": "n", "points": [{"x": 1}]}, "PT1H", 1e9]
)  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=40)
@given(value=GIVEN)
def test_what_a_function_takes_is_never_certainly_wrong(name: str, value: object) -> None:
    adapter: TypeAdapter[object] = TypeAdapter(TYPES[name])
    schema = adapter.json_schema()
    certain = [misfit for misfit in Fitting(schema).misfits(value, schema, "x") if misfit.certain]
    if certain:
        with pytest.raises(ValidationError):
            adapter.validate_python(value)
