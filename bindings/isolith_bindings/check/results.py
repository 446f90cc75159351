"""How a result may be used, by the schema that its method declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings.check.fits import resolve
from isolith_bindings.check.values import UNKNOWN, Each, Result, Value
from isolith_bindings.closest import closest

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_MAX_DEPTH = 12
_MAX_BRANCHES = 50
_PYTHON: dict[str, type] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": type(None),
}
_ATTRIBUTES = {name: frozenset(dir(kind)) for name, kind in _PYTHON.items()}
_ANY_DATA = frozenset[str]().union(*_ATTRIBUTES.values())
_OF_AN_ARTIFACT = frozenset({"handle", "mime", "size", "name", "read", "model_dump"})
"""What is too large to cross is an artifact, whatever was declared."""
_OF_A_LONG_RESULT = frozenset({"artifact", "truncated", "preview"})
"""The keys of what stands for a result that is too long to be a value."""

KEY: JsonSchema = {"type": "string"}
"""What a key of a dict is, as one goes through it."""
_ARRAY = frozenset({"array"})
_OBJECT = frozenset({"object"})
_STRING = frozenset({"string"})
_NUMBERS = frozenset({"integer", "number", "boolean"})
_JAVASCRIPT = frozenset({"length", "push", "map", "filter", "forEach", "includes"})
_FOR_LISTS = "this is Python: len(x), x.append(y), [f(y) for y in x], y in x"


@dataclass(frozen=True)
class Wrong:
    """What Python would say of a use, and what to write instead."""

    message: str
    hint: str | None
    certain: bool


def attribute(result: Result, name: str) -> Wrong | None:
    """What is wrong with `result.name`; None where nothing is, or nothing is known."""
    types = types_of(result.schema, result.root)
    if not types or name.startswith("__") or any(name in _ATTRIBUTES[kind] for kind in types):
        return None
    [first, *_] = sorted(types, key=lambda kind: (kind == "null", kind))
    message = f"AttributeError: {_PYTHON[first].__name__!r} object has no attribute {name!r}"
    certain = name not in _ANY_DATA and name not in _OF_AN_ARTIFACT
    return Wrong(message, _attribute_hint(result, first, name), certain)


def _attribute_hint(result: Result, kind: str, name: str) -> str | None:
    if kind == "object":
        return _dict_hint(result, name)
    if kind != "array":
        return None
    if name in _JAVASCRIPT:
        return _FOR_LISTS
    if name in _ANY_DATA:
        return f"this is a list: go through it, [x.{name}(...) for x in ...], or take one, x[0].{name}(...)"
    return f"this is a list: go through it, [x[{name!r}] for x in ...]"


def _dict_hint(result: Result, name: str) -> str:
    known = _properties(_one(result))
    if name not in known:
        if name in _ATTRIBUTES["array"] | _JAVASCRIPT:
            return "this is a dict, not a list: x['key'] = value adds to it, x.values() and x.items() go through it"
        if known and not _one(result).get("additionalProperties"):
            return f"this is a dict with the keys: {', '.join(list(known)[:20])}"
        if name in _ANY_DATA:
            return "this is a dict: take a value out of it, x['key'], or go through x.items()"
    return f"this is a dict: write [{name!r}]"


def item(result: Result, key: object) -> Wrong | Value:
    """What `result[key]` is, or what is wrong with it."""
    types = types_of(result.schema, result.root)
    whole = result.schema is result.root and isinstance(key, str)
    if whole and key in _OF_A_LONG_RESULT and key not in _properties(_one(result)):
        return UNKNOWN
    if types == _ARRAY:
        if isinstance(key, str):
            message = "TypeError: list indices must be integers or slices, not str"
            return Wrong(message, f"this is a list: go through it, [x[{key!r}] for x in ...]", certain=False)
        return _element(result) if isinstance(key, int) else UNKNOWN
    if types == _OBJECT and isinstance(key, str):
        return _member(result, key)
    if types == _OBJECT and type(key) is int and (lists := _lists(result)) is not None:
        listed = " or ".join(f"x[{name!r}][{key}]" for name in lists[:2])
        return Wrong(f"KeyError: {key}", f"this is a dict, not a list: {listed or _keys(result)}", certain=False)
    return _of_a_scalar(result, types, key) or UNKNOWN


def called(result: Result) -> Wrong | None:
    """What is wrong with `result(...)`; None where nothing is known of it."""
    types = types_of(result.schema, result.root)
    if not types:
        return None
    [first, *_] = sorted(types, key=lambda kind: (kind == "null", kind))
    message = f"TypeError: {_PYTHON[first].__name__!r} object is not callable"
    return Wrong(message, "this is the result already: leave out the brackets", certain=True)


def parsed(result: Result) -> Wrong | None:
    """What is wrong with `json.loads(result)`, in the guest's words; None where it may be text."""
    types = types_of(result.schema, result.root)
    if len(types) != 1 or types & (_STRING | {"null"}):
        return None
    [name] = (_PYTHON[kind].__name__ for kind in types)
    message = f"TypeError: the JSON object must be str, bytes or bytearray, not {name}"
    return Wrong(message, f"this is a {name} already: leave out json.loads", certain=False)


def _of_a_scalar(result: Result, types: frozenset[str], key: object) -> Wrong | None:
    if types == _STRING and isinstance(key, str):
        message = "TypeError: string indices must be integers, not 'str'"
        if result.schema is KEY:
            return Wrong(message, "going through a dict gives its keys: go through the list in it", certain=False)
        return Wrong(message, "this is a text: use it as it is, or json.loads(x) where it holds JSON", certain=False)
    if len(types) == 1 and types <= _NUMBERS:
        [kind] = types
        message = f"TypeError: {_PYTHON[kind].__name__!r} object is not subscriptable"
        return Wrong(message, "this is a single value: use it as it is", certain=False)
    return None


def _member(result: Result, key: str) -> Wrong | Value:
    schema = _one(result)
    known = _properties(schema)
    if key in known:
        return _part(result, known[key])
    if "patternProperties" in schema:
        return UNKNOWN
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict):
        return _part(result, cast("JsonSchema", rest))
    close = closest(key[:100], list(known)[:500], 1, 0.6)
    if known and (close or rest is False):
        hint = f"did you mean {close[0]!r}?" if close else f"its keys: {', '.join(list(known)[:20])}"
        return Wrong(f"KeyError: {key!r}", hint, certain=False)
    return UNKNOWN


def each(result: Result) -> Value:
    """What going through a result gives, each time."""
    types = types_of(result.schema, result.root)
    if types == _OBJECT and _lists(result) is not None:
        return Each(Result(result.tool, KEY, KEY))
    return Each(_element(result)) if types == _ARRAY else UNKNOWN


def gone_through(result: Result, *, parts: int) -> Wrong | None:
    """What is wrong with `for ... in result`, each time taken apart into so many names."""
    types = types_of(result.schema, result.root)
    if len(types) == 1 and types <= _NUMBERS:
        [kind] = types
        message = f"TypeError: {_PYTHON[kind].__name__!r} object is not iterable"
        return Wrong(message, "this is a single value: use it as it is", certain=False)
    if types == _OBJECT and parts > 1:
        message = f"ValueError: too many values to unpack (expected {parts})"
        return Wrong(message, "this is a dict: for key, value in x.items()", certain=False)
    return None


def _lists(result: Result) -> list[str] | None:
    """The keys that hold lists; None where any keys may be there, and so may those that are no text."""
    schema = _one(result)
    known = _properties(schema)
    if not known or isinstance(schema.get("additionalProperties"), dict) or "patternProperties" in schema:
        return None
    return [key for key, part in known.items() if types_of(part, result.root) == _ARRAY]


def _keys(result: Result) -> str:
    return f"its keys: {', '.join(list(_properties(_one(result)))[:20])}"


def _element(result: Result) -> Value:
    schema = _one(result)
    return UNKNOWN if "prefixItems" in schema else _part(result, schema.get("items"))


def _part(result: Result, schema: object) -> Value:
    return Result(result.tool, cast("JsonSchema", schema), result.root) if isinstance(schema, dict) else UNKNOWN


def _one(result: Result) -> JsonSchema:
    """The schema itself, behind references and beside null."""
    found = resolve(result.schema, result.root) if isinstance(result.schema, dict) else None
    return found if isinstance(found, dict) else {}


def _properties(schema: JsonSchema) -> JsonSchema:
    properties = schema.get("properties")
    return cast("JsonSchema", properties) if isinstance(properties, dict) else {}


def types_of(schema: object, root: JsonSchema, depth: int = 0) -> frozenset[str]:
    """The JSON types of the values of a schema whose Python types are certain; empty where they are not.

    A text with a format may arrive as a date, a number with a pattern as a Decimal, a set as one.
    """
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return frozenset()
    schema = cast("JsonSchema", schema)
    if "$ref" in schema:
        return types_of(resolve(schema, root), root, depth + 1)
    for word in ("anyOf", "oneOf"):
        branches = schema.get(word)
        if isinstance(branches, list):
            listed = cast("list[object]", branches)
            parts = [types_of(part, root, depth + 1) for part in listed[:_MAX_BRANCHES]]
            return frozenset[str]().union(*parts) if all(parts) and len(parts) == len(listed) else frozenset()
    if "allOf" in schema or schema.get("uniqueItems") or {"format", "pattern", "contentEncoding"} & schema.keys():
        return frozenset()
    kinds = schema.get("type")
    listed = cast("list[object]", kinds) if isinstance(kinds, list) else [kinds]
    types = frozenset(kind for kind in listed if isinstance(kind, str) and kind in _PYTHON)
    if len(types) != len(listed):
        return frozenset()
    return types | {"null"} if schema.get("nullable") is True else types
