"""A script's values as data that can be sent: what JSON has no type for becomes text, as documents expect it."""

from __future__ import annotations

import base64
import datetime as dt
import enum
import uuid
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import cast

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.openapi.styles import UnsendableError
from isolith_bindings.rendering import brief, is_vast

ReadArtifact = Callable[[ArtifactRef], bytes]
"""The bytes behind a reference. Raises CallError."""

MAX_DEPTH = 200
"""Levels of a value."""


def plain(value: object, read: ReadArtifact, depth: int = 0) -> object:
    """The value in the types of JSON: times as ISO 8601, bytes and artifacts as Base64. Raises UnsendableError."""
    if depth > MAX_DEPTH:
        raise UnsendableError(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value).items()
        return {_key(key): plain(item, read, depth + 1) for key, item in entries}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item, read, depth + 1) for item in cast("list[object]", value)]
    if isinstance(value, enum.Enum):
        return plain(cast("object", value.value), read, depth + 1)
    return _scalar(value, read)


def content(value: object, read: ReadArtifact) -> bytes:
    """The bytes that a value stands for: its own, those of the artifact, or text in UTF-8. Raises UnsendableError."""
    if isinstance(value, ArtifactRef):
        return read(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise UnsendableError(f"bytes, an artifact or text can be sent here, not a {type(value).__name__}")


def listed(value: object) -> list[object] | None:
    """The items of what a script may give as a list; None for anything else."""
    return list(cast("Collection[object]", value)) if isinstance(value, (list, tuple, set, frozenset)) else None


def is_content(value: object) -> bool:
    """Whether it is bytes, or an artifact."""
    return isinstance(value, (bytes, bytearray, ArtifactRef))


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, (int, uuid.UUID)) and not isinstance(key, bool) and not is_vast(key):
        return str(key)
    raise UnsendableError(f"a key is text; {brief(key):.40} is a {type(key).__name__}")


def _scalar(value: object, read: ReadArtifact) -> object:
    if is_content(value):
        return base64.b64encode(content(value, read)).decode("ascii")
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return _duration(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if is_vast(value) or (isinstance(value, Decimal) and value.is_snan()):
        raise UnsendableError(f"{brief(value)} cannot be sent as a number")
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise UnsendableError(f"a {type(value).__name__} has no form in JSON")


def _duration(value: dt.timedelta) -> str:
    """ISO 8601, as RFC 3339 (appendix A) has it."""
    sign = "-" if value < dt.timedelta() else ""
    seconds = abs(value)
    fraction = f".{seconds.microseconds:06d}".rstrip("0") if seconds.microseconds else ""
    return f"{sign}P{seconds.days}DT{seconds.seconds}{fraction}S"
