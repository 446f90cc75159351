"""What a type checker is told of arguments refuses nothing that their schemas allow, in whatever a script keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from tests.bindings.schema.suite import DRAFTS, Example, examples

from isolith.run.type_checker import TypeChecker, type_checker, types_of
from isolith_bindings.connector import Method
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

ISSUE: JsonSchema = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "title": {"type": "string"}},
    "required": ["number", "title"],
}
ROW: JsonSchema = {"type": "object", "properties": {"title": {"type": "string"}, "body": {"type": "string"}}}
ARGUMENTS: JsonSchema = {
    "rows": {"type": "array", "items": ROW},
    "row": {**ROW, "additionalProperties": False},
    "ids": {"type": "array", "items": {"type": ["integer", "string"]}},
    "names": {"type": "array", "items": {"type": ["string", "null"]}, "uniqueItems": True},
    "numbers": {"type": "array", "items": {"type": "number"}},
    "states": {"type": "array", "items": {"enum": ["open", "closed"]}},
    "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    "tagged": {"type": "object", "patternProperties": {"^n": {"type": "integer"}}},
    "mixed": {"type": "array", "allOf": [{"items": [{"type": "integer"}]}], "additionalItems": {"type": "boolean"}},
    "by_name": {"type": "object", "additionalProperties": {"type": ["string", "number"]}},
}
RIGHT = """
issues = await hub.list_issues()
numbers = [issue["number"] for issue in issues]
names = [issue["title"] for issue in issues]
states = ["open", "closed"]
row = {"title": "x", "more": 1}
some = []
for issue in issues:
    some.append("open" if issue["number"] else "closed")
await hub.put(rows=issues, row=issues[0], ids=numbers, names=names, numbers=numbers, states=states)
await hub.put(rows=[row, {**issues[0], "body": None}], row=row, ids=tuple(numbers), names=set(names), states=some)
await hub.put(ids={1: 2}.keys(), pair=[1, "a"], numbers=sorted(set(numbers)), states={*states})
await hub.put(by_name=await hub.count(), pair=(1, "a"), rows=list(filter(None, issues)))
await hub.put(by_name={name: number for name, number in zip(names, numbers)}, row=dict(issues[0]))
await hub.put(tagged={"title": names}, mixed=[1, None])
await hub.put(**{"row": row, "ids": numbers})
"""
WRONG = ["row=issues", "by_name=names", "numbers=[names]", "names=numbers", "rows=[names]", "numbers=await hub.count()"]


@pytest.fixture(scope="module")
def checker() -> TypeChecker:
    return cast("TypeChecker", type_checker("ty"))


def hub() -> RecordingConnector:
    made = RecordingConnector("hub", {})
    counts: JsonSchema = {"type": "object", "additionalProperties": {"type": "integer"}}
    put: JsonSchema = {"type": "object", "properties": ARGUMENTS}
    made.methods = {
        "list_issues": Method("list_issues", "", "", {}, {"type": "array", "items": ISSUE}, ""),
        "count": Method("count", "", "", {}, counts, ""),
        "put": Method("put", "", "", put, None, ""),
    }
    return made


def told(text: str, connector: RecordingConnector, checker: TypeChecker) -> list[tuple[int, str]]:
    found = types_of(text, {connector.name: connector}, checker, synchronous=False, timeout_s=100.0)
    return [(finding.line, finding.message) for finding in found]


def test_values_of_a_narrower_type_raise_no_alarm(checker: TypeChecker) -> None:
    assert told(RIGHT, hub(), checker) == []


def test_containers_of_something_else_do(checker: TypeChecker) -> None:
    text = RIGHT + "\n".join(f"await hub.put({argument})" for argument in WRONG)
    first = RIGHT.count("\n") + 1
    assert [line for line, _ in told(text, hub(), checker)] == [first + number for number in range(len(WRONG))]


@pytest.mark.slow
@pytest.mark.parametrize("draft", DRAFTS)
def test_no_valid_example_of_the_public_suite_raises_an_alarm(checker: TypeChecker, draft: str) -> None:
    valid = [example for example in examples(draft) if example.valid and len(repr(example.value)) < 500]
    odd = RecordingConnector("odd", {})
    odd.methods = {f"m{n}": Method(f"m{n}", "", "", _taking(example), None, "") for n, example in enumerate(valid)}
    text = "\n".join(f"await odd.m{number}(x={example.value!r})" for number, example in enumerate(valid))
    assert len(valid) > 200
    assert [(valid[line - 1].name, said) for line, said in told(text, odd, checker)] == []


def _taking(example: Example) -> JsonSchema:
    """The parameters of a method that takes such values as its argument `x`."""
    schema = _within(example.schema)
    declared = {"$schema": cast("JsonSchema", schema).pop("$schema")} if isinstance(schema, dict) else {}
    return {**declared, "type": "object", "properties": {"x": schema}}


def _within(part: object) -> object:
    """A part of a schema that has become that of an argument."""
    if isinstance(part, list):
        return [_within(each) for each in cast("list[object]", part)]
    if not isinstance(part, dict):
        return part
    moved: JsonSchema = {}
    for name, says in cast("JsonSchema", part).items():
        is_pointer = name == "$ref" and isinstance(says, str) and (says == "#" or says.startswith("#/"))
        moved[name] = f"#/properties/x{str(says)[1:]}" if is_pointer else _within(says)
    return moved
