"""Media types: what they say about how a body is written and read (RFC 9110, section 8.3; RFC 6838)."""

from __future__ import annotations

from typing import Literal

Kind = Literal["json", "form", "multipart", "lines", "text", "binary"]
"""How content of a media type is written and read."""

FORM = "application/x-www-form-urlencoded"
_LINES = frozenset({"application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines"})
_TEXTS = frozenset(
    {"application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/graphql"}
    | {"application/sql", "application/xhtml+xml", "application/toml"}
)


def essence(media: str) -> str:
    """Type and subtype in lower case, without parameters."""
    return media.partition(";")[0].strip().lower()


def parameter(media: str, name: str) -> str | None:
    """A parameter of a media type, such as its `charset`."""
    for item in media.split(";")[1:]:
        key, _, value = item.partition("=")
        if key.strip().lower() == name:
            return value.strip().strip('"')
    return None


def kind(media: str) -> Kind:
    """How content of this type is written and read."""
    plain = essence(media)
    if plain in _LINES:
        return "lines"
    if plain in {"application/json", "text/json"} or plain.endswith("+json"):
        return "json"
    if plain == FORM:
        return "form"
    if plain.startswith("multipart/"):
        return "multipart"
    if plain.startswith("text/") or plain in _TEXTS or plain.endswith(("+xml", "+yaml")):
        return "text"
    return "binary"


def covers(pattern: str, media: str) -> bool:
    """Whether a media type or range (`image/*`) holds a media type, whatever their parameters."""
    wanted, plain = essence(pattern), essence(media)
    return wanted in {plain, "*/*", "*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


def is_range(media: str) -> bool:
    """Whether it stands for many types, as `*/*` and `image/*` do."""
    return "*" in essence(media)
