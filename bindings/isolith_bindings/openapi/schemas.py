"""Schemas of any OpenAPI version as JSON Schema 2020-12, all shared parts in one place.

What is referred to becomes a definition, converted once however often it is used, so that circular and deep schemas
cost nothing. A reference that leads nowhere is a schema that takes anything, and is remembered: an operation that would
send it is not offered.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi.media import kind
from isolith_bindings.openapi.oneway import one_way
from isolith_bindings.openapi.refs import DefectError, Node
from isolith_bindings.openapi.tree import is_container, is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.openapi.document import Family
    from isolith_bindings.openapi.model import Schema
    from isolith_bindings.openapi.refs import References
    from isolith_bindings.openapi.tree import Tree

MAX_DEPTH = 100
"""Levels of one schema, between references."""
MAX_CHAIN = 50
"""References that lead to references."""

_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "additionalItems", "contentSchema"}
)
_ITEMS = frozenset({"items", "prefixItems"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
)
_TEXTS = frozenset({"format", "title", "description", "pattern", "contentEncoding", "contentMediaType"})
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
_KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(_NUMBERS, (int, float)),
    **dict.fromkeys(_COUNTS, int),
    **dict.fromkeys(_TEXTS, str),
    **dict.fromkeys(("enum", "required"), list),
    "dependentRequired": dict,
}
_ONLY = frozenset({"required", "not", "minProperties", "maxProperties", "title", "description"})
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
# A regular expression as JavaScript writes it in a program. As a pattern no text would ever fit it.
_LITERAL = re.compile(r"/(\^.*|.*\$)/([a-z]*)", re.DOTALL)
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_.\-]+")


class Schemas:
    """The schemas of one set of documents, converted as they are needed."""

    def __init__(self, references: References, family: Family) -> None:
        self.definitions: dict[str, Schema] = {}
        self.uses: dict[str, tuple[str, ...]] = {}
        self.broken: dict[str, str] = {}
        self._references = references
        self.family = family
        self._old = family != "3.1"
        self._keys: dict[tuple[str, str], str] = {}
        self._found: set[str] = set()
        self._waiting: deque[tuple[str, Node]] = deque()

    def convert(self, node: Node) -> tuple[Schema, frozenset[str]]:
        """A schema, and the definitions that it refers to itself. Raises DefectError for what is no schema."""
        self._found = set()
        schema = self._schema(node, 0)
        found = frozenset(self._found)
        while self._waiting:
            key, target = self._waiting.popleft()
            self._found = set()
            self.definitions[key] = self._definition(key, target)
            self.uses[key] = tuple(sorted(self._found))
        return schema, found

    def resolve(self, node: Node) -> Node:
        """The schema that a node means, references followed. Raises DefectError."""
        return self._references.follow(node)

    def fault(self, uses: Iterable[str]) -> str | None:
        """Why what refers to these definitions cannot be trusted, if a reference in there leads nowhere."""
        return next((self.broken[key] for key in reachable(uses, self.uses) if key in self.broken), None)

    def _definition(self, key: str, node: Node) -> Schema:
        try:
            return self._schema(node, 0)
        except DefectError as error:
            self.broken[key] = str(error)
            return {}

    def _schema(self, node: Node, depth: int, around: frozenset[str] = frozenset()) -> Schema:
        """`around`: the properties of what it is a part of (`allOf`) that cannot be required."""
        if isinstance(node.value, bool):
            return node.value
        if node.value is None:  # a name with nothing behind it, in YAML
            return {}
        if depth > MAX_DEPTH:
            raise DefectError(f"the schema at {node.where} is nested deeper than {MAX_DEPTH} levels")
        source = node.mapping()
        reference = source.get("$ref", source.get("$dynamicRef"))
        schema: Tree = {}
        if isinstance(reference, str):
            schema["$ref"] = f"#/$defs/{self._key(node, reference)}"
            if self._old:  # siblings of a reference do not count before 3.1, but for what people read
                return self._of_three_zero(_described(schema, source), {"nullable": source.get("nullable")})
        optional = around | one_way(node, self._references) if "required" in source or "allOf" in source else around
        for keyword in source:
            self._keyword(schema, node, keyword, depth, optional)
        _mend_required(schema, optional)
        _mend_alternatives(schema)
        return self._of_three_zero(schema, source) if self._old else _of_three_one(schema, source)

    def _keyword(self, schema: Tree, node: Node, keyword: str, depth: int, optional: frozenset[str]) -> None:
        value = node.mapping()[keyword]
        if keyword in _MAPS and is_mapping(value):
            child = node.child(keyword)
            schema[keyword] = {name: self._schema(child.child(name), depth + 1) for name in child.mapping()}
        elif keyword in _LISTS and is_list(value) and value:
            child = node.child(keyword)
            inner = optional if keyword == "allOf" else frozenset[str]()
            schema[keyword] = [self._schema(child.child(index), depth + 1, inner) for index in range(len(value))]
        elif keyword in _SINGLE and (is_mapping(value) or isinstance(value, bool)):
            schema[keyword] = self._schema(node.child(keyword), depth + 1)
        elif keyword == "type":
            _put_type(schema, value)
        elif keyword == "pattern" and isinstance(value, str) and (literal := _LITERAL.fullmatch(value)):
            if not literal[2]:  # what flags change cannot be said
                schema[keyword] = literal[1]
        elif _is_kept(keyword, value):
            schema[keyword] = value

    def _key(self, node: Node, reference: str) -> str:
        """The definition that a reference means; a new one is put in the queue."""
        try:
            target = self._references.target(node, reference)
        except DefectError as error:
            key = self._new_key(f"missing_{reference.rpartition('/')[2]}")
            self.broken[key] = str(error)
            self.definitions[key] = {}
            self.uses[key] = ()
        else:
            place = (target.document, target.pointer)
            if place not in self._keys:
                self._keys[place] = self._new_key(target.pointer.rpartition("/")[2] or "document")
                self._waiting.append((self._keys[place], target))
                self.definitions[self._keys[place]] = {}
            key = self._keys[place]
        self._found.add(key)
        return key

    def _new_key(self, wanted: str) -> str:
        name = _NOT_A_NAME.sub("_", wanted.replace("~1", "_").replace("~0", "_")) or "schema"
        key, number = name, 2
        while key in self.definitions:
            key, number = f"{name}_{number}", number + 1
        return key

    def _of_three_zero(self, schema: Tree, source: Tree) -> Schema:
        for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if source.get(exclusive) is True and limit in schema:
                schema[exclusive] = schema.pop(limit)
        if source.get("nullable") is True or source.get("x-nullable") is True:
            return _nullable(schema)
        return schema


def reachable(keys: Iterable[str], uses: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The definitions that these refer to, and so on, and they themselves; each once."""
    seen: dict[str, None] = dict.fromkeys(keys)
    waiting = list(seen)
    while waiting:
        key = waiting.pop()
        yield key
        for further in uses.get(key, ()):
            if further not in seen:
                seen[further] = None
                waiting.append(further)


def closed(schema: Schema, definitions: Mapping[str, Schema], uses: Mapping[str, tuple[str, ...]]) -> Schema:
    """A schema together with the definitions that it needs, so that it stands by itself."""
    needed = list(reachable(_references(schema), uses))
    if isinstance(schema, bool) or not needed:
        return schema
    return {**schema, "$defs": {key: definitions[key] for key in needed if key in definitions}}


def meant(schema: Schema | None, definitions: Mapping[str, Schema]) -> Schema | None:
    """The schema itself, or what its reference leads to."""
    for _ in range(MAX_CHAIN):
        reference = schema.get("$ref") if is_mapping(schema) else None
        if not isinstance(reference, str):
            break
        schema = definitions.get(reference.removeprefix("#/$defs/"))
    return schema


def is_array(schema: Schema | None, definitions: Mapping[str, Schema]) -> bool:
    """Whether it describes a list and nothing else."""
    found = meant(schema, definitions)
    return (
        is_mapping(found)
        and found.get("type", "array") == "array"
        and ("type" in found or not _ITEMS.isdisjoint(found))
    )


def _references(schema: Schema) -> Iterator[str]:
    stack: list[object] = [schema]
    while stack:
        node = stack.pop()
        if is_mapping(node):
            for key, value in node.items():
                if key == "$ref" and isinstance(value, str):
                    yield value.removeprefix("#/$defs/")
                elif is_container(value):
                    stack.append(cast("object", value))
        elif is_list(node):
            stack.extend(node)


def _described(schema: Tree, source: Tree) -> Tree:
    if isinstance(source.get("description"), str):
        schema["description"] = source["description"]
    return schema


def _put_type(schema: Tree, value: object) -> None:
    if value == "file":
        schema.update(type="string", format="binary")
    elif isinstance(value, str) and value in _TYPES:
        schema["type"] = value
    elif is_list(value):
        named = ["null" if name is None else name for name in value]
        kept = [name for name in texts(cast("object", named)) if name in _TYPES]
        if kept:
            schema["type"] = kept


def _is_kept(keyword: str, value: object) -> bool:
    """Whether a keyword without schemas in it says something, and rightly."""
    kind = _KINDS.get(keyword)
    if keyword in _FLAGS:
        return value is True
    if kind is None:
        return keyword in {"const", "default"}
    if isinstance(value, bool) or not isinstance(value, kind):
        return False
    return value >= 0 if isinstance(value, int) and keyword in _COUNTS else value != []


def _mend_alternatives(schema: Tree) -> None:
    """Forms of one thing often fit together, though only one of them is meant: the examples of many documents do.

    Where alternatives only say what is required, that one of them fits is all they say.
    """
    options = schema.get("oneOf")
    if (
        is_list(options)
        and "anyOf" not in schema
        and not all(is_mapping(each) and set(each) <= _ONLY for each in options)
    ):
        schema["anyOf"] = schema.pop("oneOf")


def _mend_required(schema: Tree, optional: frozenset[str]) -> None:
    required = schema.get("required")
    if is_list(required):
        schema["required"] = [name for name in texts(required) if name not in optional]
    if schema.get("required") == []:
        del schema["required"]


def texts(value: object) -> list[str]:
    """The texts in a list; nothing of what is no list."""
    return [item for item in value if isinstance(item, str)] if is_list(value) else []


def _of_three_one(schema: Tree, source: Tree) -> Tree:
    """Since 3.1, bytes are text with a media type that is no text, and no encoding (3.1, section 4.7.14).

    `nullable` is none of its keywords, and many go on writing it.
    """
    media = schema.get("contentMediaType")
    if isinstance(media, str) and "contentEncoding" not in schema and kind(media) == "binary":
        schema["format"] = "binary"
    return _nullable(schema) if source.get("nullable") is True else schema


def _nullable(schema: Tree) -> Tree:
    """The same, or null."""
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
        enum = schema.get("enum")
        if is_list(enum) and None not in enum:
            schema["enum"] = [*enum, None]
        return schema
    if not set(schema) - {"title", "description", "default", "deprecated", "readOnly", "writeOnly"}:
        return schema
    told: Tree = {key: schema.pop(key) for key in ("title", "description", "default") if key in schema}
    return {**told, "anyOf": [schema, {"type": "null"}]}
