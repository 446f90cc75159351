"""Values as JSON Schema sees them: their type, whether two are equal, and how one is shown in a message.

A script's values keep their Python types, so more than JSON's own counts: a tuple is an array; a datetime, UUID, bytes
or an artifact is what is sent as text.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import Hashable, Mapping
from typing import cast

from isolith_bindings.connector import ArtifactRef

TEXT_LIKE = (bytes, bytearray, dt.date, dt.time, dt.timedelta, uuid.UUID, ArtifactRef)
"""What travels as a string besides `str` (a datetime is a date). Its length and pattern are not checked."""

_MAX_SHOWN = 60
_MAX_SHOWN_BITS = 200
_ARRAYS = (list, tuple, set, frozenset)


def plain(value: object) -> object:
    """The value of an enum's member; anything else as it is."""
    return cast("object", value.value) if isinstance(value, enum.Enum) else value


def is_type(value: object, name: str, *, whole_floats: bool = True) -> bool | None:  # noqa: PLR0911 - a type a line
    """Whether it is of a type of JSON Schema; None for a name that is none. `whole_floats`: 1.0 is an integer."""
    match name:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return _is_integer(value, whole_floats=whole_floats)
        case "number":
            return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)
        case "string":
            return isinstance(value, (str, *TEXT_LIKE))
        case "array":
            return isinstance(value, _ARRAYS)
        case "object":
            return isinstance(value, Mapping)
        case _:
            return None


def _is_integer(value: object, *, whole_floats: bool) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    if not whole_floats:
        return False
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, decimal.Decimal) and value.is_finite() and value == value.to_integral_value()


def type_name(value: object) -> str:
    """What it is called in a message: JSON Schema's word where there is one."""
    for name in ("null", "boolean", "integer", "number", "string", "array", "object"):
        if is_type(value, name, whole_floats=False):
            return name if isinstance(value, str) or name != "string" else type(value).__name__
    return type(value).__name__


def key(value: object) -> Hashable:
    """The same for two values exactly where JSON Schema calls them equal: 1 is 1.0, and True is not 1."""
    value = plain(value)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float) and math.isnan(value):
        return ("number", "nan")
    if isinstance(value, Mapping):
        return ("object", frozenset((name, key(item)) for name, item in cast("Mapping[str, object]", value).items()))
    if isinstance(value, (list, tuple)):
        return ("array", tuple(key(item) for item in cast("list[object]", value)))
    return value if isinstance(value, Hashable) else ("other", repr(value))


def shown(value: object) -> str:
    """The value on one line of at most `_MAX_SHOWN` characters, made without walking all of a large one."""
    value = plain(value)
    if isinstance(value, str):
        return _cut(repr(value[:_MAX_SHOWN]), more=len(value) > _MAX_SHOWN)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value.bit_length() <= _MAX_SHOWN_BITS else f"an integer of {value.bit_length()} bits"
    if isinstance(value, _ARRAYS):
        return f"a list of {len(cast('list[object]', value))}"
    if isinstance(value, Mapping):
        names = ", ".join(
            _cut(repr(name)) for _, name in zip(range(3), cast("Mapping[object, object]", value), strict=False)
        )
        return _cut(f"an object with {names or 'nothing in it'}")
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value)} bytes"
    return _cut(repr(value))


def given(value: object) -> str:
    """The value with its type: `'a' (string)`."""
    value = plain(value)
    text = shown(value)
    return (
        text
        if value is None or isinstance(value, (*_ARRAYS, Mapping, bytes, bytearray))
        else f"{text} ({type_name(value)})"
    )


def _cut(text: str, *, more: bool = False) -> str:
    return f"{text[:_MAX_SHOWN]}..." if more or len(text) > _MAX_SHOWN else text
