"""The names that a schema of arguments lists, where it speaks of no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_OPEN = frozenset(
    {"additionalProperties", "patternProperties", "unevaluatedProperties", "propertyNames", "$ref", "$dynamicRef"}
    | {"allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "maxProperties", "minProperties"}
)
"""Keywords of a schema that speaks of other properties than those it lists."""


def listed_names(schema: JsonSchema) -> tuple[str, ...] | None:
    """The parameters of a schema that just lists them. By the letter it allows any other, which nobody means."""
    properties = schema.get("properties")
    if _OPEN & schema.keys() - ({"additionalProperties"} if schema.get("additionalProperties") is False else set()):
        return None
    if not isinstance(properties, dict):
        return None
    return tuple(cast("dict[str, object]", properties))
