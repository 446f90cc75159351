"""Validation of what is large, which ends early: at a container's first error, and with one error for a union.

Pydantic keeps every error until the end, 240 bytes and more for each branch of a union at each place: an argument of
0.9 MB came to 400 MB of them, a value of 3.9 million items to 2.8 GB, while the event loop stood still. What is small
is validated as pydantic does it, so that all that is wrong with it is known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_core import SchemaValidator

if TYPE_CHECKING:
    from collections.abc import Collection

    from pydantic import TypeAdapter
    from pydantic_core import CoreSchema

SMALL: Final = 10_000
"""Items, of all containers of a value, up to which all its errors are kept."""

_CONTAINERS: Final = frozenset({"list", "tuple", "set", "frozenset", "dict"})
_NO_SCHEMAS: Final = frozenset({"default", "expected", "metadata", "serialization", "config"})
"""Parts of a core schema that hold values of the user's, which may look like anything."""
_OF_A_UNION: Final = {
    "custom_error_type": "no_branch",
    "custom_error_message": "Input should be one of what the type allows",
}
_ADAPTERS: Final = 256


def validate(adapter: TypeAdapter[Any], value: object) -> object:
    """What the type makes of a value. Raises ValidationError: of a large value it names the first wrong place alone."""
    return adapter.validate_python(value) if is_small(value) else _ending_early(adapter).validate_python(value)


def is_small(value: object) -> bool:
    """Whether a value has up to `SMALL` items, whatever it refers to."""
    left, waiting = SMALL, [value]
    while waiting:
        items = _items(waiting.pop())
        left -= len(items)
        if left < 0:
            return False
        waiting.extend(items)
    return True


def _items(value: object) -> Collection[object]:
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value).values()
    return cast("Collection[object]", value) if isinstance(value, list | tuple | set | frozenset) else ()


@functools.lru_cache(maxsize=_ADAPTERS)
def _ending_early(adapter: TypeAdapter[Any]) -> SchemaValidator:
    schema = cast("CoreSchema", _hastened(dict(adapter.core_schema)))
    # Not with the validators that models have already: those keep all errors.
    return SchemaValidator(schema, _use_prebuilt=False)


def _hastened(part: object) -> object:
    """A core schema, or a part of one, whose containers and unions give one error."""
    if type(part) is list:
        return list(map(_hastened, cast("list[object]", part)))
    if type(part) is tuple:
        return tuple(map(_hastened, cast("tuple[object, ...]", part)))
    if type(part) is not dict:
        return part
    names = cast("dict[str, object]", part)
    new = {name: value if name in _NO_SCHEMAS else _hastened(value) for name, value in names.items()}
    kind = names.get("type")
    if isinstance(kind, str) and kind in _CONTAINERS:
        new["fail_fast"] = True
    elif kind == "union":
        new |= _OF_A_UNION
    return new
