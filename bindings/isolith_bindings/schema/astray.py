"""Where a path leads nowhere in the data that a schema describes, as far as that can be told from the schema alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from isolith_bindings.names import nearest
from isolith_bindings.schema.listed import listed_names
from isolith_bindings.schema.parts import items, mapping
from isolith_bindings.schema.references import REFERENCES, References

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isolith_bindings.connector import JsonSchema

_MAX_DEPTH: Final = 20
_MAX_PARTS: Final = 50
_ALTERNATIVES: Final = ("anyOf", "oneOf")


@dataclass(frozen=True)
class Astray:
    """The part of a path that leads nowhere, and the names that are there instead."""

    part: str
    known: tuple[str, ...]


def astray(schema: object, path: Sequence[str], root: JsonSchema) -> Astray | None:
    """Where a path goes astray below `schema`, which stands in `root`; None where it does not, or nobody can tell.

    Objects that list their properties seldom say that there are no others, and by the letter any may be there. Of such
    a one a name counts as mistaken where it is much like one of those that are listed.
    """
    references = References(root)
    here = [schema]
    for part in path:
        seen: set[int] = set()
        parts = [found for each in here for found in _alternatives(each, references, seen, _MAX_DEPTH)]
        if not parts or None in parts or len(parts) > _MAX_PARTS:
            return None
        if part.isdigit() and all(_is(found, "array") for found in parts if found is not None):
            here = [found["items"] for found in parts if found and "items" in found and "prefixItems" not in found]
            continue
        objects = [found for found in parts if found is not None]
        named = [_names(found, part) for found in objects]
        if None in named:
            return None
        here = [found[part] for each in objects if part in (found := mapping(each.get("properties")))]
        if not here:
            return Astray(part, tuple(dict.fromkeys(name for names in named for name in names or ())))
    return None


def _names(schema: JsonSchema, part: str) -> tuple[str, ...] | None:
    """The names of an object, where a part is one of them or certainly none; None where nobody knows."""
    known = listed_names(schema)
    if known is None or part in known or schema.get("additionalProperties") is False:
        return known
    return known if nearest(part, known) else None


def _alternatives(schema: object, references: References, seen: set[int], depth: int) -> Iterator[JsonSchema | None]:
    """What the data may be, references followed and null left out, each once; None for what is not known."""
    found = mapping(schema)
    if not found or not depth:
        yield None
        return
    if id(schema) in seen:
        return
    seen.add(id(schema))
    following = [word for word in REFERENCES if word in found]
    if following:
        yield from _alternatives(references.find(found[following[0]]), references, seen, depth - 1)
    elif any(word in found for word in _ALTERNATIVES):
        for word in _ALTERNATIVES:
            for branch in items(found.get(word)):
                yield from _alternatives(branch, references, seen, depth - 1)
    elif found.get("type") != "null":
        yield found


def _is(schema: JsonSchema | None, kind: str) -> bool:
    return schema is not None and schema.get("type") == kind
