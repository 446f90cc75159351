"""What no type says of an object is said in words: of the keys that go together, and that there is more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith_bindings.schema.conditions import MORE
from isolith_bindings.schema.stubs import Subject, stub

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

TWO: JsonSchema = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
NEEDED = [{"required": ["id"]}, {"required": ["name", "by"], "title": "By name"}]
SAID: list[tuple[JsonSchema, str]] = [
    ({"anyOf": NEEDED}, "needs id or name and by"),
    ({"oneOf": NEEDED}, "needs id or name and by"),
    ({"allOf": [{"anyOf": NEEDED}]}, "needs id or name and by"),
    ({"anyOf": [*NEEDED, {"not": {"required": ["id"]}}]}, MORE),
    ({"dependentRequired": {"id": ["name", "by"]}}, "with id also name and by"),
    ({"dependencies": {"id": ["name"]}}, "with id also name"),
    ({"$schema": "http://json-schema.org/draft-03/schema", "dependencies": {"id": "name"}}, "with id also name"),
    ({"dependencies": {"id": {"required": ["name"]}}}, MORE),
    ({"dependentSchemas": {"id": {"required": ["name"]}}}, MORE),
    ({"dependentRequired": {f"k{n}": ["id"] for n in range(9)}}, MORE),
    ({"if": {"required": ["id"]}, "then": {"required": ["name"]}}, MORE),
    ({"not": {"required": ["id"]}}, MORE),
    ({"propertyNames": {"pattern": "^[a-z]+$"}}, "keys: pattern ^[a-z]+$"),
    ({"propertyNames": {"enum": ["id", "name"]}}, "keys: id, name"),
    ({"propertyNames": {"maxLength": 9}}, MORE),
    ({"dependentRequired": {"id\n# type: ignore": ["name"]}}, "with id # type: ignore also name"),
]


@pytest.mark.parametrize(("says", "expected"), SAID)
def test_it_is_said_of_the_arguments_and_of_one_that_is_an_object(says: JsonSchema, expected: str) -> None:
    whole = stub(Subject("do_it", {**TWO, **says}, None))
    assert whole.doc[-1] == expected
    draft = {name: says[name] for name in says if name == "$schema"}
    inner = {"what": {**TWO, **{name: said for name, said in says.items() if name != "$schema"}}}
    text = stub(Subject("do_it", {**draft, "type": "object", "properties": inner}, None)).text
    [comment] = [line for line in text.split("\n") if line.startswith("    # ")]
    assert comment.endswith(expected.replace("# type", " type"))


@pytest.mark.parametrize("says", [{"propertyNames": {"type": "string"}}, {"anyOf": [{}, {"required": ["id"]}]}])
def test_nothing_is_said_where_nothing_is_asked(says: JsonSchema) -> None:
    assert "#" not in stub(Subject("do_it", {"type": "object", "properties": {"what": {**TWO, **says}}}, None)).text


@pytest.mark.parametrize("says", [{"contains": {"const": 1}}, {"prefixItems": [{}], "unevaluatedItems": False}])
def test_of_a_list_it_is_said_that_there_is_more(says: JsonSchema) -> None:
    schema: JsonSchema = {"type": "object", "properties": {"what": {"type": "array", **says}}}
    assert f"what: {MORE}" in stub(Subject("do_it", schema, None)).text
