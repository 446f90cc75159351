"""Schemas of draft 3 as draft 4 says the same: `required` of a property, `extends`, `disallow`, types that are schemas.

Nobody writes it any more, and servers that were once written with it still answer. Everything else is the same in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_DRAFT_3 = "http://json-schema.org/draft-03/schema"
_DRAFT_4 = "http://json-schema.org/draft-04/schema#"
_MAX_DEPTH = 100
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_REWRITTEN = frozenset({"type", "required", "extends", "disallow", "divisibleBy"})
_ONE = ("additionalProperties", "additionalItems")
_NAMED = ("properties", "patternProperties", "definitions")


def as_draft4(schema: JsonSchema | bool) -> JsonSchema | bool:  # noqa: FBT001 - true and false are schemas
    """The schema, rewritten where it says that it is of draft 3; every other as it is."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(schema, dict) or not isinstance(declared, str) or declared.rstrip("#") != _DRAFT_3:
        return schema
    return {**_rewritten(schema, 0), "$schema": _DRAFT_4}


def _rewritten(schema: JsonSchema, depth: int) -> JsonSchema:
    if depth > _MAX_DEPTH or isinstance(schema.get("$ref"), str):  # beside a reference nothing counts
        return schema
    made = {word: says for word, says in schema.items() if word not in _REWRITTEN}
    for word in _ONE:
        made |= {word: _within(schema[word], depth)} if word in schema else {}
    for word in _NAMED:
        made |= {word: _each(schema[word], depth)} if word in schema else {}
    if schema.get("items") == []:  # which later drafts do not have: all items are additional ones
        more = made.pop("additionalItems", {})
        made["items"] = more if isinstance(more, dict) else ({"not": {}} if more is False else {})
    elif "items" in schema:
        made["items"] = _one_or_more(schema["items"], depth)
    if "divisibleBy" in schema:
        made["multipleOf"] = schema["divisibleBy"]
    needed = [name for name, says in _members(schema.get("properties")).items() if _needs(says)]
    if needed:
        made["required"] = needed
    return made | _dependencies(schema, depth) | _typed(schema, depth)


def _typed(schema: JsonSchema, depth: int) -> JsonSchema:
    """`type`, `disallow` and `extends`: a plain type as it is, everything else as what has to fit as well."""
    kinds = _any_of(schema["type"], depth) if "type" in schema else {}
    extended = schema.get("extends")
    parts = [kinds] if "anyOf" in kinds else []
    parts += [{"not": _any_of(schema["disallow"], depth)}] if "disallow" in schema else []
    for part in cast("list[object]", extended) if isinstance(extended, list) else [extended]:
        parts += [_rewritten(cast("JsonSchema", part), depth + 1)] if isinstance(part, dict) else []
    plain = {"type": kinds["type"]} if "type" in kinds else {}
    return {**plain, **({"allOf": parts} if parts else {})}


def _any_of(types: object, depth: int) -> JsonSchema:
    """Names of types and schemas, of which one has to fit. A name that is no type fits everything, `any` among them."""
    listed = cast("list[object]", types) if isinstance(types, list) else [types]
    if any(isinstance(kind, str) and kind not in _TYPES for kind in listed):
        return {}
    names = [kind for kind in listed if isinstance(kind, str)]
    schemas = [_rewritten(cast("JsonSchema", kind), depth + 1) for kind in listed if isinstance(kind, dict)]
    if not schemas:
        return {"type": names[0] if len(names) == 1 else names}
    return {"anyOf": [*([{"type": names}] if names else []), *schemas]}


def _dependencies(schema: JsonSchema, depth: int) -> JsonSchema:
    if "dependencies" not in schema:
        return {}
    found = {
        name: [says] if isinstance(says, str) else _within(says, depth)
        for name, says in _members(schema["dependencies"]).items()
    }
    return {"dependencies": found}


def _within(part: object, depth: int) -> object:
    return _rewritten(cast("JsonSchema", part), depth + 1) if isinstance(part, dict) else part


def _one_or_more(part: object, depth: int) -> object:
    return (
        [_within(each, depth) for each in cast("list[object]", part)]
        if isinstance(part, list)
        else _within(part, depth)
    )


def _each(parts: object, depth: int) -> object:
    if not isinstance(parts, dict):
        return parts
    return {name: _within(part, depth) for name, part in cast("dict[str, object]", parts).items()}


def _members(parts: object) -> dict[str, object]:
    return cast("dict[str, object]", parts) if isinstance(parts, dict) else {}


def _needs(says: object) -> bool:
    return isinstance(says, dict) and "$ref" not in says and cast("dict[str, object]", says).get("required") is True
