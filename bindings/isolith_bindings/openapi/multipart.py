"""Multipart bodies written: parts by name (RFC 7578) and by position (RFC 2046), each with its head. Pure."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.openapi.coded import encoded
from isolith_bindings.openapi.media import FORM_DATA, covers, essence, is_range, kind, parameter
from isolith_bindings.openapi.model import Encoding, Media, Schema
from isolith_bindings.openapi.parts import content_kind, is_binary, opened, settled
from isolith_bindings.openapi.schemas import is_array, meant
from isolith_bindings.openapi.styles import UnsendableError, in_header, pairs, scalar
from isolith_bindings.openapi.tree import is_list, is_mapping
from isolith_bindings.openapi.wire import content, is_content, listed, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isolith_bindings.openapi.model import Parameter
    from isolith_bindings.openapi.wire import ReadArtifact

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Written:
    """A body, and what its Content-Type says."""

    content: bytes
    type: str


@dataclass(frozen=True)
class Writer:
    """What the parts of a body are written with. `write`: a value as the content of a media type."""

    definitions: Mapping[str, Schema]
    read: ReadArtifact
    write: Callable[[Media, object], Written]

    def body(self, media: Media, value: object) -> Written:
        """A mapping as parts that have names, a list as parts in order. Raises UnsendableError, and CallError."""
        items = listed(value)
        wanted = "multipart/mixed" if items is not None and is_range(media.type) else media.type
        told = FORM_DATA if is_range(wanted) else wanted
        media = replace(media, type=told)
        parts = list(self._named(media, value) if items is None else self._positional(media, items))
        # The boundary is made from what it divides, so that one request is the same bytes whenever it is planned.
        boundary = "isolith-" + hashlib.sha256(b"\0".join(part.whole for part in parts)).hexdigest()[:32]
        mark = f"--{boundary}".encode()
        body = b"".join(mark + b"\r\n" + part.whole + b"\r\n" for part in parts) + mark + b"--\r\n"
        if essence(told) == "multipart/related" and parameter(told, "type") is None and parts:
            told += f'; type="{essence(parts[0].type)}"'  # RFC 2387, 3.1: that of the root
        return Written(body, f"{told}; boundary={boundary}")

    def _named(self, media: Media, value: object) -> Iterator[_Part]:
        if not is_mapping(value):
            raise UnsendableError(f"a mapping can be sent here, not a {type(value).__name__}")
        properties = _properties(media.schema, self.definitions)
        for name, item in value.items():
            encoding = media.parts.named.get(name, Encoding())
            if item is None and content_kind(encoding) != "json":
                continue  # it has no form, as in a query
            yield from self._property(name, item, properties.get(name), encoding)

    def _property(self, name: str, item: object, schema: Schema | None, encoding: Encoding) -> Iterator[_Part]:
        """A part for each item of a list."""
        if encoding.styled:
            yield from self._styled(name, item, encoding)
            return
        several = None if content_kind(encoding) == "multipart" else listed(item)
        found = meant(schema, self.definitions)
        if is_array(found, self.definitions) and is_mapping(found) and several is not None:
            schema = cast("Schema | None", found.get("items"))
        for one in [item] if several is None else several:
            yield self._part(one, schema, encoding, name)

    def _styled(self, name: str, item: object, encoding: Encoding) -> Iterator[_Part]:
        """As a parameter of a query is written, without anything encoded (OpenAPI 3.2, "Encoding Object")."""
        style = encoding.style or "form"
        explode = encoding.explode if encoding.explode is not None else style == "form"
        data = plain(item, self.read)
        written = pairs(
            name, data, style, explode=explode, encode=lambda each: quote(each, safe=""), inner=encoding.inner
        )
        for key, text in written:
            yield _Part(_head(_disposition(unquote(key)), None, ()), _encoded(unquote(text or "")), "text/plain")

    def _positional(self, media: Media, items: list[object]) -> Iterator[_Part]:
        form = essence(media.type) == FORM_DATA
        for at, item in enumerate(items):
            schema, encoding = self._schema_at(media, at), media.parts.at(at)
            if not form:
                yield self._part(item, schema, encoding, None)
            elif is_mapping(item) and len(item) == 1:
                name, value = next(iter(item.items()))
                yield self._part(value, _properties(schema, self.definitions).get(name), encoding, name)
            else:
                raise UnsendableError(f"part {at} of a form is a mapping of one name to its value")

    def _schema_at(self, media: Media, at: int) -> Schema | None:
        if media.stream:
            return media.schema
        found = meant(media.schema, self.definitions)
        first = found.get("prefixItems") if is_mapping(found) else None
        if is_list(first) and at < len(first):
            return cast("Schema", first[at])
        return cast("Schema | None", found.get("items")) if is_mapping(found) else None

    def _part(self, value: object, schema: Schema | None, encoding: Encoding, name: str | None) -> _Part:
        part = opened(value, encoding)
        found = meant(schema, self.definitions)
        disposition = _disposition(name) if name is not None else ""
        bytes_told = is_binary(found) or (name is None and found in (None, True, {}) and not encoding.media)
        file = is_content(part.content) or (isinstance(part.content, str) and bytes_told)
        coded = found.get("contentEncoding") if name is None and is_mapping(found) else None
        if file:
            kept = part.content if isinstance(part.content, ArtifactRef) else None
            if name is not None:
                disposition += f'; filename="{_quoted(kept.name if kept and kept.name else name)}"'
            body = content(part.content, self.read)
            # It is the part's Content-Transfer-Encoding as well (OpenAPI 3.2).
            body = encoded(body, coded) if isinstance(coded, str) else body
            mime: str | None = _file_type(encoding, kept.mime if kept else OCTETS, name)
        else:
            mime, body = self._data(part.content, found, encoding, named=name is not None)
        headers = list(_headers(encoding, part.headers))
        if isinstance(coded, str) and "content-transfer-encoding" not in {key.lower() for key, _ in headers}:
            headers.append(("Content-Transfer-Encoding", coded))
        return _Part(_head(disposition, mime, headers), body, mime or "text/plain")

    def _data(
        self, value: object, schema: Schema | None, encoding: Encoding, *, named: bool
    ) -> tuple[str | None, bytes]:
        """Data in the media type that the document gives the part, else JSON where it is nested, and text."""
        mime = next((each for each in encoding.media if not is_range(each)), None)
        several = is_mapping(value) or listed(value) is not None
        if mime is None:
            data = plain(value, self.read)
            nested = several or data is None
            coded = is_mapping(schema) and "contentEncoding" in schema
            mime = "application/json" if nested else None if named else OCTETS if coded else "text/plain"
        if mime is None:
            return None, self.write(Media("text/plain", schema), value).content
        if several and kind(mime) in {"text", "binary"}:
            raise UnsendableError(f"a part of {mime} is given as text, bytes or an artifact")
        if kind(mime) == "binary" and not isinstance(value, str):
            value = scalar(plain(value, self.read))
        written = self.write(Media(mime, schema, encoding), value)
        return (written.type if kind(mime) == "multipart" or not named else mime), written.content


@dataclass(frozen=True)
class _Part:
    head: bytes
    content: bytes
    type: str

    @property
    def whole(self) -> bytes:
        return self.head + b"\r\n" + self.content


def _file_type(encoding: Encoding, own: str, name: str | None) -> str:
    """Of several types that a part may have it is its own, which whoever kept the bytes has said."""
    if not encoding.media or any(covers(each, own) for each in encoding.media):
        return own
    mime = next((each for each in encoding.media if not is_range(each)), None)
    if mime is None:
        part = "a part" if name is None else f"the part `{name:.60}`"
        wanted = " or ".join(encoding.media)
        raise UnsendableError(f"{part} is {wanted}, and what was given is {own}: {an_artifact_of(wanted)}")
    return mime


def an_artifact_of(media: str) -> str:
    """What to give where a range of media types is asked for."""
    return f'give an artifact of its type, `await artifact(b"...", mime="{media.partition("/")[0]}/...")`'


def _headers(encoding: Encoding, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The headers of a part: those that are given, and those to which the document gives a value."""
    known = {header.name.lower(): header for header in encoding.headers}
    for name in given:
        if str(name).lower() not in known:
            raise UnsendableError(f"this part has no header `{name!s:.60}`")
    by_name = {name.lower(): value for name, value in given.items()}
    for name, header in known.items():
        value = by_name.get(name)
        value = settled(header) if value is None else value
        if value is not None:
            yield header.name, _text(header, value)


def _text(header: Parameter, value: object) -> str:
    try:
        return in_header(header, plain(value, _no_bytes))
    except UnsendableError as error:
        raise UnsendableError(f"the header `{header.name}` of a part: {error}") from None


def _no_bytes(_ref: object) -> bytes:
    raise UnsendableError("it holds no artifact")


def _head(disposition: str, mime: str | None, headers: Iterable[tuple[str, str]]) -> bytes:
    own = [("Content-Disposition", disposition)] if disposition else []
    typed = [("Content-Type", _line(mime))] if mime else []
    others = [(_named(name), _line(text)) for name, text in headers if not (own and name.lower() == own[0][0].lower())]
    return "".join(f"{name}: {text}\r\n" for name, text in (*own, *typed, *others)).encode()


def _disposition(name: str) -> str:
    return f'form-data; name="{_quoted(name)}"'


def _quoted(text: str) -> str:
    """As browsers write names (WHATWG, multipart/form-data encoding): no quote and no line break ends it."""
    return _encoded(text).decode().replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _named(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise UnsendableError(f"{quote(name)[:80]} is not the name of a header")
    return name


def _line(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise UnsendableError(f"{quote(text)[:80]} is nothing that the head of a part may hold")
    return text


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UnsendableError("it holds half of a surrogate pair, which is no text") from None


def _properties(schema: Schema | None, definitions: Mapping[str, Schema]) -> Mapping[str, Schema]:
    found = meant(schema, definitions)
    told = found.get("properties") if is_mapping(found) else None
    return cast("dict[str, Schema]", told) if is_mapping(told) else {}
