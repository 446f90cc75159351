"""One item after another: lines of JSON, JSON text sequences (RFC 7464) and server-sent events, read and written. Pure.

OpenAPI 3.2, "Sequential Media Types". An event is a mapping of its fields, as WHATWG's HTML reads them: `data`,
`event` and `id` are text, `retry` is a number of milliseconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from isolith_bindings import json_text
from isolith_bindings.openapi.styles import UnsendableError, compact
from isolith_bindings.openapi.tree import is_container, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_bindings.openapi.media import Kind
    from isolith_bindings.openapi.model import Schema

EVENT: Schema = {
    "type": "object",
    "title": "ServerSentEvent",
    "required": ["data"],
    "properties": {
        "data": {"type": "string"},
        "event": {"type": "string"},
        "id": {"type": "string"},
        "retry": {"type": "integer", "minimum": 0},
    },
}
"""An event of which the document says nothing (OpenAPI 3.2, "Special Considerations for Server-Sent Events")."""

_RECORD = "\x1e"
_LINE_END = re.compile(r"\r\n|\r|\n")
_DIGITS = re.compile(r"[0-9]{1,18}")
_FIELDS = ("event", "id", "retry", "data")


def read(kind: Kind, text: str, *, cut: bool = False) -> list[object]:
    """The items in a text. `cut`: it has no end, and what may be half an item is left out.

    Raises ValueError for what holds something else.
    """
    if kind == "events":
        return list(_events(text, cut=cut))
    ends = text.rfind(_RECORD if kind == "records" else "\n")
    whole = text[: ends + 1] if cut else text
    pieces = whole.split(_RECORD) if kind == "records" else whole.split("\n")
    return [cast("object", json_text.loads(piece)) for piece in pieces if piece.strip()]


def write(kind: Kind, items: list[object]) -> str:
    """The items, of plain data, as a text. Raises UnsendableError."""
    if kind == "events":
        return "".join(map(_event, items))
    before = _RECORD if kind == "records" else ""
    return "".join(f"{before}{compact(item)}\n" for item in items)


def _events(text: str, *, cut: bool) -> Iterator[dict[str, object]]:
    """What fields a block has until the empty line behind it; without `data` it is no event."""
    lines: list[str] = []
    event: dict[str, object] = {}
    *whole, last = _LINE_END.split(text.removeprefix("\ufeff"))
    for line in whole if cut else [*whole, last, ""]:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if lines:
                yield {**event, "data": "\n".join(lines)}
            lines, event = [], {}
        elif name == "data":
            lines.append(value)
        elif name == "event" or (name == "id" and "\0" not in value):
            event[name] = value
        elif name == "retry" and _DIGITS.fullmatch(value):
            event[name] = int(value)


def _event(item: object) -> str:
    if not is_mapping(item):
        raise UnsendableError(f"an event is a mapping with `data`, not a {type(item).__name__}")
    unknown = [name for name in item if name not in _FIELDS]
    if unknown:
        raise UnsendableError(f"an event has no field `{unknown[0]!s:.40}`: it has `data`, `event`, `id` and `retry`")
    return "".join(f"{name}: {line}\n" for name in _FIELDS if name in item for line in _field(name, item[name])) + "\n"


def _field(name: str, value: object) -> list[str]:
    """The lines of one field; only `data` may have several. None leaves it out."""
    if value is None:
        return []
    text = compact(value) if is_container(value) else value if isinstance(value, str) else compact(value)
    lines = _LINE_END.split(text)
    if name != "data" and (len(lines) > 1 or "\0" in text):
        raise UnsendableError(f"the field `{name}` of an event is one line")
    if name == "retry" and not _DIGITS.fullmatch(text):
        raise UnsendableError("the field `retry` of an event is a whole number of milliseconds")
    return lines
