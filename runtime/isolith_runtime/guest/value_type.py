"""The type of a value as a reader would write it: `list[dict[str, int]]`; of what it arrives as, not of what it was.

Looks at the first `SAMPLE` items of each container and `DEPTH` levels: enough to be right for data that is
uniform, bounded for data that is not.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any

from isolith_runtime.guest import codec

SAMPLE = 256
DEPTH = 4
_WIDEST_UNION = 4
_ATOMS: dict[type, str] = {str: "str", int: "int", float: "float", bool: "bool", type(None): "None"}
_LISTS: tuple[type[Collection[Any]], ...] = (list, *codec.VIEWS)
_BASES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), "str"),
    ((int,), "int"),
    ((float,), "float"),
    ((bytes, bytearray, memoryview), "bytes"),
    *(((kind,), kind.__name__) for kind in codec.TAGGED),
)


def value_type(value: Any, depth: int = DEPTH) -> str:  # noqa: PLR0911 - one line a kind
    """The type's name; containers deeper than `depth` show only their own."""
    kind = type(value)
    atom = _ATOMS.get(kind)
    if atom is not None:
        return atom
    if isinstance(value, enum.Enum):
        return value_type(value.value, depth)
    if depth == 0:
        return kind.__name__
    if isinstance(value, tuple):
        return _tuple(value, depth)
    if isinstance(value, _LISTS):
        return _container("list", value, depth)
    if isinstance(value, (set, frozenset)):
        return _container("set" if isinstance(value, set) else "frozenset", value, depth)
    if isinstance(value, Mapping):
        return _mapping(value, depth)
    for bases, name in _BASES:
        if isinstance(value, bases):
            return name
    fields = codec.fields_of(value)
    return kind.__name__ if fields is None else _mapping(fields, depth)


def _tuple(value: tuple[object, ...], depth: int) -> str:
    if not value:
        return "tuple[()]"
    parts = [value_type(item, depth - 1) for item in islice(value, SAMPLE)]
    if len(parts) > _WIDEST_UNION:
        return f"tuple[{_union(parts)}, ...]"
    return f"tuple[{', '.join(parts)}]"


def _container(name: str, values: Iterable[object], depth: int) -> str:
    names = [value_type(item, depth - 1) for item in islice(values, SAMPLE)]
    return f"{name}[{_union(names)}]" if names else name


def _mapping(value: Mapping[object, object], depth: int) -> str:
    if not value:
        return "dict"
    keys = _union(value_type(key, depth - 1) for key in islice(value, SAMPLE))
    values = _union(value_type(item, depth - 1) for item in islice(value.values(), SAMPLE))
    return f"dict[{keys}, {values}]"


def _union(names: Iterable[str]) -> str:
    """Distinct names in their order, `None` last; past a few, `object`."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) > _WIDEST_UNION:
        return "object"
    return " | ".join(sorted(distinct, key=lambda name: name == "None"))
