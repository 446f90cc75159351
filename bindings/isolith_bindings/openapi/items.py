"""An answer of many items as a list: lines, records, events, and the parts of a multipart body."""

from __future__ import annotations

import base64
import json
import quopri
import re
from dataclasses import dataclass
from email.message import Message
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl

from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.bodies import kind_of
from isolith_bindings.openapi.media import SEQUENCES, essence, is_range, kind, parameter
from isolith_bindings.openapi.model import Encoding
from isolith_bindings.openapi.partition import boundary_of, sections
from isolith_bindings.openapi.parts import givable
from isolith_bindings.openapi.responses import is_several
from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from isolith_bindings.connector import Artifacts
    from isolith_bindings.openapi.model import Media, Parameter, Schema
    from isolith_bindings.openapi.partition import Section

MAX_DEPTH = 8
"""Levels of multipart in multipart; what is deeper is an artifact."""

_UNSAFE_IN_NAMES = re.compile(r"[^\w. ()+\-]+")
_BLANK = Encoding()


@dataclass(frozen=True)
class File:
    """A part that is bytes, before it is kept."""

    content: bytes
    mime: str
    name: str | None


def kept(items: list[object], artifacts: Artifacts) -> list[object]:
    """The items, with the artifacts that their bytes are kept as. Raises CallError."""
    return [_kept(item, artifacts) for item in items]


def _kept(item: object, artifacts: Artifacts) -> object:
    if isinstance(item, File):
        return artifacts.keep(item.content, mime=item.mime, name=item.name)
    if is_list(item):
        return kept(item, artifacts)
    if is_mapping(item) and isinstance(item.get("content"), (File, list)):
        return {**item, "content": _kept(item["content"], artifacts)}
    return item


def of_several(media: Media | None, told: str) -> bool:
    """Whether what came as the media type `told` is read as a list. Parts are, where the document lists them."""
    found = kind(told)
    if found in SEQUENCES:
        return media is None or kind_of(media) != "text"
    return found == "multipart" and media is not None and is_several(media)


@dataclass(frozen=True)
class Items:
    """Reads the items of one answer, in any thread; parts that are bytes have to be `kept`.

    `cut`: the answer has no end, and its last item may be half.
    """

    media: Media | None
    cut: bool = False

    def read(self, content: bytes, told: str) -> list[object]:
        """All of them. Raises ValueError and RecursionError for what is not what it says it is."""
        if kind(told) == "multipart":
            return self._parts(content, told, self.media.parts if self.media else _BLANK, 0)
        return sequences.read(kind(told), text_of(content, told), cut=self.cut)

    def _parts(self, content: bytes, told: str, encoding: Encoding, depth: int) -> list[object]:
        boundary = boundary_of(told)
        if boundary is None:
            raise ValueError("its Content-Type says no boundary")
        cut = self.cut and depth == 0
        found = sections(content, boundary, cut=cut)
        return [self._part(section, encoding.at(at), at, depth) for at, section in enumerate(found)]

    def _part(self, section: Section, encoding: Encoding, at: int, depth: int) -> object:
        """The content, and beside it the headers where the document describes some."""
        value = self._content(section, encoding, at, depth)
        if not givable(encoding):
            return value
        headers = {each.name: text for each in encoding.headers if (text := section.header(each.name))}
        return {
            "content": value,
            "headers": {
                each.name: _typed(each, headers[each.name]) for each in encoding.headers if each.name in headers
            },
        }

    def _content(self, section: Section, encoding: Encoding, at: int, depth: int) -> object:
        told = section.header("content-type") or self._usual(encoding, at, depth)
        content, found = _decoded(section), kind(told)
        if found == "multipart" and depth < MAX_DEPTH and (encoding.prefix or encoding.rest):
            return self._parts(content, told, encoding, depth + 1)
        if found in {"binary", "multipart"}:
            name = filename(section.header("content-disposition"))
            return File(content, essence(told) or "application/octet-stream", name)
        text = text_of(content, told)
        if found in SEQUENCES:
            return sequences.read(found, text)
        if found == "json":
            return cast("object", json.loads(text))
        return dict(parse_qsl(text, keep_blank_values=True)) if found == "form" else text

    def _usual(self, encoding: Encoding, at: int, depth: int) -> str:
        """What a part is that does not say it: what the document says, else text (RFC 2046, 5.1)."""
        concrete = next((each for each in encoding.media if not is_range(each)), None)
        schema = self._schema(at) if depth == 0 else None
        nested = is_mapping(schema) and ("properties" in schema or schema.get("type") in ("object", "array"))
        return concrete or ("application/json" if nested else "text/plain")

    def _schema(self, at: int) -> Schema | None:
        if self.media is None or self.media.stream:
            return None if self.media is None else self.media.schema
        found = self.media.schema if is_mapping(self.media.schema) else {}
        first = cast("list[Schema]", found.get("prefixItems") or [])
        return first[at] if at < len(first) else cast("Schema | None", found.get("items"))


def text_of(content: bytes, told: str) -> str:
    """Bytes as the text that a media type says they are; what cannot be read is marked, not refused."""
    charset = parameter(told, "charset") or "utf-8"
    try:
        return content.decode("utf-8-sig" if charset.lower() in {"utf-8", "utf8"} else charset, "replace")
    except (LookupError, ValueError):  # there is none of that name, or none that reads text
        return content.decode("utf-8", "replace")


def filename(disposition: str) -> str | None:
    """The name that a server gives a file, as the last part of a path and without what no name should hold."""
    message = Message()
    message["content-disposition"] = disposition
    try:
        name = message.get_filename()
    except (ValueError, LookupError):
        return None
    if not name:
        return None
    last = re.split(r"[/\\]", name)[-1]
    return _UNSAFE_IN_NAMES.sub("_", last)[:120].strip(". ") or None


def _decoded(section: Section) -> bytes:
    """Without what RFC 2045 lets be around it, which HTTP has no use for."""
    coded = section.header("content-transfer-encoding").strip().lower()
    if coded == "base64":
        return base64.b64decode(section.content)
    return quopri.decodestring(section.content) if coded == "quoted-printable" else section.content


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
        return cast("object", json.loads(text))
    except ValueError:
        return text
