"""What is no data of a script's and what pydantic writes as text: a path, a URL, an IP address, a pattern, a secret."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import uuid
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import PurePath
from typing import cast

from pydantic_core import PydanticSerializationError, to_jsonable_python

_MAX_DEPTH = 100
_DATA = (str, bytes, bytearray, int, float, complex, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID, Enum)


def with_texts(value: object) -> object:
    """The same data with each such object as its text, as the JSON Schema of its type says; a secret is masked.

    What pydantic does not write as text, and what lies deeper than data may, stays as it is. Each part is gone through
    once, however often it is in the value: of one whose parts lead back to it there would be no end.
    """
    return _with_texts(value, _MAX_DEPTH, {})


def _with_texts(value: object, depth: int, seen: dict[int, tuple[object, object]]) -> object:
    """`seen`: what each part became, by its identity; with the part itself, whose identity is its own so long."""
    if depth == 0 or value is None or isinstance(value, _DATA):
        return value
    if id(value) not in seen:
        seen[id(value)] = value, value
        seen[id(value)] = value, _replaced(value, depth - 1, seen)
    return seen[id(value)][1]


def _replaced(value: object, depth: int, seen: dict[int, tuple[object, object]]) -> object:
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {_hashable(key, depth, seen): _with_texts(item, depth, seen) for key, item in pairs}
    for kind, replaced in ((list, _with_texts), (tuple, _with_texts), (set, _hashable), (frozenset, _hashable)):
        if isinstance(value, kind):
            return cast("object", kind(replaced(item, depth, seen) for item in cast("list[object]", value)))
    return _text(value)


def _hashable(value: object, depth: int, seen: dict[int, tuple[object, object]]) -> object:
    """A key, or what is in a set: as it is where it would be none any more, as a mapping that is frozen."""
    found = _with_texts(value, depth, seen)
    try:
        hash(found)
    except TypeError:
        return value
    return found


def _text(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Iterator):  # to look at it is to use it up, and it may have no end
        return cast("object", value)
    with contextlib.suppress(PydanticSerializationError, ValueError, TypeError):
        text: object = to_jsonable_python(value)
        return text if isinstance(text, str) else value
    return value
