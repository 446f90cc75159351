"""The parts of a multipart answer as values: a list in their order, or a mapping by their names."""

from __future__ import annotations

import base64
import quopri
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl

from isolith_bindings import json_text
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.media import FORM_DATA, SEQUENCES, essence, is_range, kind, text_of
from isolith_bindings.openapi.model import Encoding
from isolith_bindings.openapi.partition import boundary_of, sections
from isolith_bindings.openapi.parts import additional, content_kind, givable, is_binary, properties
from isolith_bindings.openapi.schemas import is_array, meant, texts
from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import Artifacts
    from isolith_bindings.openapi.media import Kind
    from isolith_bindings.openapi.model import Media, Parameter, Schema
    from isolith_bindings.openapi.partition import Section

MAX_DEPTH = 8
"""Levels of multipart in multipart; what is deeper is an artifact."""

_BLANK = Encoding()
_OCTETS = "application/octet-stream"
_TYPES: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "array": list,
}


@dataclass(frozen=True)
class File:
    """A part that is bytes, before it is kept."""

    content: bytes
    mime: str
    name: str | None


class ByName(dict[str, object]):
    """A mapping of parts, in which files may be; data that came is never looked through for them."""


def kept(value: object, artifacts: Artifacts) -> object:
    """The same, with the artifacts that the bytes in it are kept as. Raises CallError."""
    if isinstance(value, File):
        return artifacts.keep(value.content, mime=value.mime, name=value.name)
    if is_list(value):
        return [kept(each, artifacts) for each in value]
    return {name: kept(each, artifacts) for name, each in value.items()} if isinstance(value, ByName) else value


@dataclass(frozen=True)
class Received:
    """Reads the parts of one answer, in any thread; those that are bytes have to be `kept`.

    `cut`: the answer has no end, and its last part may be half. Each method raises ValueError and RecursionError for
    what is not what it says it is.
    """

    definitions: Mapping[str, Schema]
    cut: bool = False

    def listed(self, content: bytes, told: str, media: Media) -> list[object]:
        """The parts in their order."""
        schema: Schema | None = media.schema
        if media.stream:
            schema = {} if schema is None else {"items": schema}
        return self._list(content, told, schema, media.parts, 0)

    def named(self, content: bytes, told: str, media: Media) -> ByName:
        """The parts by their names: a list under a name that the document has a list under, or that several have."""
        return self._mapping(content, told, media.schema, media.parts, 0)

    def _list(self, content: bytes, told: str, schema: Schema | None, encoding: Encoding, depth: int) -> list[object]:
        form = essence(told) == FORM_DATA
        found: list[object] = []
        for at, section in enumerate(self._sections(content, told, depth)):
            each, how = self._schema_at(schema, at), encoding.at(at)
            name = section.name if form and properties(each, self.definitions) else None
            if name is None:
                found.append(self._part(section, how, each, depth))
            else:  # since 3.2: a mapping of one name to its value
                inner = properties(each, self.definitions).get(name)
                found.append(ByName({name: self._part(section, how, inner, depth)}))
        return found

    def _mapping(self, content: bytes, told: str, schema: Schema | None, encoding: Encoding, depth: int) -> ByName:
        known, others = properties(schema, self.definitions), additional(schema, self.definitions)
        found: dict[str, list[object]] = {}
        for at, section in enumerate(self._sections(content, told, depth)):
            name = section.name
            if name is None:
                raise ValueError(f"part {at} has no name, by which the document has it")
            how = encoding.named.get(name, _BLANK)
            each = self._each(known.get(name, others), how)
            found.setdefault(name, []).append(self._part(section, how, each, depth))
        return ByName(
            {
                name: self._together(several, known.get(name, others), encoding.named.get(name, _BLANK))
                for name, several in found.items()
            }
        )

    def _sections(self, content: bytes, told: str, depth: int) -> list[Section]:
        boundary = boundary_of(told)
        if boundary is None:
            raise ValueError("its Content-Type says no boundary")
        return sections(content, boundary, cut=self.cut and depth == 0)

    def _each(self, schema: Schema | None, encoding: Encoding) -> Schema | None:
        """What one part holds of a property: an item where it is a list, of which each item is a part."""
        if not self._is_split(schema, encoding):
            return schema
        found = meant(schema, self.definitions)
        return cast("Schema | None", found.get("items")) if is_mapping(found) else None

    def _together(self, several: list[object], schema: Schema | None, encoding: Encoding) -> object:
        if not self._is_split(schema, encoding):
            return several[0] if len(several) == 1 else several
        # Some write a list as one part of JSON, which is the same list.
        whole = several[0] if len(several) == 1 else None
        return whole if is_list(whole) and not is_array(self._each(schema, encoding), self.definitions) else several

    def _is_split(self, schema: Schema | None, encoding: Encoding) -> bool:
        return is_array(schema, self.definitions) and content_kind(encoding) != "multipart"

    def _part(self, section: Section, encoding: Encoding, schema: Schema | None, depth: int) -> object:
        """The content, and beside it the headers where the document describes some."""
        value = self._content(section, encoding, schema, depth)
        if not givable(encoding):
            return value
        headers = {each.name: text for each in encoding.headers if (text := section.header(each.name))}
        typed = {each.name: _typed(each, headers[each.name]) for each in encoding.headers if each.name in headers}
        return ByName({"content": value, "headers": typed})

    def _content(self, section: Section, encoding: Encoding, schema: Schema | None, depth: int) -> object:
        found = meant(schema, self.definitions)
        told = section.header("content-type") or _usual(encoding, found)
        content, read_as = _decoded(section), kind(told)
        if read_as == "multipart" and depth < MAX_DEPTH and (encoding.prefix or encoding.rest):
            return self._list(content, told, schema, encoding, depth + 1)
        if read_as == "multipart" and depth < MAX_DEPTH and encoding.named:
            return self._mapping(content, told, schema, encoding, depth + 1)
        if read_as in {"binary", "multipart"} or _is_file(encoding, found):
            return File(content, essence(told) or _OCTETS, section.filename)
        text = text_of(content, told)
        try:
            return _data(text, read_as, found)
        except ValueError as error:
            which = "" if section.name is None else f" `{section.name:.60}`"
            raise ValueError(f"the part{which} says it is {essence(told)} and is not: {error}") from None

    def _schema_at(self, schema: Schema | None, at: int) -> Schema | None:
        found = meant(schema, self.definitions)
        if not is_mapping(found):
            return None
        first = cast("list[Schema]", found.get("prefixItems") or [])
        return first[at] if at < len(first) else cast("Schema | None", found.get("items"))


def _usual(encoding: Encoding, schema: Schema | None) -> str:
    """What a part is that does not say it: what the document says, else text (RFC 2046, 5.1)."""
    concrete = next((each for each in encoding.media if not is_range(each)), None)
    nested = is_mapping(schema) and ("properties" in schema or schema.get("type") in ("object", "array"))
    return concrete or ("application/json" if nested else _OCTETS if is_binary(schema) else "text/plain")


def _is_file(encoding: Encoding, schema: Schema | None) -> bool:
    """Whether the document says that a part is a file, whatever is in it."""
    kinds = {kind(each) for each in encoding.media}
    return kinds == {"binary"} or (not kinds and is_binary(schema))


def _data(text: str, read_as: Kind, schema: Schema | None) -> object:
    if read_as in SEQUENCES:
        return sequences.read(read_as, text)
    if read_as == "json":
        return cast("object", json_text.loads(text))
    return dict(parse_qsl(text, keep_blank_values=True)) if read_as == "form" else _as_type(text, schema)


def _decoded(section: Section) -> bytes:
    """Without what RFC 2045 lets be around it, which HTTP has no use for."""
    coded = section.header("content-transfer-encoding").strip().lower()
    if coded == "base64":
        return base64.b64decode(section.content)
    return quopri.decodestring(section.content) if coded == "quoted-printable" else section.content


def _as_type(text: str, schema: Schema | None) -> object:
    """Text as the type that the document gives it, where it has such a form: numbers of a form are text on the way."""
    said = schema.get("type") if is_mapping(schema) else None
    types = [said] if isinstance(said, str) else texts(said)
    if not types or "string" in types:
        return text
    try:
        value: object = json_text.loads(text)
    except (ValueError, RecursionError):
        return text
    fits = any(
        isinstance(value, _TYPES.get(each, ())) and (each == "boolean" or not isinstance(value, bool)) for each in types
    )
    return value if fits else text


def _typed(header: Parameter, text: str) -> object:
    """A header as the type that the document gives it, where it can be read so."""
    if header.media is not None and kind(header.media) != "json":
        return text
    schema = header.schema if is_mapping(header.schema) else {}
    if header.media is None and schema.get("type") == "array":
        return [each.strip() for each in text.split(",")]
    if header.media is None and schema.get("type") not in ("integer", "number", "boolean"):
        return text
    try:
        return cast("object", json_text.loads(text))
    except (ValueError, RecursionError):
        return text
