"""A schema without `$ref` and `allOf`: what they say put into one, with what stands beside them kept.

For reading, not for checking: where two parts contradict each other the result is the narrower of the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.schema.parts import items, mapping, texts, type_names
from isolith_bindings.schema.references import REFERENCES, References
from isolith_bindings.schema.values import key

if TYPE_CHECKING:
    from collections.abc import Hashable

    from isolith_bindings.connector import JsonSchema

UNIONS = "unions"
"""In a merged schema: a list of lists, of each of which one fits."""
NARROWED = "narrowed"
"""The same of those that say nothing a type shows, such as which keys are needed."""

_MAX_PARTS = 200
_MAX_DEPTH = 20
_ANNOTATIONS = frozenset(
    {"description", "title", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
_IDENTITY = frozenset(
    {"$defs", "definitions", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$vocabulary", "$recursiveAnchor"}
)


class Merging:
    """Merges the parts of schemas of one document. Counts them, so that a document that doubles ends."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._parts = 0

    def merged(self, schema: object) -> JsonSchema | bool:
        """One schema that says the same. True for what is none, and for what leads out of the document."""
        self._parts = 0
        return self._merge(schema, frozenset(), 0)

    def _merge(self, schema: object, seen: frozenset[int], depth: int) -> JsonSchema | bool:
        if isinstance(schema, bool):
            return schema
        self._parts += 1
        mark = id(schema)
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or self._parts > _MAX_PARTS or mark in seen:
            return True
        said = cast("JsonSchema", schema)
        seen |= {mark}
        result: JsonSchema | bool = _own(said)
        for part in self._others(said):
            result = both(result, self._merge(part, seen, depth + 1))
        return result

    def _others(self, schema: JsonSchema) -> list[object]:
        targets = [self._references.find(schema[name]) for name in REFERENCES if name in schema]
        parts = [True if target is None else target for target in targets]
        return parts + items(schema.get("allOf"))


def says_nothing(schema: object) -> bool:
    """Whether it only describes, and constrains nothing that a type could say."""
    return schema is True or (
        isinstance(schema, dict) and not set(cast("JsonSchema", schema)) - _ANNOTATIONS - _IDENTITY
    )


def both(first: JsonSchema | bool, second: JsonSchema | bool) -> JsonSchema | bool:  # noqa: FBT001 - schemas
    """What fits both. Where only one can be kept, such as a description, it is that of the first."""
    if first is False or second is False:
        return False
    if isinstance(first, bool) or isinstance(second, bool):
        return second if isinstance(first, bool) else first
    result = {**second, **first}
    for name in first.keys() & second.keys():
        combine = _COMBINED.get(name)
        if combine is not None:
            result[name] = combine(first[name], second[name])
    return result


def _own(schema: JsonSchema) -> JsonSchema:
    """What a schema says itself, its unions gathered."""
    own = {name: says for name, says in schema.items() if name not in _IDENTITY and name not in {*REFERENCES, "allOf"}}
    unions = [own.pop(name) for name in ("anyOf", "oneOf") if name in own]
    kept = [items(union) for union in unions if items(union)]
    if "const" in own:
        own["enum"] = [own.pop("const")]
    if not isinstance(own.get("items"), list):  # beside no list of items it says nothing
        own.pop("additionalItems", None)
    if kept:
        own[UNIONS] = kept
    else:
        own.pop(UNIONS, None)
    return own


def _types(first: object, second: object) -> object:
    one, two = type_names({"type": first}), type_names({"type": second})
    kept = [name for name in one if name in two or (name == "integer" and "number" in two)]
    return kept + [name for name in two if name == "integer" and "number" in one and name not in kept]


def _properties(first: object, second: object) -> object:
    one, two = mapping(first), mapping(second)
    shared = {name: _all(one[name], two[name]) for name in one.keys() & two.keys()}
    return {**one, **two, **{name: shared[name] for name in one if name in shared}}


def _all(first: object, second: object) -> object:
    return first if first is second or first == second else {"allOf": [first, second]}


def _required(first: object, second: object) -> object:
    return list(dict.fromkeys([*texts(first), *texts(second)]))


def _enum(first: object, second: object) -> object:
    known: set[Hashable] = {key(value) for value in items(second)}
    return [value for value in items(first) if key(value) in known]


def _others(first: object, second: object) -> object:
    return False if first is False or second is False else _all(first, second)


def _prefix(first: object, second: object) -> object:
    one, two = items(first), items(second)
    shared = [_all(a, b) for a, b in zip(one, two, strict=False)]
    return shared + (one if len(one) > len(two) else two)[len(shared) :]


def _unions(first: object, second: object) -> object:
    return [*cast("list[object]", first), *cast("list[object]", second)]


def _highest(first: object, second: object) -> object:
    return max((first, second), key=_number)


def _lowest(first: object, second: object) -> object:
    return min((first, second), key=_number)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else 0.0


_COMBINED = {
    "type": _types,
    "properties": _properties,
    "patternProperties": _properties,
    "required": _required,
    "enum": _enum,
    "items": _all,
    "additionalProperties": _others,
    "unevaluatedProperties": _others,
    "additionalItems": _others,
    "prefixItems": _prefix,
    UNIONS: _unions,
    NARROWED: _unions,
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _highest),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _lowest),
}
