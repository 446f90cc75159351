"""Bytes that a script gives, as the `contentEncoding` of their schema has them (JSON Schema 2020-12). Pure.

Base64 is the usual one, and that of bytes of whose encoding nothing is said: see `wire.plain`.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi.schemas import meant
from isolith_bindings.openapi.styles import UnsendableError
from isolith_bindings.openapi.tree import is_mapping
from isolith_bindings.openapi.wire import content, is_content, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith_bindings.openapi.model import Schema
    from isolith_bindings.openapi.wire import ReadArtifact

MAX_DEPTH = 20
"""Levels of a value in which bytes are looked for."""

_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64url": base64.urlsafe_b64encode,
    "base32": base64.b32encode,
    "base16": base64.b16encode,
}
_AS_THEY_ARE = frozenset({"identity", "binary", "8bit"})


def encoded(bytes_: bytes, encoding: str) -> bytes:
    """Bytes in an encoding. Raises UnsendableError for one that is not known."""
    if encoding.lower() in _AS_THEY_ARE:
        return bytes_
    if encoding.lower() not in _ENCODERS:
        raise UnsendableError(f"bytes are not written in `contentEncoding: {encoding:.40}` here: give text that is")
    return _ENCODERS[encoding.lower()](bytes_)


def coded(
    value: object, schema: Schema | None, definitions: Mapping[str, Schema], read: ReadArtifact, depth: int = 0
) -> object:
    """The same value with text in place of bytes whose encoding is said. Raises UnsendableError, and CallError."""
    found = meant(schema, definitions)
    if not is_mapping(found) or depth > MAX_DEPTH:
        return value
    if is_content(value):
        encoding = found.get("contentEncoding")
        return encoded(content(value, read), encoding).decode("ascii") if isinstance(encoding, str) else value
    if is_mapping(value):
        properties = cast("dict[str, Schema]", found.get("properties") or {})
        known = {
            name: coded(value[name], properties[name], definitions, read, depth + 1)
            for name in properties
            if name in value
        }
        return {**value, **known}
    several, items = listed(value), cast("Schema | None", found.get("items"))
    if several is not None and items is not None:
        return [coded(item, items, definitions, read, depth + 1) for item in several]
    return value
