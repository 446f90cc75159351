"""What a method gave, learnt from its results: a schema of the values that were seen, merged over calls.

It keeps no value, no number and no text: only types, and keys that look like names. A mapping whose keys are data (ids,
addresses) becomes "an object with any keys", so that nothing of one caller is shown to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from isolith_bindings.schema.values import is_type, plain

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

OBSERVED = "x-observed"
"""Marks a schema that was learnt; its value is the number of results."""
MAX_KEYS = 60
MAX_DEPTH = 8
MAX_ITEMS = 50
"""Items of one list that are looked at."""

_MAX_KEY = 40
_ANYTHING: JsonSchema = {}


def observe(value: object, before: JsonSchema | None = None) -> JsonSchema:
    """The schema of a value, merged into what was learnt before. Pure."""
    seen = cast("int", (before or {}).get(OBSERVED, 0)) + 1
    known = None if before is None else {name: says for name, says in before.items() if name != OBSERVED}
    shape = _shape(value, 0)
    return {**(shape if known is None else _merged(known, shape, 0)), OBSERVED: seen}


def is_observed(schema: object) -> bool:
    """Whether a schema was learnt from results."""
    return isinstance(schema, dict) and OBSERVED in cast("JsonSchema", schema)


def _shape(value: object, depth: int) -> JsonSchema:
    value = plain(value)
    if depth > MAX_DEPTH:
        return _ANYTHING
    if isinstance(value, Mapping):
        return _object(cast("Mapping[object, object]", value), depth)
    if is_type(value, "array"):
        return _array(cast("list[object]", value), depth)
    for name in ("null", "boolean", "integer", "number", "string"):
        if is_type(value, name, whole_floats=False):
            return {"type": name}
    return _ANYTHING


def _array(value: list[object], depth: int) -> JsonSchema:
    listed = list(value)
    items = None
    for item in listed[:MAX_ITEMS]:
        shape = _shape(item, depth + 1)
        items = shape if items is None else _merged(items, shape, depth + 1)
    if len(listed) > MAX_ITEMS:
        items = _ANYTHING if items is None else _loosened(items)
    return {"type": "array"} if items is None else {"type": "array", "items": items}


def _loosened(schema: JsonSchema) -> JsonSchema:
    """What was seen of the first items, as far as it can be said of those behind them: nothing is certain there."""
    return {"anyOf": [schema, {}]} if schema else schema


def _object(value: Mapping[object, object], depth: int) -> JsonSchema:
    names = [name for name in value if isinstance(name, str)]
    if len(names) > MAX_KEYS or any(not _is_name(name) for name in names):
        inner: JsonSchema | None = None
        for name in names[:MAX_ITEMS]:
            shape = _shape(value[name], depth + 1)
            inner = shape if inner is None else _merged(inner, shape, depth + 1)
        return {
            "type": "object",
            "additionalProperties": _ANYTHING if inner is None or len(names) > MAX_ITEMS else inner,
        }
    properties = {name: _shape(value[name], depth + 1) for name in names}
    return {"type": "object", "properties": properties, "required": sorted(names)}


def _is_name(key: str) -> bool:
    """A key that somebody chose when they wrote the program, as far as that can be seen."""
    return (
        len(key) <= _MAX_KEY
        and key.isascii()
        and key.replace("-", "_").isidentifier()
        and sum(map(str.isdigit, key)) <= 4
    )


def _merged(first: JsonSchema, second: JsonSchema, depth: int) -> JsonSchema:
    """What fits either."""
    if first == second:
        return first
    if not first or not second or depth > MAX_DEPTH:
        return _ANYTHING
    forms = _forms(first)
    for form in _forms(second):
        kind = form.get("type")
        same = next((index for index, known in enumerate(forms) if _alike(known.get("type"), kind)), None)
        if same is None:
            forms.append(form)
        else:
            forms[same] = _one_kind(forms[same], form, depth)
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _forms(schema: JsonSchema) -> list[JsonSchema]:
    return list(cast("list[JsonSchema]", schema["anyOf"])) if "anyOf" in schema else [schema]


def _alike(one: object, other: object) -> bool:
    return one == other or {one, other} == {"integer", "number"}


def _one_kind(first: JsonSchema, second: JsonSchema, depth: int) -> JsonSchema:
    if first.get("type") == "object":
        return _objects(first, second, depth)
    if first.get("type") == "array":
        items = [cast("JsonSchema", schema["items"]) for schema in (first, second) if "items" in schema]
        return (
            {"type": "array"}
            if not items
            else {"type": "array", "items": items[0] if len(items) == 1 else _merged(items[0], items[1], depth + 1)}
        )
    return first if first.get("type") == second.get("type") else {"type": "number"}


def _objects(first: JsonSchema, second: JsonSchema, depth: int) -> JsonSchema:
    """Keys of either; needed are those that both always had. Any keys, where one has any or they grow too many."""
    one, two = (cast("dict[str, JsonSchema] | None", schema.get("properties")) for schema in (first, second))
    if one is None or two is None or len({*one, *two}) > MAX_KEYS:
        inner = [*_values(first), *_values(second)]
        result = inner[0] if inner else _ANYTHING
        for schema in inner[1:]:
            result = _merged(result, schema, depth + 1)
        return {"type": "object", "additionalProperties": result}
    properties = {**one, **two, **{name: _merged(one[name], two[name], depth + 1) for name in one if name in two}}
    required = set(cast("list[str]", first["required"])) & set(cast("list[str]", second["required"]))
    return {"type": "object", "properties": properties, "required": sorted(required)}


def _values(schema: JsonSchema) -> list[JsonSchema]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        return list(cast("dict[str, JsonSchema]", properties).values())
    return [cast("JsonSchema", schema["additionalProperties"])]
