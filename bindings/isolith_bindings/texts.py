"""What is no data of a script's and what pydantic writes as text: a path, a URL, an IP address, a pattern, a secret."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import uuid
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from typing import cast

from pydantic_core import PydanticSerializationError, to_jsonable_python

_MAX_DEPTH = 100
_DATA = (str, bytes, bytearray, int, float, complex, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID, Enum)


def with_texts(value: object, depth: int = _MAX_DEPTH) -> object:
    """The same data with each such object as its text, as the JSON Schema of its type says; a secret is masked.

    What pydantic does not write as text, and what lies deeper than data may, stays as it is.
    """
    if depth == 0 or value is None or isinstance(value, _DATA):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {with_texts(key, depth - 1): with_texts(item, depth - 1) for key, item in pairs}
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            items = (with_texts(item, depth - 1) for item in cast("list[object]", value))
            return cast("object", kind(items))
    return _text(value)


def _text(value: object) -> object:
    if isinstance(value, PurePath):
        return str(value)
    with contextlib.suppress(PydanticSerializationError, ValueError, TypeError):
        text: object = to_jsonable_python(value)
        return text if isinstance(text, str) else value
    return value
