"""Properties that go one way: who sends leaves out what is read-only, who answers what is write-only.

A schema is shared by both, so that neither can be required. The property, its flag and the list of what is required
may each stand in another part of what is composed. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi.refs import DefectError, Node, References
from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PARTS = 100
"""Schemas that one is composed of."""


def one_way(node: Node, references: References) -> frozenset[str]:
    """The names of such properties in a schema, and in what it is composed of (`allOf`)."""
    found: set[str] = set()
    for part in _parts(node, references):
        properties = part.mapping().get("properties")
        for name, value in properties.items() if is_mapping(properties) else ():
            if _is_flagged(value) or (_refers(value) and _leads_to_flag(part, name, references)):
                found.add(name)
    return frozenset(found)


def _parts(node: Node, references: References) -> Iterator[Node]:
    """The schema itself and its parts, references followed, each once."""
    waiting, seen = [node], set[tuple[str, str]]()
    while waiting and len(seen) < MAX_PARTS:
        try:
            part = references.follow(waiting.pop())
        except DefectError:
            continue
        if (part.document, part.pointer) in seen or not is_mapping(part.value):
            continue
        seen.add((part.document, part.pointer))
        yield part
        listed = part.value.get("allOf")
        if is_list(listed):
            waiting += [part.child("allOf").child(index) for index in range(len(listed))]


def _leads_to_flag(part: Node, name: str, references: References) -> bool:
    try:
        return _is_flagged(references.follow(part.child("properties").child(name)).value)
    except DefectError:
        return False


def _refers(value: object) -> bool:
    return is_mapping(value) and "$ref" in value


def _is_flagged(value: object) -> bool:
    if not is_mapping(value):
        return False
    told = cast("dict[object, object]", value)
    return told.get("readOnly") is True or told.get("writeOnly") is True
