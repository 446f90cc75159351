"""The body of a request, as the document says it: which media types, and which arguments it is made of.

An object that is closed to other fields becomes one argument for each field, since that is how functions are called;
what is composed, optional in itself, open or no object at all is the one argument `body`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi import encodings, parts, sequences
from isolith_bindings.openapi.media import SEQUENCES, Kind, essence, is_range, kind
from isolith_bindings.openapi.model import Media, Schema
from isolith_bindings.openapi.parts import is_binary
from isolith_bindings.openapi.refs import DefectError, Node
from isolith_bindings.openapi.schemas import is_array, meant, texts
from isolith_bindings.openapi.tree import is_mapping

if TYPE_CHECKING:
    from isolith_bindings.openapi.schemas import Schemas

MAX_FIELDS = 120
"""Fields that become arguments; a larger object is one argument."""
MAX_PARTS = 20
"""Schemas that one is composed of."""

_RANK = {"json": 0, "form": 1, "multipart": 2, "lines": 3, "records": 3, "events": 3, "text": 4, "binary": 5}
_LISTED = SEQUENCES | {"multipart"}
_OF_ANY_KIND = frozenset({"*/*", "*", "application/*"})
_EMPTY: tuple[Schema, ...] = (
    {"type": "object", "properties": {}, "additionalProperties": False},
    {"type": "object", "additionalProperties": False},
)
_OPENING = ("oneOf", "not", "if", "patternProperties", "discriminator", "unevaluatedProperties", "$dynamicRef")


@dataclass(frozen=True)
class Field:
    """One field of a body that is given as an argument of its own."""

    name: str
    schema: Schema
    required: bool
    description: str = ""


@dataclass(frozen=True)
class Content:
    """A body or an answer as it was read. `fields`: what it is made of, if it is given field by field."""

    media: tuple[Media, ...]
    required: bool
    where: str
    fields: tuple[Field, ...] = field(default=())


def read(node: Node, schemas: Schemas) -> Content | None:
    """A request body; None where nothing can be in it. Raises DefectError for one that cannot be sent."""
    media, uses = contents(node, schemas)
    required = node.mapping().get("required") is True
    if not media and node.mapping().get("required") is False:
        return None  # nobody says what it would hold, and somebody that it can be left out
    if not media:
        raise DefectError(f"the body at {node.where} has no media type")
    fault = schemas.fault(uses)
    if fault:
        raise DefectError(f"the body at {node.where}: {fault}")
    if not required and all(item.schema in _EMPTY for item in media):
        return None
    found: tuple[Field, ...] = ()
    if choosable(media) == () and not media[0].stream and kind_of(media[0]) in {"json", "form", "multipart"}:
        found = _fields(schemas.resolve(node.child("content").child(media[0].type)), media[0], schemas)
    return Content(media, required, node.where, found)


def contents(node: Node, schemas: Schemas, *, answer: bool = False) -> tuple[tuple[Media, ...], frozenset[str]]:
    """The media types under `content`, best first, and the definitions that they refer to."""
    found: list[Media] = []
    uses: frozenset[str] = frozenset()
    for name, entry in node.entries("content"):
        content = schemas.resolve(entry)  # a reference to one of `components/mediaTypes`, since 3.2
        item, used = _converted(_item(name, content, answer=answer), schemas)
        schema, used_by_all = _converted(content.get("schema"), schemas)
        uses |= used | used_by_all
        stream = item is not None
        if item is not None:
            schema, stream = _with_items(item, schema)
        elif kind(name) in _LISTED:
            schema, stream = _listed(name, schema, schemas)
        media = Media(name, schema, encodings.parts(content, name, schemas), stream)
        named = answer and parts.are_named(media, schemas.definitions)
        found.append(replace(media, told=parts.told(media, schemas.definitions, answer=answer), named=named))
    return tuple(sorted(found, key=_rank)), uses


def _item(media: str, content: Node, *, answer: bool) -> Node | None:
    """The schema of each item. Raises DefectError where there can be none that would be sent one after another."""
    found = content.get("itemSchema")
    if found is None or kind(media) in _LISTED or is_range(media):
        return found
    if answer:
        return None  # it is read as what it is
    raise DefectError(f"{found.where}: `{media}` is not known as one item after another")


def _converted(node: Node | None, schemas: Schemas) -> tuple[Schema | None, frozenset[str]]:
    return schemas.convert(node) if node else (None, frozenset())


def _with_items(item: Schema, whole: Schema | None) -> tuple[Schema, bool]:
    """The schema of each item; with one of them all beside it, that of a list for which both count."""
    return (item, True) if whole is None else ({"type": "array", "items": item, "allOf": [whole]}, False)


def _listed(media: str, schema: Schema | None, schemas: Schemas) -> tuple[Schema | None, bool]:
    """`schema` where there may be a list, and whether it is that of each item.

    Since 3.2 it is that of them all; before, that of lines was often that of each.
    """
    if is_array(schema, schemas.definitions):
        found = meant(schema, schemas.definitions)
        return ({"type": "array", **found} if is_mapping(found) else found), False
    found_kind = kind(media)
    if found_kind == "events" and schema is not None and parts.is_no_text(schema, schemas.definitions):
        return _as_event(schema, schemas), True
    return schema, found_kind in SEQUENCES and (found_kind != "events" or schema is None)


def _as_event(schema: Schema, schemas: Schemas) -> Schema:
    """What many documents have in place of a stream: the schema of each event, or of the data in each."""
    if "data" in parts.properties(schema, schemas.definitions):
        return schema
    event = sequences.EVENT if is_mapping(sequences.EVENT) else {}
    return {**event, "properties": {**cast("dict[str, object]", event["properties"]), "data": schema}}


def choosable(media: tuple[Media, ...]) -> tuple[str, ...]:
    """The media types to choose from, if it matters: where they differ in what they hold."""
    first = media[0] if media else None
    distinct = first and any(other.schema != first.schema or other.stream != first.stream for other in media)
    return tuple(other.type for other in media) if distinct else ()


def kind_of(media: Media) -> Kind:
    """How it is written and read; what may be of any type is JSON, unless it is binary."""
    if essence(media.type) in _OF_ANY_KIND and media.schema not in (None, {}) and not is_binary(media.schema):
        return "json"
    found = kind(media.type)
    # What says of all events that they are, say, a text is believed: they are not taken apart.
    return "text" if found == "events" and not (media.stream or is_listed(media)) else found


def is_listed(media: Media) -> bool:
    """Whether it is described as a list of items or of parts."""
    return media.stream or (is_mapping(media.schema) and media.schema.get("type") == "array")


def whole_schema(media: Media) -> Schema:
    """The schema of all of it, as a script gives or gets it; anything where nothing is said."""
    each = media.told if media.told is not None else media.schema
    if media.stream and each is None and kind(media.type) == "events":
        each = sequences.EVENT
    each = {} if each is None else each
    return {"type": "array", "items": each} if media.stream else each


def argument_schema(media: Media) -> Schema:
    """What a script gives as the whole body: data where it can be written as data, else text or bytes."""
    found = kind_of(media)
    schema = {} if media.schema is None else media.schema
    if media.stream or found in SEQUENCES or found == "multipart":
        return whole_schema(media)
    if found == "binary" or is_binary(schema):
        return {"type": "string", "format": "binary"}
    scalar = is_mapping(schema) and schema.get("type") in ("string", "number", "integer", "boolean")
    return {"type": "string"} if found == "text" and not scalar else schema


def choices(media: tuple[Media, ...]) -> tuple[str, ...]:
    """The media types of a body to choose from: also where several kinds of JSON mean different things (patches)."""
    of_json = {essence(item.type) for item in media if kind_of(item) == "json"}
    return tuple(item.type for item in media) if len(of_json) > 1 else choosable(media)


def _rank(media: Media) -> tuple[int, int]:
    """JSON first, and of its kinds the plainest: a patch by operations is the last that is guessed."""
    found = kind_of(media)
    if found == "json":
        plain = essence(media.type)
        return 0, 0 if plain in {"application/json", "*/*"} else 2 if plain == "application/json-patch+json" else 1
    binary = found in {"form", "multipart"} and _has_binary(media.schema)
    return _RANK[found], int(found == "form" and binary)


def _has_binary(schema: Schema | None) -> bool:
    properties = schema.get("properties") if is_mapping(schema) else None
    values = properties.values() if is_mapping(properties) else ()
    return any(is_binary(cast("Schema", value)) for value in values)


# --------------------------------------------------------------------------------------------------------- fields


def _fields(content: Node, media: Media, schemas: Schemas) -> tuple[Field, ...]:
    """The fields of an object that takes no others; none where it is anything else."""
    schema = content.get("schema")
    objects = _parts(schema, schemas, []) if schema else None
    if not objects:
        return ()
    required: set[str] = set()
    found: dict[str, Node] = {}
    for part in objects:
        required |= set(texts(part.mapping().get("required")))
        for name, node in part.entries("properties"):
            found.setdefault(name, node)
    if not 0 < len(found) <= MAX_FIELDS:
        return ()
    fields: list[Field] = []
    for name, node in found.items():
        if _is_read_only(node, schemas):
            continue
        converted, _ = schemas.convert(node)
        fields.append(Field(name, parts.of_property(name, converted, media, schemas.definitions), name in required))
    fields += [Field(name, {}, required=True) for name in sorted(required - found.keys())]
    return tuple(fields)


def _parts(node: Node, schemas: Schemas, found: list[Node]) -> list[Node] | None:
    """The plain objects that a schema is composed of; None where it is no such thing."""
    target = schemas.resolve(node)
    if not is_mapping(target.value) or len(found) >= MAX_PARTS:
        return None
    told = target.mapping()
    closed = told.get("additionalProperties", False) is False
    if (
        not closed
        or told.get("type", "object") != "object"
        or told.get("nullable")
        or any(key in told for key in _OPENING)
    ):
        return None
    if "anyOf" in told and not all(_only_requires(part) for part in target.items("anyOf")):
        return None
    found.append(target)
    for part in target.items("allOf"):
        if _parts(part, schemas, found) is None:
            return None
    return found


def _only_requires(part: Node) -> bool:
    """`anyOf` is often used to say which fields go together."""
    return is_mapping(part.value) and set(part.value) <= {"required", "title", "description"}


def _is_read_only(node: Node, schemas: Schemas) -> bool:
    own = is_mapping(node.value) and node.value.get("readOnly") is True
    try:
        target = schemas.resolve(node)
    except DefectError:
        return own
    return own or (is_mapping(target.value) and target.value.get("readOnly") is True)
