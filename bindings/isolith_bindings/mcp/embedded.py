"""Files written as base64 inside structured content, kept as artifacts, so that they flood no guest.

What is found is certain: a block of content of MCP itself, a `data:` URL, or base64 that begins as a known kind of file
does. Any other text stays text.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, cast

from isolith_bindings.mcp.content import keep_base64

if TYPE_CHECKING:
    from isolith_bindings.connector import Artifacts

SHORTEST = 1_024
"""Characters of base64 that are worth a handle."""

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w=.-]+)*;base64,", re.ASCII)
_ALPHABET = re.compile("[A-Za-z0-9+/]+={0,2}")

_BEGINNINGS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("JVBERi0", "application/pdf"),
    ("UEsDBB", "application/zip"),
    ("H4sIA", "application/gzip"),
    ("SUkqA", "image/tiff"),
    ("T2dnU", "audio/ogg"),
    ("SUQz", "audio/mpeg"),
)
_RIFF = {"WAVE": "audio/wav", "WEBP": "image/webp"}


def keep_files(value: object, artifacts: Artifacts) -> object:
    """The same value with the files in it as artifacts. Bounded by the depth of what a JSON parser takes."""
    if isinstance(value, str):
        return _kept(value, artifacts) if len(value) >= SHORTEST else value
    if isinstance(value, dict):
        return _mapping(cast("dict[str, object]", value), artifacts)
    if isinstance(value, list):
        return [keep_files(item, artifacts) for item in cast("list[object]", value)]
    return value


def _mapping(value: dict[str, object], artifacts: Artifacts) -> dict[str, object]:
    """An image, a sound or a resource of MCP says in two fields that it is bytes, and of which kind."""
    mime, key = value.get("mimeType"), "blob" if "blob" in value else "data"
    block = value.get("type") in {"image", "audio"} or ("uri" in value and key == "blob")
    kept = keep_base64(value.get(key), mime, None, artifacts) if block and isinstance(mime, str) else None
    rest = {name: keep_files(item, artifacts) for name, item in value.items() if kept is None or name != key}
    return rest if kept is None else {**rest, key: kept}


def _kept(text: str, artifacts: Artifacts) -> object:
    url = _DATA_URL.match(text)
    mime, data = (url.group(1), text[url.end() :]) if url else (_mime(text), text)
    if mime is None or not _ALPHABET.fullmatch(data):
        return text
    return keep_base64(data, mime, None, artifacts) or text


def _mime(text: str) -> str | None:
    if text.startswith("UklGR"):
        # RIFF, four bytes of length, and what it is.
        for kind, mime in _RIFF.items():
            if kind in _decoded(text[:16]):
                return mime
    return next((mime for beginning, mime in _BEGINNINGS if text.startswith(beginning)), None)


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode("latin-1")
