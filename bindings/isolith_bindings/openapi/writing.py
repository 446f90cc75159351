"""The body of a request as bytes: JSON, items one after another, forms, multipart, text, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.openapi import sequences
from isolith_bindings.openapi.bodies import kind_of
from isolith_bindings.openapi.coded import coded
from isolith_bindings.openapi.media import SEQUENCES, covers, is_range, kind, parameter
from isolith_bindings.openapi.model import Encoding, Media, Schema
from isolith_bindings.openapi.multipart import OCTETS, Writer, Written, an_artifact_of
from isolith_bindings.openapi.parts import content_kind
from isolith_bindings.openapi.styles import UnsendableError, compact, form_encode, form_encoder, pairs, scalar
from isolith_bindings.openapi.tree import is_container, is_list, is_mapping
from isolith_bindings.openapi.wire import content, is_content, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.wire import ReadArtifact

_OF_TEXT = SEQUENCES | {"json", "form"}


def write(media: Media, value: object, definitions: Mapping[str, Schema], read: ReadArtifact) -> Written:
    """A value as the body of a media type. Raises UnsendableError, and CallError for an artifact that is not there."""
    found = kind_of(media)
    if found == "multipart":
        return Writer(definitions, read, lambda part, each: write(part, each, definitions, read)).body(media, value)
    if found in _OF_TEXT or media.stream:
        schema: Schema | None = {"items": media.schema} if media.stream else media.schema
        value = coded(value, schema, definitions, read)
    if (media.stream or found in SEQUENCES) and not is_content(value):
        return _sequence(media, value, read)
    if found == "json":
        return Written(_encoded(compact(plain(value, read))), _concrete(media.type, "application/json"))
    if found == "form":
        return Written(form(media, value, read).encode("ascii"), media.type)
    if found == "text" and not is_content(value):
        text = value if isinstance(value, str) else scalar(plain(value, read))
        told = _concrete(media.type, "text/plain")
        return Written(_encoded(text), told if parameter(told, "charset") else f"{told}; charset=utf-8")
    mime = value.mime if isinstance(value, ArtifactRef) else OCTETS
    if is_range(media.type) and not covers(media.type, mime):
        raise UnsendableError(f"it is {media.type}, and what was given is {mime}: {an_artifact_of(media.type)}")
    return Written(content(value, read), _concrete(media.type, mime))


def form(media: Media, value: object, read: ReadArtifact) -> str:
    """A mapping as `application/x-www-form-urlencoded`. Raises UnsendableError."""
    return "&".join(f"{name}={item}" for name, item in _form(media, value, read))


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


def _sequence(media: Media, value: object, read: ReadArtifact) -> Written:
    items = plain(value, read)
    if not is_list(items):
        raise UnsendableError(f"a list can be sent here, not a {type(value).__name__}")
    told = _concrete(media.type, "application/jsonl")
    found = kind(told) if kind(told) in SEQUENCES else "lines"
    return Written(_encoded(sequences.write(found, items)), told)


def _form(media: Media, value: object, read: ReadArtifact) -> Iterator[tuple[str, str]]:
    """`name=value`, by the encoding of each property: its style where it has one, else JSON for what is nested.

    A list is a value for each item (OpenAPI 3.2, "Encoding By Name"). None has no form, as in a query, but in JSON.
    """
    for name, item in _mapping(plain(_mapping(value), read)).items():
        encoding = media.parts.named.get(name, Encoding())
        if item is None and content_kind(encoding) != "json":
            continue
        if encoding.styled:
            style = encoding.style or "form"
            explode = encoding.explode if encoding.explode is not None else style == "form"
            encode = form_encoder(reserved=encoding.reserved is True)
            found = pairs(name, item, style, explode=explode, encode=encode, form=True, inner=encoding.inner)
        else:
            items = item if is_list(item) else [item]
            found = [(form_encode(name), form_encode(_text(each, encoding))) for each in items]
        yield from ((key, text or "") for key, text in found)


def _text(value: object, encoding: Encoding) -> str:
    """A value of a form: JSON where it is nested, or the document says JSON (OpenAPI, "Encoding Object")."""
    return compact(value) if content_kind(encoding) == "json" or is_container(value) else scalar(value)
