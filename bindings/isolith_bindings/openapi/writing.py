"""The body of a request as bytes: JSON, lines of JSON, forms, multipart, text, bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.openapi.bodies import is_binary, kind_of
from isolith_bindings.openapi.media import covers, is_range, parameter
from isolith_bindings.openapi.model import Encoding, Media, Schema
from isolith_bindings.openapi.styles import UnsendableError, compact, form_encode, pairs, scalar
from isolith_bindings.openapi.tree import is_container, is_list, is_mapping
from isolith_bindings.openapi.wire import content, is_content, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.openapi.wire import ReadArtifact

OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class Written:
    """A body, and what its Content-Type says."""

    content: bytes
    type: str


def write(media: Media, value: object, definitions: Mapping[str, Schema], read: ReadArtifact) -> Written:
    """A value as the body of a media type. Raises UnsendableError, and CallError for an artifact that is not there."""
    found = kind_of(media)
    if media.stream or found == "lines":
        return Written(_lines(value, read), _concrete(media.type, "application/jsonl"))
    if found == "json":
        return Written(_encoded(compact(plain(value, read))), _concrete(media.type, "application/json"))
    if found == "form":
        text = "&".join(f"{name}={item}" for name, item in _form(media, value, read))
        return Written(text.encode("ascii"), media.type)
    if found == "multipart":
        return _multipart(media, _mapping(value), definitions, read)
    if found == "text" and not is_content(value):
        text = value if isinstance(value, str) else scalar(plain(value, read))
        return Written(
            _encoded(text), media.type if parameter(media.type, "charset") else f"{media.type}; charset=utf-8"
        )
    mime = value.mime if isinstance(value, ArtifactRef) else OCTETS
    return Written(content(value, read), _concrete(media.type, mime))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UnsendableError("it holds half of a surrogate pair, which is no text") from None


def _concrete(media: str, otherwise: str) -> str:
    return otherwise if is_range(media) else media


def _mapping(value: object) -> dict[str, object]:
    if not is_mapping(value):
        raise UnsendableError(f"a mapping can be sent here, not a {type(value).__name__}")
    return value


def _lines(value: object, read: ReadArtifact) -> bytes:
    items = plain(value, read)
    if not is_list(items):
        raise UnsendableError(f"a list can be sent here, not a {type(value).__name__}")
    return b"".join(_encoded(compact(item)) + b"\n" for item in items)


def _form(media: Media, value: object, read: ReadArtifact) -> Iterator[tuple[str, str]]:
    """`name=value`, by the encoding of each property: its style where it has one, else JSON for what is nested."""
    for name, item in _mapping(plain(_mapping(value), read)).items():
        encoding = media.encodings.get(name, Encoding())
        if encoding.style is not None or encoding.explode is not None:
            style = encoding.style or "form"
            explode = encoding.explode if encoding.explode is not None else style == "form"
            found = pairs(name, item, style, explode=explode, encode=form_encode)
        elif not encoding.media and _is_flat_list(item):
            found = pairs(name, item, "form", explode=True, encode=form_encode)
        else:
            found = [(form_encode(name), form_encode(_text(item)))]
        yield from ((key, text or "") for key, text in found)


def _is_flat_list(value: object) -> bool:
    return is_list(value) and not any(is_container(item) for item in value)


def _text(value: object) -> str:
    return compact(value) if is_container(value) or value is None else scalar(value)


# ------------------------------------------------------------------------------------------- multipart (RFC 7578)


def _multipart(
    media: Media, value: dict[str, object], definitions: Mapping[str, Schema], read: ReadArtifact
) -> Written:
    schemas = _properties(media.schema, definitions)
    parts: list[bytes] = []
    for name, item in value.items():
        several = isinstance(item, (list, tuple, set, frozenset))
        listed = list(cast("Iterable[object]", item)) if several else [item]
        encoding = media.encodings.get(name, Encoding())
        file = is_binary(_items(schemas.get(name), definitions))
        parts += [_part(name, one, encoding, read, file=file) for one in listed]
    # The boundary is made from what it divides, so that one request is the same bytes whenever it is planned.
    boundary = "isolith-" + hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]
    mark = f"--{boundary}".encode()
    body = b"".join(mark + b"\r\n" + part + b"\r\n" for part in parts) + mark + b"--\r\n"
    return Written(body, f"{_concrete(media.type, 'multipart/form-data')}; boundary={boundary}")


def _part(name: str, value: object, encoding: Encoding, read: ReadArtifact, *, file: bool) -> bytes:
    disposition = f'form-data; name="{_quoted(name)}"'
    mime = next((each for each in encoding.media if not is_range(each)), None)
    if is_content(value) or (file and isinstance(value, str)):
        own = value.mime if isinstance(value, ArtifactRef) else OCTETS
        filename = value.name if isinstance(value, ArtifactRef) and value.name else name
        disposition += f'; filename="{_quoted(filename)}"'
        # Of several types that a part may have it is its own, which whoever kept the bytes has said.
        mime = own if mime is None or any(covers(each, own) for each in encoding.media) else mime
        body = content(value, read)
    else:
        data = plain(value, read)
        nested = is_container(data) or data is None
        mime = mime or ("application/json" if nested else None)
        body = _encoded(_text(data))
    head = f"Content-Disposition: {disposition}\r\n" + (f"Content-Type: {_header(mime)}\r\n" if mime else "")
    head += "".join(f"{_header(each)}: {_header(text)}\r\n" for each, text in encoding.headers)
    return head.encode() + b"\r\n" + body


def _quoted(text: str) -> str:
    """As browsers write names (WHATWG, multipart/form-data encoding): no quote and no line break ends it."""
    return _encoded(text).decode().replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _header(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise UnsendableError(f"{quote(text)[:80]} is nothing that the head of a part may hold")
    return text


def _properties(schema: Schema | None, definitions: Mapping[str, Schema]) -> Mapping[str, Schema]:
    found = _resolved(schema, definitions)
    told = found.get("properties") if is_mapping(found) else None
    return cast("dict[str, Schema]", told) if is_mapping(told) else {}


def _items(schema: Schema | None, definitions: Mapping[str, Schema]) -> Schema | None:
    """The schema of what is in a list, or the schema itself."""
    found = _resolved(schema, definitions)
    if is_mapping(found) and found.get("type") == "array":
        return _resolved(cast("Schema | None", found.get("items")), definitions)
    return found


def _resolved(schema: Schema | None, definitions: Mapping[str, Schema]) -> Schema | None:
    for _ in range(50):
        reference = schema.get("$ref") if is_mapping(schema) else None
        if not isinstance(reference, str):
            break
        schema = definitions.get(reference.removeprefix("#/$defs/"))
    return schema
