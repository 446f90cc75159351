"""Well-formed schemas for hypothesis to draw: what each keyword may say is itself a schema, of hypothesis-jsonschema."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

_NAMES = from_schema({"enum": ["a", "b", "class", "a b", "é", "list", "__x", "Literal", "x" * 70]})
_KINDS = ["string", "object", "array", "integer", "number", "boolean", "null"]
_SOME_KINDS: dict[str, Any] = {
    "type": "array",
    "items": {"enum": _KINDS},
    "minItems": 1,
    "maxItems": 2,
    "uniqueItems": True,
}
_VALUES: dict[str, Any] = {"type": ["string", "integer", "null"], "maxLength": 9}
_TEXT = from_schema({"type": "string", "maxLength": 12})
_COUNT = from_schema({"type": "integer", "minimum": 0, "maximum": 3})
_PLAIN: dict[str, st.SearchStrategy[object]] = {
    "type": from_schema({"anyOf": [{"enum": _KINDS}, _SOME_KINDS]}),
    "enum": from_schema({"type": "array", "items": _VALUES, "minItems": 1, "maxItems": 4}),
    "const": from_schema(_VALUES),
    "required": st.lists(_NAMES, unique=True, max_size=2),
    "$ref": from_schema({"enum": ["#", "#/properties/a", "#/$defs/a"]}),
    **dict.fromkeys(("title", "description", "format"), _TEXT),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
}


def schemas(depth: int = 3) -> st.SearchStrategy[object]:
    """Schemas that are nested so deep at most."""
    if depth == 0:
        return st.booleans() | st.just({})
    inner = schemas(depth - 1)
    some, named = st.lists(inner, min_size=1, max_size=2), st.dictionaries(_NAMES, inner, max_size=3)
    keywords: dict[str, st.SearchStrategy[object]] = {
        **_PLAIN,
        **dict.fromkeys(("properties", "$defs", "patternProperties", "dependentSchemas"), named),
        **dict.fromkeys(("items", "additionalProperties", "not", "contains", "propertyNames"), inner),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), some),
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), unique=True, max_size=4)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))
