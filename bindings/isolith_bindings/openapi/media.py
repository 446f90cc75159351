"""Media types: what they say about how a body is written and read (RFC 9110, section 8.3; RFC 6838)."""

from __future__ import annotations

from typing import Literal

Kind = Literal["json", "form", "multipart", "lines", "records", "events", "text", "binary"]
"""How content of a media type is written and read."""
SEQUENCES = frozenset({"lines", "records", "events"})
"""Kinds that are one item after another, with nothing around them (OpenAPI 3.2, "Sequential Media Types")."""

FORM = "application/x-www-form-urlencoded"
FORM_DATA = "multipart/form-data"
_LINES = ("application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines")
_TEXTS = (
    *("application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/graphql"),
    *("application/sql", "application/xhtml+xml", "application/toml"),
)
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_LINES, "lines"),
    **dict.fromkeys(_TEXTS, "text"),
    **dict.fromkeys(("application/json", "text/json"), "json"),
    "application/json-seq": "records",
    "text/event-stream": "events",
    FORM: "form",
}
_SUFFIXES: dict[str, Kind] = {"+json": "json", "+json-seq": "records", "+xml": "text", "+yaml": "text"}


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
    if plain in _KINDS:
        return _KINDS[plain]
    if plain.startswith("multipart/"):
        return "multipart"
    for suffix, found in _SUFFIXES.items():
        if plain.endswith(suffix):
            return found
    return "text" if plain.startswith("text/") else "binary"


def covers(pattern: str, media: str) -> bool:
    """Whether a media type or range (`image/*`) holds a media type, whatever their parameters."""
    wanted, plain = essence(pattern), essence(media)
    return wanted in {plain, "*/*", "*"} or (wanted.endswith("/*") and plain.startswith(wanted[:-1]))


def is_range(media: str) -> bool:
    """Whether it stands for many types, as `*/*` and `image/*` do."""
    return "*" in essence(media)


def text_of(content: bytes, told: str) -> str:
    """Bytes as the text that a media type says they are; what cannot be read is marked, not refused."""
    charset = parameter(told, "charset") or "utf-8"
    try:
        return content.decode("utf-8-sig" if charset.lower() in {"utf-8", "utf8"} else charset, "replace")
    except (LookupError, ValueError):  # there is none of that name, or none that reads text
        return content.decode("utf-8", "replace")
