"""What a script gives for the parts of a multipart body, and what it gets: values, and headers where a part has some.

A part whose headers the document describes is `{"content": ..., "headers": {...}}`; without headers it may be the
content alone. Pure.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi.media import Kind, is_range, kind
from isolith_bindings.openapi.model import Encoding
from isolith_bindings.openapi.schemas import is_array, meant, texts
from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.model import Media, Parameter, Schema

ARTIFACT: Schema = {"type": "string", "format": "artifact"}
"""Bytes that are kept outside of the guest."""
BINARY: Schema = {"type": "string", "format": "binary"}
"""Bytes that a script gives."""
MAX_DEPTH = 6
"""Levels of `allOf` and the like that are looked into."""
MAX_COMPOSED = 200
"""Schemas of one body in `allOf` and the like that are looked into; the others are shown as they stand."""

_BLANK = Encoding()
_SCALARS = ("string", "number", "integer", "boolean")
_COMPOSED = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class Part:
    """One part as a script gives it."""

    content: object
    headers: Mapping[str, object]


def is_binary(schema: Schema | None) -> bool:
    """Whether it stands for bytes."""
    return is_mapping(schema) and schema.get("format") == "binary"


def properties(schema: Schema | None, definitions: Mapping[str, Schema]) -> dict[str, Schema]:
    """What a schema says of each property, also in the parts that it is composed of."""
    found: dict[str, Schema] = {}
    for each in composing(schema, definitions):
        own = each.get("properties")
        found = {**cast("dict[str, Schema]", own if is_mapping(own) else {}), **found}
    return found


def composing(schema: Schema | None, definitions: Mapping[str, Schema]) -> Iterator[dict[str, object]]:
    """The schema itself, and those that it is composed of, each once; references followed."""
    waiting, seen = deque([(schema, 0)]), set[int]()
    while waiting:
        each, depth = waiting.popleft()
        one = meant(each, definitions)
        if not is_mapping(one) or id(one) in seen or depth > MAX_DEPTH:
            continue
        seen.add(id(one))
        yield one
        for keyword in _COMPOSED:
            options = one.get(keyword)
            waiting += [(cast("Schema", option), depth + 1) for option in options] if is_list(options) else []


def is_no_text(schema: Schema | None, definitions: Mapping[str, Schema]) -> bool:
    """Whether a schema says for certain that no text fits it."""
    found = meant(schema, definitions)
    if not is_mapping(found):
        return False
    if "type" in found:
        return "string" not in (found["type"], *texts(found["type"]))
    options = [each for keyword in ("anyOf", "oneOf") if is_list(each := found.get(keyword))]
    alternatives = [meant(cast("Schema", each), definitions) for each in chain.from_iterable(options)]
    return bool(alternatives) and all(
        is_mapping(each) and "type" in each and is_no_text(each, definitions) for each in alternatives
    )


def additional(schema: Schema | None, definitions: Mapping[str, Schema]) -> Schema | None:
    """What a schema says of the properties that it does not name; None where it says nothing."""
    found = meant(schema, definitions)
    others = found.get("additionalProperties") if is_mapping(found) else None
    return others if is_mapping(others) and others else None


def are_named(media: Media, definitions: Mapping[str, Schema]) -> bool:
    """Whether the parts of a multipart body are described by their names."""
    if kind(media.type) != "multipart" or media.stream or is_array(media.schema, definitions):
        return False
    return bool(properties(media.schema, definitions)) or additional(media.schema, definitions) is not None


def told(media: Media, definitions: Mapping[str, Schema], *, answer: bool) -> Schema | None:
    """What stands for all of a multipart body; None where that is what its schema says."""
    view = _View(definitions, answer=answer)
    if media.schema is None or kind(media.type) != "multipart":
        return None
    found = view.each(media.schema, media.parts) if media.stream else view.whole(media.schema, media.parts, 0)
    return None if found == media.schema else found


def of_property(name: str, schema: Schema, media: Media, definitions: Mapping[str, Schema]) -> Schema:
    """What a script gives for one property of a body."""
    encoding = media.parts.named.get(name)
    if encoding is None or encoding.styled or kind(media.type) != "multipart":
        return schema
    return _View(definitions, answer=False).property(schema, encoding)


def opened(value: object, encoding: Encoding) -> Part:
    """A part's content and headers: apart where it says so itself, which only one can whose headers are described."""
    if givable(encoding) and is_mapping(value) and "content" in value and set(value) <= {"content", "headers"}:
        headers = value.get("headers")
        return Part(value["content"], headers if is_mapping(headers) else {})
    return Part(value, {})


def settled(header: Parameter) -> object:
    """The value that the document itself gives a header of a part; None where it gives none."""
    schema = header.schema
    if not is_mapping(schema):
        return None
    only = _only(schema)
    return only if only is not None else schema.get("default")


def givable(encoding: Encoding) -> tuple[Parameter, ...]:
    """The headers of a part that have no value of their own, and may have one."""
    return tuple(each for each in encoding.headers if each.schema is not False and _only(each.schema) is None)


def content_kind(encoding: Encoding) -> Kind | None:
    """How a part is written that the document gives a media type; None where it gives none."""
    concrete = next((each for each in encoding.media if not is_range(each)), None)
    return kind(concrete) if concrete else "binary" if encoding.media else None


def _only(schema: Schema) -> object:
    if not is_mapping(schema):
        return None
    options = schema.get("enum")
    return schema.get("const", options[0] if is_list(options) and len(options) == 1 else None)


@dataclass(frozen=True)
class _View:
    """Schemas as a script sees the parts that they describe: those that it gives, or those of an answer."""

    definitions: Mapping[str, Schema]
    answer: bool
    composed: Iterator[int] = field(default_factory=lambda: iter(range(MAX_COMPOSED)))

    def whole(self, schema: Schema, parts: Encoding, depth: int) -> Schema:
        """A body of parts: by name where it is an object, by position where it is a list."""
        found = meant(schema, self.definitions)
        if not is_mapping(found) or depth > MAX_DEPTH or (depth and next(self.composed, None) is None):
            return schema
        made = self._named(found, parts)
        if is_array(found, self.definitions):
            made = {name: says for name, says in made.items() if name != "prefixItems"} | self._positional(found, parts)
        for keyword in _COMPOSED:
            options = found.get(keyword)
            if is_list(options):
                made = {**made, keyword: [self.whole(cast("Schema", each), parts, depth + 1) for each in options]}
        return schema if made == found else made

    def part(self, schema: Schema, encoding: Encoding) -> Schema:
        """One part."""
        content = self._content(schema, encoding)
        headers = encoding.headers if self.answer else givable(encoding)
        headers = tuple(each for each in headers if each.schema is not False)
        if not headers or not givable(encoding):
            return content
        needed = [each.name for each in headers if each.required and settled(each) is None]
        described: dict[str, object] = {
            "type": "object",
            "properties": {each.name: each.schema for each in headers},
            "additionalProperties": False,
        }
        wrapped: dict[str, object] = {
            "type": "object",
            "properties": {"content": content, "headers": {**described, **({"required": needed} if needed else {})}},
            "required": ["content", "headers"] if needed or self.answer else ["content"],
            "additionalProperties": False,
        }
        # Of what has no type, bytes alone are bytes (OpenAPI 3.2, "Encoding Object"), so that both show in the type.
        return wrapped if needed or self.answer else {"anyOf": [BINARY if content in ({}, True) else content, wrapped]}

    def each(self, schema: Schema, parts: Encoding) -> Schema:
        """One of any number of parts."""
        made = [self.part(schema, each) for each in (*parts.prefix, replace(parts, prefix=()).at(0))]
        options = [each for at, each in enumerate(made) if each not in made[:at]]
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _named(self, found: dict[str, object], parts: Encoding) -> dict[str, object]:
        said, others = found.get("properties"), found.get("additionalProperties")
        changed = {
            name: self.property(cast("Schema", schema), parts.named.get(name, _BLANK))
            for name, schema in (said.items() if is_mapping(said) else ())
            # What an answer has in place of bytes is an artifact, also where nothing is said of how it is written.
            if (name in parts.named or self.answer) and not parts.named.get(name, _BLANK).styled
        }
        made = {**found, "properties": {**said, **changed}} if is_mapping(said) and changed else found
        if self.answer and is_mapping(others) and others:
            made = {**made, "additionalProperties": self.property(cast("Schema", others), _BLANK)}
        return made

    def property(self, schema: Schema, encoding: Encoding) -> Schema:
        """A part for each item, where it is a list."""
        found = meant(schema, self.definitions)
        if not is_array(found, self.definitions) or content_kind(encoding) == "multipart":
            return self.part(schema, encoding)
        items = cast("Schema", cast("dict[str, object]", found).get("items", {}))
        made = self.part(items, encoding)
        return schema if made == items else {**cast("dict[str, object]", found), "items": made}

    def _positional(self, found: dict[str, object], parts: Encoding) -> dict[str, object]:
        said = found.get("prefixItems")
        first = [cast("Schema", each) for each in said] if is_list(said) else []
        rest = cast("Schema", found.get("items", {}))
        count = max(len(first), len(parts.prefix) if rest is not False else 0)
        made = [self.part(first[at] if at < len(first) else rest, parts.at(at)) for at in range(count)]
        behind = rest if rest is False else self.part(rest, replace(parts, prefix=()).at(0))
        made = made if made != [behind] * len(made) else []
        whole: dict[str, object] = {"prefixItems": made} if made else {}
        return {**whole, "items": behind} if behind != {} or "items" in found else whole

    def _content(self, schema: Schema, encoding: Encoding) -> Schema:
        """Data where it can be written as data, else text or bytes; in an answer what it is read as."""
        found, kinds = meant(schema, self.definitions), {kind(each) for each in encoding.media}
        written = content_kind(encoding)
        if written == "multipart":
            return self.whole(schema, encoding, 0)
        if self.answer and len(kinds) > 1:
            return {}
        if written == "binary" or (written is None and is_binary(found)):
            return ARTIFACT if self.answer else schema if _is_scalar(found) else BINARY
        if written != "text" or (_is_scalar(found) and not (self.answer and is_binary(found))):
            return schema
        return BINARY if found in (None, True, {}) and not self.answer else {"type": "string"}


def _is_scalar(schema: Schema | None) -> bool:
    return is_mapping(schema) and schema.get("type") in _SCALARS
