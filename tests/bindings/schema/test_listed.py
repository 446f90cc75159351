"""Which names a schema of arguments lists, and where it may allow others."""

from __future__ import annotations

import pytest

from isolith_bindings.schema.listed import listed_names


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": "object", "properties": {"a": {}, "b": {}}}, {"a", "b"}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a"}),
        ({"properties": {"a": {}}, "additionalProperties": True}, None),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, None),
        ({"properties": {"a": {}}, "oneOf": []}, None),
        ({"properties": {"a": {}}, "patternProperties": {}}, None),
        ({"type": "object"}, None),
        ({"properties": []}, None),
    ],
)
def test_which_parameters_there_are(schema: dict[str, object], names: set[str] | None) -> None:
    listed = listed_names(schema)
    assert (listed if listed is None else set(listed)) == names
