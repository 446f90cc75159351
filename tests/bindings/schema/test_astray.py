"""Where a path leads nowhere, in a schema that leads round in circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.schema.astray import Astray, astray

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

CLOSED: JsonSchema = {"type": "object", "properties": {"owner": {}}, "additionalProperties": False}


def test_a_circle_of_alternatives_is_gone_through_once() -> None:
    """Each way round used to be gone: there were more than anybody can wait for."""
    again = [{"$ref": "#/$defs/a"}] * 50
    root: JsonSchema = {"$defs": {"a": {"anyOf": [*again, {"type": "null"}, CLOSED], "oneOf": again}}}
    start: JsonSchema = {"$ref": "#/$defs/a"}
    assert astray(start, ["owner"], root) is None
    assert astray(start, ["name"], root) == Astray("name", ("owner",))


def test_of_nothing_but_a_circle_nothing_is_told() -> None:
    root: JsonSchema = {"$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert astray({"$ref": "#/$defs/a"}, ["name"], root) is None
