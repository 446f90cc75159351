"""The names that schemas and documents give themselves (`$id`, `$self`), and what references are relative to. Pure.

JSON Schema 2020-12, 8.2.1; OpenAPI 3.2, 4.1.2.2. Nothing is fetched because of a name: it is found where it was read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.tree import Tree

Place = tuple[str, str]
"""A document by its name, and a JSON pointer."""

_NAMING = re.compile(rb"\$(?:id|self)\b")
_DATA = frozenset({"example", "examples", "default", "enum", "const"})
"""What is under these is no schema, whatever it looks like."""


class Ids:
    """The names in some documents."""

    def __init__(self) -> None:
        self._trees: dict[str, Tree] = {}
        self._places: dict[str, Place] = {}

    def add(self, document: str, tree: Tree, content: bytes) -> None:
        """Note the names in a document that was read; the first who has a name keeps it."""
        if _NAMING.search(content):
            self._trees[document] = tree
            for uri, pointer in _named(tree):
                self._places.setdefault(uri, (document, pointer))

    def find(self, origin: Place, location: str) -> Place | None:
        """What the part of a reference before `#` means at a place; None where no name decides that."""
        tree = self._trees.get(origin[0])
        uri, pointer = ("", "") if tree is None else _around(tree, origin[1])
        if not location:
            return (origin[0], pointer) if pointer else None
        return self._places.get(_joined(uri, location)) or self._places.get(location)

    def has(self, location: str) -> bool:
        """Whether something is called so."""
        return location in self._places


def _named(tree: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Every name with its pointer, joined to those around it."""
    own = tree.get("$self")
    base = own if isinstance(own, str) else ""
    if base:
        yield base, ""
    waiting: list[tuple[object, str, str]] = [(tree, "", base)]
    while waiting:
        value, pointer, uri = waiting.pop()
        if is_mapping(value):
            name = value.get("$id")
            if isinstance(name, str) and name:
                uri = _joined(uri, name.rstrip("#"))
                yield uri, pointer
            waiting.extend((each, f"{pointer}/{_step(key)}", uri) for key, each in value.items() if key not in _DATA)
        elif is_list(value):
            waiting.extend((each, f"{pointer}/{index}", uri) for index, each in enumerate(value))


def _around(tree: Mapping[str, object], pointer: str) -> tuple[str, str]:
    """The name that references at a place are relative to, and where what has it begins; empty without one."""
    own = tree.get("$self")
    uri, begins, walked = own if isinstance(own, str) else "", "", ""
    value: object = tree
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if is_mapping(value) else value[int(key)] if is_list(value) else None
        walked += f"/{part}"
        name = value.get("$id") if is_mapping(value) else None
        if isinstance(name, str) and name:
            uri, begins = _joined(uri, name.rstrip("#")), walked
    return uri, begins


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _step(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
