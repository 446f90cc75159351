"""From JSON Schema, of any draft, to types as data. Total: whatever it is given, it answers, and within its limits.

What a type cannot say is left out of it and said in a note; what is not understood is `Any`, never an invented name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings.schema.constraints import notes
from isolith_bindings.schema.merging import NARROWED, UNIONS, Merging, both, says_nothing
from isolith_bindings.schema.nodes import (
    ANY,
    NEVER,
    NONE,
    DictOf,
    Field,
    ListOf,
    Node,
    Plain,
    Record,
    TupleOf,
    Values,
    union,
)
from isolith_bindings.schema.nodes import text as show
from isolith_bindings.schema.parts import items, mapping, text, texts, type_names
from isolith_bindings.schema.references import REFERENCES, References, named
from isolith_bindings.schema.typenames import TypeNames, singular
from isolith_bindings.schema.values import is_type

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema


@dataclass(frozen=True)
class Limits:
    """How much of a schema is read; what is beyond is `Any`."""

    nodes: int = 600
    depth: int = 12
    records: int = 60
    fields: int = 200
    options: int = 16
    values: int = 24
    value_length: int = 60


_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
NATIVE = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID",
    "decimal": "Decimal",
}
"""What a Python function of the host takes and gives under these formats; from elsewhere they are text."""
_TEXTS_FROM_BYTES = frozenset({"binary", "artifact"})
_STRUCTURE = ("properties", "patternProperties", "additionalProperties", "required")
_MAX_INTEGER = 10**18


@dataclass(frozen=True)
class Place:
    """Where in the types a schema is read: what it would be called, and how deep it is."""

    name: str
    depth: int = 0

    def inside(self, name: str) -> Place:
        """A place within it."""
        return Place(name, self.depth + 1)


class Reader:
    """Reads the schemas of one document; `records` are what has to be declared, in the order of first use."""

    def __init__(self, root: object, names: TypeNames, limits: Limits, *, native: bool = False) -> None:
        self._limits = limits
        self._formats = NATIVE if native else {}
        self._names = names
        self._references = References(root)
        self._merging = Merging(self._references)
        self._declared: dict[int, str] = {}
        self._alike: dict[object, str] = {}
        self._under_way: set[int] = set()
        self._nodes = 0
        self.records: dict[str, Record] = {}
        self.sources: dict[str, JsonSchema] = {}
        """What each record was read from, merged."""

    def read(self, schema: object, name: str) -> Node:
        """The type of a schema; `name` is what it is called where it has no name of its own."""
        return self._read(schema, Place(name))

    def fields(self, schema: object, name: str) -> Record | None:
        """The keys of an object, not declared: for the arguments of a method. None where it is no plain object."""
        merged = self._merging.merged(schema)
        if isinstance(merged, bool):
            return Record(name, (), ANY) if merged else None
        while UNIONS in merged:
            merged = self._joined(merged)
        return self._record(merged, Place(name))

    def merged(self, schema: object) -> JsonSchema:
        """A schema with its references followed, for what is said beside its type."""
        merged = self._merging.merged(schema)
        return {} if isinstance(merged, bool) else merged

    def _read(self, schema: object, at: Place) -> Node:
        if schema is False:
            return NEVER
        if not isinstance(schema, dict) or at.depth > self._limits.depth:
            return ANY
        said = cast("JsonSchema", schema)
        # What holds nothing costs nothing, and the arguments themselves are read however much one of them holds.
        if _holds(said):
            self._nodes += 1
            if self._nodes > self._limits.nodes and at.depth > 1:
                return ANY
        target = self._named(said)
        if target is not None:
            return self._referred(*target, at)
        merged = self._merging.merged(said)
        return (ANY if merged else NEVER) if isinstance(merged, bool) else self._merged(merged, at)

    def _named(self, schema: JsonSchema) -> tuple[object, str] | None:
        """What a schema that is only a reference leads to, and its name."""
        references = [name for name in REFERENCES if name in schema]
        if len(references) != 1 or not says_nothing({k: v for k, v in schema.items() if k != references[0]}):
            return None
        reference = schema[references[0]]
        target = self._references.find(reference)
        return None if target is None else (target, named(str(reference)))

    def _referred(self, target: object, name: str, at: Place) -> Node:
        """The type of what a reference leads to. A cycle goes through a declared type, or ends as `Any`."""
        mark = id(target)
        known = self._declared.get(mark) or self._names.known(name, target)
        if known is not None:
            return _with_null(Plain(known), mapping(target))
        if mark in self._under_way or not isinstance(target, dict):
            return ANY if mark in self._under_way or target is not False else NEVER
        self._under_way.add(mark)
        try:
            merged = self._merging.merged(cast("object", target))
            place = Place(name or at.name, at.depth)
            if isinstance(merged, dict) and _is_record(_without_null(merged)) and self._room():
                return _with_null(self._declare(_without_null(merged), place, cast("object", target)), merged)
            return (ANY if merged else NEVER) if isinstance(merged, bool) else self._merged(merged, place)
        finally:
            self._under_way.discard(mark)

    def _merged(self, schema: JsonSchema, at: Place) -> Node:
        if UNIONS in schema:
            return self._unions(schema, at)
        node = self._values(schema) if "enum" in schema else self._typed(schema, at)
        return union([node, NONE]) if schema.get("nullable") is True and node != ANY else node

    def _typed(self, schema: JsonSchema, at: Place) -> Node:
        names = type_names(schema) if schema.get("type") is not None else [_implied(schema)]
        return union([self._of_type(name, schema, at) for name in names]) if len(names) <= len(_TYPES) + 3 else ANY

    def _of_type(self, name: object, schema: JsonSchema, at: Place) -> Node:
        if name == "object":
            return self._object({**schema, "type": "object"}, at)
        if name == "array":
            return self._array(schema, at)
        if name == "null":
            return NONE
        if name == "string" and text(schema.get("format")) in _TEXTS_FROM_BYTES:
            return union(
                [Plain("Artifact"), Plain("bytes"), *([] if schema["format"] == "artifact" else [Plain("str")])]
            )
        if name == "string" and text(schema.get("format")) in self._formats:
            return Plain(self._formats[text(schema.get("format"))])
        return Plain(_TYPES[name]) if isinstance(name, str) and name in _TYPES else ANY

    # ------------------------------------------------------------------------------------------ unions and values

    def _unions(self, schema: JsonSchema, at: Place) -> Node:
        base = {name: says for name, says in schema.items() if name != UNIONS}
        unions = cast("list[list[object]]", schema[UNIONS])
        options, rest = unions[0], unions[1:]
        if len(options) > self._limits.options:
            return ANY
        if rest:
            base[UNIONS] = rest
        bare = says_nothing(base)
        if all(self._only_narrows(option) for option in options):
            return self._merged({**base, NARROWED: [*items(base.get(NARROWED)), options]}, at)
        nodes = [self._read(option, at) if bare else self._option(base, option, at) for option in options]
        return union([*nodes, *([NONE] if schema.get("nullable") is True else [])])

    def _option(self, base: JsonSchema, option: object, at: Place) -> Node:
        self._nodes += 1
        if self._nodes > self._limits.nodes or at.depth > self._limits.depth:
            return ANY
        merged = both(base, self._merging.merged(option))
        if isinstance(merged, bool):
            return ANY if merged else NEVER
        own = self._merging.merged(option)
        title = own.get("title") if isinstance(own, dict) else None
        return self._merged(merged, Place(title if isinstance(title, str) else at.name, at.depth + 1))

    def _only_narrows(self, option: object) -> bool:
        """Whether an option says nothing that the type shows, such as which keys are needed together."""
        merged = self._merging.merged(option)
        shows = {
            "type",
            "properties",
            "items",
            "prefixItems",
            "enum",
            "patternProperties",
            "additionalProperties",
            UNIONS,
        }
        return isinstance(merged, dict) and not shows & merged.keys() and not says_nothing(merged)

    def _joined(self, schema: JsonSchema) -> JsonSchema:
        """An object with the keys of all options: needed is what each of them needs."""
        base = {name: says for name, says in schema.items() if name != UNIONS}
        for options in cast("list[list[object]]", schema[UNIONS]):
            if all(self._only_narrows(option) for option in options):
                base[NARROWED] = [*items(base.get(NARROWED)), options]
            merged = [self._merging.merged(option) for option in options[: self._limits.options]]
            objects = [option for option in merged if isinstance(option, dict)]
            needed = [texts(option.get("required")) for option in objects]
            shared = [name for name in needed[0] if all(name in names for names in needed)] if needed else []
            properties: JsonSchema = {}
            for option in objects:
                for name, says in mapping(option.get("properties")).items():
                    known = properties.get(name)
                    properties[name] = says if known is None or known == says else {"anyOf": [known, says]}
            joined = both(base, {"properties": properties, "required": shared if len(objects) == len(options) else []})
            base = joined if isinstance(joined, dict) else base
        return base

    def _values(self, schema: JsonSchema) -> Node:
        listed = items(schema["enum"])
        names = [name for name in type_names(schema) if isinstance(name, str)]
        if names:
            listed = [value for value in listed if any(is_type(value, name) is not False for name in names)]
        many = len(listed) > self._limits.values
        return union([_value(value, 0 if many else self._limits.value_length) for value in listed])

    # ------------------------------------------------------------------------------------------ objects and arrays

    def _object(self, schema: JsonSchema, at: Place) -> Node:
        if not _is_record(schema):
            return DictOf(
                self._others(schema, at) or (ANY if schema.get("additionalProperties") is not False else NEVER)
            )
        if not self._room():
            return DictOf(ANY)
        title = schema.get("title")
        own = title if isinstance(title, str) and title and at.depth == 0 else at.name
        return self._declare(schema, Place(own, at.depth))

    def _room(self) -> bool:
        return len(self.records) < self._limits.records

    def _declare(self, schema: JsonSchema, at: Place, target: object = None) -> Node:
        name = self._names.claim(at.name, target)
        if target is not None:
            self._declared[id(target)] = name
        self.sources[name] = schema
        self.records[name] = Record(name, ())  # its place in the order, before what it holds
        record = self._record(schema, Place(name, at.depth))
        same = self._same(record) if target is None else name
        if same != name:  # another place has the very same type
            del self.records[name], self.sources[name]
            return Plain(same)
        self.records[name] = record
        return Plain(name)

    def _same(self, record: Record) -> str:
        """The name of the first type that holds the same, as it is written: 1 is not True here."""
        fields = [(field.name, show(field.node), field.required, field.words, field.notes) for field in record.fields]
        defaults = [(type(field.default), field.default) for field in record.fields]
        others = None if record.others is None else show(record.others)
        try:
            content = (*fields, *defaults, others, record.words, record.notes)
            return self._alike.setdefault(content, record.name)
        except TypeError:  # a default that has no hash
            return record.name

    def _record(self, schema: JsonSchema, at: Place) -> Record:
        properties = mapping(schema.get("properties"))
        required = texts(schema.get("required"))
        listed = list(properties.items())[: self._limits.fields]
        fields = [self._field(name, says, name in required, at) for name, says in listed]
        fields += [Field(name, ANY, required=True) for name in dict.fromkeys(required) if name not in properties][:20]
        left = len(properties) - len(listed)
        more = (f"and {left} more keys",) if left else ()
        return Record(
            at.name, tuple(fields), self._others(schema, at), text(schema.get("description")), more + notes(schema)
        )

    def _field(self, name: str, schema: object, required: bool, at: Place) -> Field:  # noqa: FBT001
        merged = self.merged(schema)
        node = self._read(schema, at.inside(f"{at.name} {name}"))
        declared = isinstance(node, Plain) and node.name in self.records
        # What a declared type says of itself is said there.
        words = text((mapping(schema) if declared else merged).get("description"))
        return Field(name, node, required, words, self.notes(merged, node), merged.get("default", ...))

    def notes(self, merged: JsonSchema, node: Node) -> tuple[str, ...]:
        """What the type does not say of a value, the values of an enum that was too long for it included."""
        values = items(merged.get("enum"))
        said = text(merged.get("format"))
        # Of a value that is a Python date, `date` says nothing more.
        found = tuple(note for note in notes(merged) if note != said or said not in self._formats)
        if isinstance(node, Values) or len(values) <= 1:
            return found
        shown = ", ".join(repr(value) for value in values[:8] if isinstance(value, str) and len(value) < 40)
        return (f"one of {len(values)}: {shown}, ..." if shown else f"one of {len(values)}", *found)

    def _others(self, schema: JsonSchema, at: Place) -> Node | None:
        """What keys without a name of their own hold; None where there are none, or where nothing is said."""
        inner = at.inside(f"{at.name} value")
        kinds = [self._read(says, inner) for says in list(mapping(schema.get("patternProperties")).values())[:8]]
        extra = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if extra is True or isinstance(extra, dict):
            kinds.append(self._read(cast("object", extra), inner))
        return union(kinds) if kinds else None

    def _array(self, schema: JsonSchema, at: Place) -> Node:
        each = schema.get("items")
        first = schema.get("prefixItems", each)
        inner = at.inside(singular(at.name))
        if not isinstance(first, list):
            return ListOf(self._read(each, inner) if each is not None else ANY)
        rest = schema.get("additionalItems") if isinstance(each, list) else each
        return self._tuple(cast("list[object]", first), rest, schema, inner)

    def _tuple(self, first: list[object], rest: object, schema: JsonSchema, at: Place) -> Node:
        kinds = [self._read(item, at) for item in first[:32]]
        if not kinds:
            return ListOf(ANY if rest is None else self._read(rest, at))
        behind = ANY if rest is None or rest is True else self._read(rest, at)
        least, most = schema.get("minItems"), schema.get("maxItems")
        closed = behind == NEVER or most == len(first)
        if len(first) > len(kinds) or (isinstance(least, int) and least < len(first)):
            # Fewer items may come, which a tuple cannot say.
            return ListOf(union([*kinds, *([] if closed else [behind])]))
        return TupleOf(tuple(kinds), None if closed else behind)


def _is_record(schema: JsonSchema) -> bool:
    """Whether it is an object whose keys have names, and nothing else."""
    names = type_names(schema)
    has_keys = bool(mapping(schema.get("properties")) or texts(schema.get("required")))
    return has_keys and "enum" not in schema and UNIONS not in schema and names in (["object"], [None])


def _holds(schema: JsonSchema) -> bool:
    """Whether there may be other schemas in it."""
    return any(isinstance(says, (dict, list)) for says in schema.values()) or "$ref" in schema


def _without_null(schema: JsonSchema) -> JsonSchema:
    """A schema of an object or null as that of the object."""
    names = [name for name in type_names(schema) if name != "null"]
    return {**schema, "type": "object"} if names == ["object"] else schema


def _with_null(node: Node, schema: JsonSchema) -> Node:
    """The type, or null where its schema allows that."""
    return union([node, NONE]) if "null" in type_names(schema) or schema.get("nullable") is True else node


def _implied(schema: JsonSchema) -> str | None:
    if any(name in schema for name in _STRUCTURE):
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else None


def _value(value: object, length: int) -> Node:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return Values((value,)) if length else Plain("bool")
    if isinstance(value, int):
        return Values((value,)) if length and abs(value) < _MAX_INTEGER else Plain("int")
    if isinstance(value, str):
        return Values((value,)) if len(value) <= length else Plain("str")
    if isinstance(value, float):
        return Plain("float")
    return ListOf(ANY) if isinstance(value, list) else DictOf(ANY) if isinstance(value, dict) else ANY
