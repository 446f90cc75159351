"""No value that a schema allows raises an alarm: those of the public suite, and what fits schemas that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.schema.suite import DRAFTS, SCHEMAS, examples
from tests.bindings.schema.well_formed import schemas

from isolith_bindings.check import check
from isolith_bindings.check.fits import Fitting, Misfit
from isolith_bindings.connector import Method
from isolith_bindings.schema.draft3 import as_draft4
from isolith_bindings.schema.validate import Validator
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

OWN_VOCABULARY = "vocabulary: schema that uses custom metaschema with with no validation vocabulary"
"""Of a draft that the suite makes up; ours reads it as 2020-12, before a run and in it."""


def misfits(value: object, schema: JsonSchema | bool) -> list[Misfit]:
    root = as_draft4(schema)
    return Fitting(root if isinstance(root, dict) else {}).misfits(value, root, "x")


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_no_valid_example_of_the_public_suite(draft: str) -> None:
    valid = [example for example in examples(draft) if example.valid and not example.name.startswith(OWN_VOCABULARY)]
    assert len(valid) > 200
    assert [example.name for example in valid if misfits(example.value, example.schema)] == []


KEYS = st.sampled_from(["a", "b", "class", "a b"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "abcd", "  \n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(schemas(2), st.lists(VALUES, min_size=4, max_size=12))
def test_nothing_that_fits_a_well_formed_schema(schema: object, values: list[object]) -> None:
    known = cast("JsonSchema", schema)
    validator = Validator(known)
    fitting = [value for value in values if validator.usable and not validator.problems(value)]
    assert [value for value in fitting if validator.usable and misfits(value, known)] == []


INTEGERS: JsonSchema = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": INTEGERS}, {"x-a": "b"}),
        ({"$ref": "#name", "definitions": {"a": {"$anchor": "name", **INTEGERS}}}, 1),
        ({"allOf": [{"$id": "http://a.test/b", "$ref": "#/$defs/c", "$defs": {"c": {}}}], "$defs": {"c": INTEGERS}}, "a"),
        ({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "string"}, "a%20b": INTEGERS}}, "a"),
        ({"$schema": SCHEMAS["draft3"], "type": ["integer", {"type": "array"}]}, [1]),
        ({"minLength": 2}, "\n\n"),
        ({"maxLength": 1}, " a "),
    ],
)  # fmt: skip
def test_nothing_that_only_looks_wrong(schema: JsonSchema, value: object) -> None:
    assert misfits(value, schema) == []


def test_arguments_of_draft_3_are_read_as_such() -> None:
    parameters: JsonSchema = {
        "$schema": SCHEMAS["draft3"],
        "properties": {"a": {"type": ["integer", {"type": "array"}], "required": True}, "b": {"disallow": "string"}},
    }
    odd = RecordingConnector("odd", {})
    odd.methods = {"go": Method("go", "go", "", parameters, None, "async def go()")}
    assert check("await odd.go(a=[1], b=2)", {"odd": odd}).findings == ()
    [finding] = check("await odd.go(b=2)", {"odd": odd}).findings
    assert (finding.message, finding.certain) == ("odd.go: `a` is missing. It takes: a, b", True)
