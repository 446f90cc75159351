"""Where an argument that a method does not have belongs: into one that it has, or out of the one it stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.check.fits import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.connector import JsonSchema

_WHOLES = frozenset(
    {"body", "data", "json", "payload", "params", "parameters", "arguments", "args", "kwargs", "request"}
)
"""What models call all arguments together, or all that goes into the body of a request."""
_MAX_BRANCHES, _MAX_DEPTH = 20, 3


def belonging(name: str, value: object, parameters: JsonSchema, known: Mapping[str, object]) -> str | None:
    """What to write in place of the unknown argument `name`; None where nothing tells."""
    seen: set[int] = set()
    for argument, schema in known.items():
        if any(name in properties for properties in _properties(schema, parameters, seen)):
            return f"`{name}` belongs into `{argument}`: {argument}={{{name!r}: ...}}"
    if name not in _WHOLES or not known:
        return None
    if isinstance(value, dict):
        named = [key for key in cast("dict[object, object]", value) if isinstance(key, str)]
        if not named or not all(key in known for key in named):
            return None
    return f"what is in `{name}` are arguments themselves: write each as NAME=..., or all of them as **{name}"


def _properties(schema: object, root: JsonSchema, seen: set[int], depth: int = 0) -> Iterator[JsonSchema]:
    """Those of an object, or of the objects that it may be; each once, however often a schema refers to it."""
    found = resolve(cast("JsonSchema", schema), root) if isinstance(schema, dict) else None
    if not isinstance(found, dict) or depth > _MAX_DEPTH or id(found) in seen:
        return
    seen.add(id(found))
    properties = found.get("properties")
    if isinstance(properties, dict):
        yield cast("JsonSchema", properties)
    for word in ("anyOf", "oneOf", "allOf"):
        branches = found.get(word)
        for branch in cast("list[object]", branches)[:_MAX_BRANCHES] if isinstance(branches, list) else ():
            yield from _properties(branch, root, seen, depth + 1)
