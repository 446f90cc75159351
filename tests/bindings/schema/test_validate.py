"""Values against schemas: what is said, and that nothing a server sends can hold us up or make us raise."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import sys
import uuid
from typing import cast

import pytest

from isolith_bindings.connector import ArtifactRef, JsonSchema
from isolith_bindings.schema.evaluation import MAX_PROBLEMS
from isolith_bindings.schema.validate import Problem, Validator


def said(schema: object, value: object) -> list[str]:
    validator = Validator(cast("JsonSchema", schema))
    assert validator.usable, validator.reason
    return [str(problem) for problem in validator.problems(value)]


ISSUES: JsonSchema = {
    "type": "object",
    "properties": {"repo": {"type": "string"}, "state": {"enum": ["open", "closed"]}, "limit": {"type": "integer"}},
    "required": ["repo"],
    "additionalProperties": False,
}


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"repo": "a"}, []),
        ({}, ["`repo` is missing"]),
        ({"repo": "a", "kind": 1}, ["unknown argument `kind`; allowed: repo, state, limit"]),
        ({"repo": "a", "stat": 1}, ["unknown argument `stat`; did you mean `state`? allowed: repo, state, limit"]),
        ({"repo": 1}, ["`repo`: expected string, was given 1 (integer)"]),
        ({"repo": "a", "limit": "3"}, ["`limit`: expected integer, was given '3' (string)"]),
        ({"repo": "a", "limit": True}, ["`limit`: expected integer, was given True (boolean)"]),
        ({"repo": "a", "limit": 10**5000}, []),
        ({"repo": 10**5000}, ["`repo`: expected string, was given an integer of 16610 bits (integer)"]),
        ({"repo": "a", "state": "opne"}, ["`state`: expected one of 'open', 'closed', was given 'opne' (string); did you mean `open`?"]),
        ([], ["expected object, was given a list of 0"]),
        (None, ["expected object, was given None"]),
    ],
)  # fmt: skip
def test_arguments(value: object, expected: list[str]) -> None:
    assert said(ISSUES, value) == expected


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"items": {"properties": {"a b": {"type": "null"}}}}, [{}, {"a b": 1}], "`[1]['a b']`: expected null, was given 1 (integer)"),
        ({"properties": {"f": {"additionalProperties": False}}}, {"f": {"x": 1}}, "`f`: unknown key `x`; there are none"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "expected string or null, was given 5 (integer)"),
        ({"anyOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]}, {}, "`a` is missing"),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "`a` is missing (fits none of 2 forms; the nearest is form 1)"),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 5, "expected exactly one of 2 forms, but forms 1 and 2 fit"),
        ({"not": {"type": "string"}}, "a", "'a' (string) is what it must not be"),
        ({"const": 1}, 2, "expected 1, was given 2 (integer)"),
        ({"minimum": 1}, 0, "expected at least 1, was given 0 (integer)"),
        ({"exclusiveMaximum": 1}, 1, "expected less than 1, was given 1 (integer)"),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, 1, "expected more than 1, was given 1 (integer)"),
        ({"multipleOf": 0.01}, 0.075, "expected a multiple of 0.01, was given 0.075 (number)"),
        ({"minLength": 1}, "", "expected at least 1 character, was given 0"),
        ({"maxLength": 2}, "abc", "expected at most 2 characters, was given 3"),
        ({"pattern": "^a"}, "b", "expected text that fits the pattern ^a, was given 'b' (string)"),
        ({"maxItems": 1}, [1, 2], "expected at most 1 item, was given 2"),
        ({"minProperties": 1}, {}, "expected at least 1 key, was given 0"),
        ({"uniqueItems": True}, [1, {"a": 1}, {"a": 1.0}], "expected no item twice, was given an object with 'a' again"),
        ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "the key `ab`: expected at most 1 character, was given 2"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "`b` is missing, which `a` needs"),
        ({"prefixItems": [True], "items": False}, [1, 2], "expected at most 1 items, was given 2"),
        ({"contains": {"type": "string"}}, [1], "expected at least 1 of its items to be of the kind asked for"),
        ({"contains": True, "maxContains": 1}, [1, 2], "expected at most 1 of its items to be of one kind, 2 are"),
        ({"properties": {"a": False}}, {"a": 1}, "`a`: nothing may be given here"),
        (False, 1, "nothing may be given here"),
        ({"type": "string"}, "x" * 0 or b"ab", ""),
        ({"type": "integer"}, "x" * 100, f"expected integer, was given '{'x' * 59}... (string)"),
        ({"type": "integer"}, {"a": 1, "b": 2}, "expected integer, was given an object with 'a', 'b'"),
        ({"type": "integer"}, b"abc", "expected integer, was given 3 bytes"),
        ({"type": "object"}, dt.date(2026, 1, 2), "expected object, was given datetime.date(2026, 1, 2) (date)"),
    ],
)  # fmt: skip
def test_in_plain_words(schema: object, value: object, expected: str) -> None:
    assert said(schema, value) == ([expected] if expected else [])


def test_the_nearest_of_several_forms_is_one_of_the_right_type_however_much_is_wrong_with_it() -> None:
    """As FastAPI writes what is optional; it was told that null was expected."""
    optional = {"anyOf": [{"type": "string", "minLength": 3, "pattern": "^fixed"}, {"type": "null"}]}
    assert said(optional, "ab") == [
        "expected at least 3 characters, was given 2",
        "expected text that fits the pattern ^fixed, was given 'ab' (string)",
    ]


@pytest.mark.parametrize(
    ("type_", "value", "fits"),
    [
        ("string", ArtifactRef("h", "image/png", 3), True), ("string", b"a", True), ("string", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), True), ("string", uuid.UUID(int=1), True),
        ("string", Colour.RED, True), ("array", (1,), True), ("array", {1}, True), ("number", decimal.Decimal("1.5"), True), ("integer", decimal.Decimal(2), True),
        ("integer", decimal.Decimal("NaN"), False), ("integer", 1.0, True), ("integer", 1.5, False), ("number", float("nan"), True), ("number", True, False), ("boolean", True, True),
        ("object", ArtifactRef("h", "image/png", 3), False), ("null", None, True), ("array", "ab", False), ("number", "1", False),
    ],
)  # fmt: skip
def test_types_of_python(type_: str, value: object, fits: bool) -> None:
    assert (not said({"type": type_}, value)) is fits


def test_an_artifact_fits_where_a_string_of_a_certain_form_is_asked_for() -> None:
    assert (
        said({"type": "string", "format": "binary", "maxLength": 1, "pattern": "^a$"}, ArtifactRef("h", "a/b", 9)) == []
    )


def test_draft_4_takes_no_whole_float_for_an_integer() -> None:
    assert said({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, 1.0)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "nullable": True},
        {"enum": ["a"], "nullable": True},
        {"anyOf": [{"type": "string"}], "nullable": True},
    ],
)
def test_nullable_of_openapi(schema: object) -> None:
    assert said(schema, None) == []


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "any"}, "at /type: "),
        ({"properties": {"a": {"required": True}}}, "at /properties/a/required: "),
        ({"type": 5}, "at /type: "),
        ({"properties": []}, "at /properties: "),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "minLength": -1}, "at /minLength: "),
        ({"minLength": -(10**5000)}, "cannot be read"),
    ],
)
def test_a_bad_schema_says_why_and_finds_nothing(schema: JsonSchema, reason: str) -> None:
    validator = Validator(schema)
    assert not validator.usable
    assert reason in str(validator.reason)
    assert validator.problems("anything") == []


def test_a_part_that_only_a_reference_reaches_is_found_out_late() -> None:
    validator = Validator({"$ref": "#/x", "x": {"properties": 5}})
    assert validator.usable
    assert validator.problems({"a": 1}) == []
    assert not validator.usable


def test_where_no_draft_is_named_the_one_in_which_it_is_well_formed_is_meant() -> None:
    assert said({"items": [{"type": "string"}], "additionalItems": False}, ["a", 1]) == [
        "expected at most 1 items, was given 2"
    ]
    assert said({"minimum": 1, "exclusiveMinimum": True}, 1) == ["expected more than 1, was given 1 (integer)"]
    assert said({"$schema": "https://example.com/mine", "type": "string"}, 1)


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/schema.json",
        "#/nowhere",
        "#anchor",
        "file:///etc/passwd",
        "other.json",
        "#/a/%zz",
        "::",
        "#/allOf/9",
        "http://[bad",
    ],
)
@pytest.mark.parametrize("around", [lambda s: s, lambda s: {"not": s}, lambda s: {"oneOf": [s, True]}, lambda s: {"if": s, "then": False, "else": False}, lambda s: {"contains": {"not": s}}, lambda s: {"allOf": [s], "unevaluatedProperties": False, "unevaluatedItems": False}])  # fmt: skip
def test_what_a_reference_outside_would_say_is_nobodys_mistake(reference: str, around: object) -> None:
    schema = around({"$ref": reference})  # type: ignore[operator]
    assert said(schema, {"a": 1}) == []
    assert said(schema, [1]) == []


def test_local_references() -> None:
    schema = {
        "$defs": {
            "n": {
                "$anchor": "node",
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/n"}, "v": {"type": "integer"}},
            }
        },
        "$ref": "#node",
    }
    assert said(schema, {"next": {"next": {"v": "x"}}}) == ["`next.next.v`: expected integer, was given 'x' (string)"]


# ---------------------------------------------------------------------------------------------- hostile


def doubling(depth: int, keyword: str = "allOf") -> JsonSchema:
    """Each definition applies the next one twice: 2 ** depth evaluations."""
    definitions: dict[str, object] = {
        f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}", "title": ""}]}
        for n in range(depth)
    }
    return {"$defs": {**definitions, f"a{depth}": {"minimum": 0}}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_doubles_ends(keyword: str) -> None:
    assert said(doubling(60, keyword), 1) == []


@pytest.mark.parametrize("schema", [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}, {"not": {"$ref": "#"}}, {"$dynamicRef": "#"}, {"unevaluatedProperties": {"$ref": "#"}}])  # fmt: skip
def test_a_schema_that_leads_back_to_itself_ends(schema: object) -> None:
    assert said(schema, {"a": {"a": 1}}) == []


def test_a_deep_value_and_a_deep_schema_end() -> None:
    value: object = 1
    schema: object = {"type": "string"}
    for _ in range(sys.getrecursionlimit() * 2):
        value = [value]
    assert said({"items": {"$ref": "#"}}, value) == []
    assert said({"uniqueItems": True, "enum": [1]}, value) in ([], ["expected one of 1, was given a list of 1"])
    for _ in range(sys.getrecursionlimit() * 2):
        schema = {"items": schema}
    validator = Validator(cast("JsonSchema", schema))
    assert not validator.usable
    assert validator.problems([]) == []


def test_the_number_of_problems_is_bounded() -> None:
    assert len(said({"items": {"type": "string"}}, list(range(10_000)))) == MAX_PROBLEMS
    assert len(said({"additionalProperties": False}, dict.fromkeys(map(str, range(10_000))))) <= MAX_PROBLEMS
    assert len(said({"required": [str(n) for n in range(10_000)]}, {})) <= MAX_PROBLEMS
    assert (
        len(said({"allOf": [{"properties": {"a": {"type": "string"}}, "title": str(n)} for n in range(100)]}, {"a": 1}))
        == 1
    )


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": list(range(20_000))}}, list(range(20_000))),
        ({"uniqueItems": True}, [{"a": n} for n in range(50_000)]),
        ({"patternProperties": {f"^(a+)+{n}$": {} for n in range(200)}}, {"a" * 40 + "!" + str(n): 1 for n in range(200)}),
        ({"additionalProperties": False, "patternProperties": {f"^(a+)+{n}$": {} for n in range(200)}}, {"a" * 40 + "!" + str(n): 1 for n in range(200)}),
        ({"items": {"items": {"items": {"type": "integer"}}}}, [[[1] * 100] * 100] * 100),
        ({"multipleOf": 1e-300}, 1e300),
        ({"multipleOf": 0.5}, decimal.Decimal("1e999999")),
        ({"minimum": 0}, decimal.Decimal("sNaN")),
        ({"maximum": 1.5}, 10**5000),
        ({"multipleOf": 0.5}, float("inf")),
    ],
    ids=["enum", "unique", "patterns", "no pattern", "nested", "tiny step", "huge decimal", "signalling nan", "huge integer", "infinity"],
)  # fmt: skip
def test_much_work_ends(schema: object, value: object) -> None:
    """Each would take minutes or raise if the costs were not bounded; the suite's timeout is the judge."""
    assert isinstance(said(schema, value), list)


def test_keys_that_are_no_text_are_not_looked_at() -> None:
    assert said({"additionalProperties": False}, {1: 2}) == []


def test_no_message_carries_what_cannot_be_seen() -> None:
    odd = "a\x1b[2J\u202e\nb"
    schema = {
        "properties": {odd: {"pattern": odd, "enum": [odd], "const": odd}},
        "required": [odd, "x\x00"],
        "additionalProperties": False,
        "propertyNames": {"pattern": "^x$"},
    }
    messages = [*said(schema, {odd: odd + "!"}), *said(schema, {"y\x1b": 1})]
    messages += said({"pattern": "^b\x1b$"}, "c")
    assert len(messages) > 6
    assert not {"\x1b", "\u202e", "\n", "\x00"} & set("".join(messages))


def test_a_schema_that_is_changed_later_changes_nothing() -> None:
    schema: JsonSchema = {"type": "string"}
    validator = Validator(schema)
    schema["type"] = "integer"
    assert validator.problems(1) == [Problem("", "expected string, was given 1 (integer)")]
