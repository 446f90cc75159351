"""Where a reference within one schema leads. Outside of it nothing is ever looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

if TYPE_CHECKING:
    from isolith_bindings.connector import JsonSchema

_MAX_WALK = 50_000
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class References:
    """The references of one schema, by pointer, by anchor and by `$id`."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._named: dict[str, object] | None = None

    def find(self, reference: object) -> object | None:
        """What it leads to; None for what is not in this schema."""
        if not isinstance(reference, str):
            return None
        base, _, fragment = reference.partition("#")
        start = self._by_name().get(base) if base else self._root
        if start is None or not fragment:
            return start
        if fragment.startswith("/"):
            return _point(start, fragment)
        return self._by_name().get(f"#{fragment}")

    def _by_name(self) -> dict[str, object]:
        if self._named is None:
            self._named = {}
            for schema in _schemas(self._root):
                for key in ("$id", "id", "$anchor", "$dynamicAnchor"):
                    name = schema.get(key)
                    if isinstance(name, str):
                        self._named.setdefault(name if key in {"$id", "id"} else f"#{name}", schema)
        return self._named


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
