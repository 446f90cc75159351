"""Where a reference within one schema leads. Outside of it nothing is ever looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_MAX_WALK = 50_000
_OLD = re.compile(r"/draft-0[34]/")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class References:
    """The references of one schema, by pointer, by anchor and by `$id`.

    A part with a name of its own is what the references within it start from, and where they stand is not known here:
    one that could lead to several places leads nowhere.
    """

    def __init__(self, root: object) -> None:
        self._root = root

    def find(self, reference: object) -> object | None:
        """What it leads to; None for what is not in this schema, and for what is not certain."""
        if not isinstance(reference, str):
            return None
        base, _, fragment = reference.partition("#")
        named = self._named.get(base, [])
        starts = named[:1] if base else [self._root, *self._resources]
        if not fragment:
            return _only(starts)
        if fragment.startswith("/"):
            return _only([_point(start, fragment) for start in starts])
        return _only(self._named.get(f"#{fragment}", [])) if starts else None

    @cached_property
    def _named(self) -> dict[str, list[object]]:
        """What has a name: by its address, and by its anchor with a `#` before it."""
        found: dict[str, list[object]] = {}
        for schema in _schemas(self._root):
            for key in ("$id", "id", "$anchor", "$dynamicAnchor"):
                name = schema.get(key)
                if isinstance(name, str):
                    found.setdefault(name if key in {"$id", "id"} else f"#{name}", []).append(schema)
        return found

    @cached_property
    def _resources(self) -> list[object]:
        """Parts that references within them start from. Before draft 6 the key has no sign that it is no data."""
        whole: object = self._root
        root = cast("JsonSchema", whole) if isinstance(whole, dict) else {}
        declared = root.get("$schema")
        key = "id" if isinstance(declared, str) and _OLD.search(declared) else "$id"
        listed = [part for part in _schemas(root) if part is not root and isinstance(part.get(key), str)]
        return [part for part in listed if not str(part[key]).startswith("#")]


def _only(found: list[object | None]) -> object | None:
    """The one there is."""
    distinct = {id(part): part for part in found if part is not None}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def named(reference: str) -> str:
    """The last part of a reference, for a name: `#/$defs/Issue` is `Issue`."""
    return unquote(reference.rstrip("/").replace("#", "/").rpartition("/")[2]).replace("~1", "/").replace("~0", "~")


def _point(start: object, pointer: str) -> object | None:
    for part in pointer.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(start, Mapping):
            start = cast("Mapping[str, object]", start).get(key)
        elif isinstance(start, list) and key.isascii() and key.isdigit() and len(key) < 8:
            listed = cast("list[object]", start)
            start = listed[int(key)] if int(key) < len(listed) else None
        else:
            return None
    return start


def size(root: object, most: int) -> int:
    """How many mappings are in a schema, counted up to `most` of its parts."""
    return sum(1 for _ in _schemas(root, most))


def _schemas(root: object, most: int = _MAX_WALK) -> Iterator[JsonSchema]:
    """Every mapping in it, without recursion, up to so many parts."""
    waiting, seen = [root], 0
    while waiting and seen < most:
        item = waiting.pop()
        seen += 1
        if isinstance(item, dict):
            mapping = cast("JsonSchema", item)
            yield mapping
            waiting.extend(reversed(mapping.values()))
        elif isinstance(item, list):
            waiting.extend(cast("list[object]", item))
