"""Pure: which names may stand at a place of a document, by its JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Schema = Mapping[str, object]

_BRANCHES = ("anyOf", "oneOf", "allOf")


def names_at(schema: Schema, place: Sequence[str | int]) -> set[str]:
    """The names that the table at a place may have; steps that lead nowhere, such as those of a union, are left out."""
    nodes = list(_resolved(schema, schema))
    for step in place:
        below = [found for node in nodes for child in _below(node, step) for found in _resolved(schema, child)]
        nodes = below or nodes
    return {name for node in nodes for name in _tables(node.get("properties"))}


def _below(node: Schema, step: str | int) -> Iterator[object]:
    if isinstance(step, int):
        yield node.get("items")
    elif step in (properties := _tables(node.get("properties"))):
        yield properties[step]
    else:
        yield node.get("additionalProperties")


def _resolved(schema: Schema, node: object) -> Iterator[Schema]:
    """What a node may be: references followed, each branch of a union by itself."""
    found = _tables(node)
    reference = found.get("$ref")
    if isinstance(reference, str):
        yield from _resolved(schema, _tables(schema.get("$defs")).get(reference.rpartition("/")[2]))
        return
    if found:
        yield found
    for word in _BRANCHES:
        for branch in cast("Sequence[object]", found.get(word) or ()):
            yield from _resolved(schema, branch)


def _tables(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
