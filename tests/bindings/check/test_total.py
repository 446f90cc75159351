"""Whatever the text and whatever the schema, the check answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bindings.check.corpus import scripts, shop

from isolith_bindings.check import check
from isolith_bindings.connector import JsonSchema, Method
from isolith_bindings.testing import RecordingConnector

WORDS = [
    *[
        "crm",
        "mail",
        "tools",
        "await",
        "async",
        "def",
        "for",
        "in",
        "if",
        "else",
        "try",
        "except",
        "return",
        "lambda",
        "with",
        "as",
        "import",
        "from",
        "class",
        "while",
        "not",
        "and",
        "or",
    ],
    *[
        "list_contacts",
        "get_contact",
        "nope",
        "limit",
        "x",
        "y",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        ".",
        "=",
        "==",
        "+",
        "*",
        "**",
        "->",
        ":=",
        "@",
        "%",
        "f'{x}'",
        "'text'",
        "1",
        "2.5",
        "None",
        "True",
    ],
    *[
        "\n",
        "\n    ",
        "\n        ",
        "asyncio.gather(",
        "crm.revenue(year=2025)",
        "await crm.list_contacts()",
        "print(",
        "*x",
        "**x",
    ],
]
STATEMENTS = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
LINES = [line for script in [*scripts("broken"), *scripts("right")] for line in script.text.split("\n")]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KEYWORDS = st.sampled_from(
    "type properties required additionalProperties items prefixItems enum const anyOf oneOf allOf $ref $defs minimum "  # noqa: SIM905
    "maximum exclusiveMinimum maxLength minItems nullable format pattern uniqueItems patternProperties x".split()
)
SCHEMA_LIKE = st.recursive(
    JSON
    | st.sampled_from(["#", "#/$defs/x", "#/properties/x", "string", "object", "array", "integer", ["null", "string"]]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=20,
)


class Odd(RecordingConnector):
    """A connector whose one method declares anything at all."""

    def __init__(self, parameters: JsonSchema, returns: JsonSchema | None) -> None:
        super().__init__("odd", {})
        self.methods = {"go": Method("go", "go-", "", parameters, returns, "async def go()")}


@given(st.text())
def test_any_text_has_a_report(text: str) -> None:
    check(text, shop())


@settings(max_examples=150)
@given(STATEMENTS)
def test_anything_like_a_script_has_a_report(text: str) -> None:
    check(text, shop())


@settings(max_examples=150)
@given(st.lists(st.sampled_from(LINES), max_size=12).map("\n".join))
def test_any_mixture_of_scripts_has_a_report(text: str) -> None:
    for finding in check(text, shop()).findings:
        assert 1 <= finding.line <= text.count("\n") + 1


@settings(max_examples=60)
@given(
    st.dictionaries(KEYWORDS, SCHEMA_LIKE, max_size=6),
    st.none() | st.dictionaries(KEYWORDS, SCHEMA_LIKE, max_size=6),
    JSON,
)
def test_any_schema_has_a_report(parameters: JsonSchema, returns: JsonSchema | None, value: object) -> None:
    literal = repr(value) if json.dumps(value) else ""
    script = f"r = odd.go(x={literal}, type={literal})\nr.x\nr['x'][0].y\nfor part in r:\n    part.z\na, b = r"
    check(script, {"odd": Odd(parameters, returns)})


@pytest.mark.parametrize("key", ["['name', 'email']", "{}", "{'a': 1}", "(1, [2])", "{1}", "1:2", "..."])
@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "array"}, {"type": "string"}, {"type": "integer"}])
def test_a_result_may_be_asked_for_any_key(key: str, schema: JsonSchema) -> None:
    """As one asks for columns in pandas: a list as a key was an error of the check itself."""
    crm = RecordingConnector("crm", {})
    crm.methods = {"get": Method("get", "get", "", {"type": "object"}, schema, "async def get()")}
    report = check(f"rows = await crm.get()\nrows[{key}]", {"crm": crm})
    assert report.fatal is None
