"""References between places of documents, and where in a document a value is.

A `Node` is a value together with its place, so that whoever finds fault with it can say where it stands. Following a
reference never fetches anything: the documents were collected before, and what was not is a defect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from isolith_bindings.openapi.ids import Ids
from isolith_bindings.openapi.tree import DocumentError, Tree, is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_bindings.openapi.source import Place

MAX_CHAIN = 50
"""References to references."""
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class DefectError(Exception):
    """A mistake in a document, which costs the operation that needs what is there."""


@dataclass(frozen=True)
class Node:
    """A value, the name of its document and its JSON pointer (RFC 6901). The root's document is called ``."""

    value: object
    document: str = ""
    pointer: str = ""

    @property
    def where(self) -> str:
        """The place as text: `#/paths/~1users/get`, before it the name of the document if it is not the first."""
        return f"{self.document}#{self.pointer}"

    def mapping(self) -> Tree:
        """The value as a mapping. Raises DefectError where it is none."""
        if is_mapping(self.value):
            return self.value
        raise DefectError(f"{self.where} should be a mapping")

    def child(self, key: str | int) -> Node:
        """What is under a key that exists, or an index."""
        value = cast("dict[str | int, object]", self.value)[key]
        return Node(value, self.document, f"{self.pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")

    def get(self, key: str) -> Node | None:
        """What is under a key of a mapping, or None where there is nothing. Raises DefectError for no mapping."""
        return self.child(key) if self.mapping().get(key) is not None else None

    def items(self, key: str) -> Iterator[Node]:
        """The items of the list under a key; none where there is no such key. Raises DefectError for no list."""
        found = self.get(key)
        if found is None:
            return
        if not is_list(found.value):
            raise DefectError(f"{found.where} should be a list")
        yield from (found.child(index) for index in range(len(found.value)))

    def entries(self, key: str) -> Iterator[tuple[str, Node]]:
        """The entries of the mapping under a key, if there is one. Raises DefectError for no mapping."""
        found = self.get(key)
        if found is not None:
            for name in found.mapping():
                yield name, found.child(name)

    def text(self, key: str) -> str:
        """The text under a key; empty where there is none, or no text."""
        value = self.mapping().get(key)
        return value if isinstance(value, str) else ""


@dataclass
class References:
    """All documents, by name; the first is called ``. `places` says where each is, `refused` why one is not there."""

    trees: dict[str, Tree]
    places: dict[str, Place | None] = field(default_factory=dict[str, "Place | None"])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    ids: Ids = field(default_factory=Ids)
    _anchors: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def root(self) -> Node:
        """The document itself."""
        return Node(self.trees[""])

    def follow(self, node: Node) -> Node:
        """The value meant: itself, or what its `$ref` leads to. Raises DefectError where that leads nowhere."""
        seen = 0
        while is_mapping(node.value) and isinstance(reference := node.value.get("$ref"), str):
            node = self.target(node, reference)
            seen += 1
            if seen > MAX_CHAIN:
                raise DefectError(f"`$ref` at {node.where} leads in a circle")
        return node

    def target(self, node: Node, reference: str) -> Node:
        """Where a reference that stands at a node leads, which may be another reference. Raises DefectError."""
        location, _, fragment = reference.partition("#")
        named = self.ids.find((node.document, node.pointer), location)
        if named is not None:
            try:
                return self._named(named, unquote(fragment), reference, node)
            except DefectError:
                if location:
                    raise  # else what was put together from several documents may mean the whole one
        document = self.document_of(node.document, location) if location else node.document
        tree = self.trees.get(document)
        if tree is None:
            reason = self.refused.get(document, "that document was not read")
            raise DefectError(f"`$ref` to `{reference}` at {node.where}: {reason}")
        pointer = unquote(fragment)
        if pointer and not pointer.startswith("/"):
            pointer = self._anchored(document, pointer, node)
        return self._at(Node(tree, document), pointer, reference, node)

    def document_of(self, base: str, location: str) -> str:
        """The name of the document that a location means, in the document called `base`; the text itself if none."""
        place = self.places.get(base)
        if place is None:
            return location
        try:
            target = place.join(location)
        except DocumentError as error:
            self.refused[location] = str(error)
            return location
        first = self.places.get("")
        return "" if first is not None and target == first else target.inside

    def _named(self, named: tuple[str, str], fragment: str, reference: str, origin: Node) -> Node:
        """A place within what has a name of its own. Raises DefectError."""
        document, begins = named
        if fragment and not fragment.startswith("/"):
            fragment, begins = self._anchored(document, fragment, origin), ""
        return self._at(Node(self.trees[document], document), begins + fragment, reference, origin)

    def _at(self, root: Node, pointer: str, reference: str, origin: Node) -> Node:
        found = root
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            container = found.value
            if is_mapping(container) and key in container:
                found = found.child(key)
            elif is_list(container) and _INDEX.fullmatch(key) and int(key) < len(container):
                found = found.child(int(key))
            else:
                raise DefectError(f"`$ref` to `{reference}` at {origin.where} leads nowhere")
        return found

    def _anchored(self, document: str, name: str, origin: Node) -> str:
        """The pointer to `$anchor: name`. Raises DefectError where there is none."""
        if document not in self._anchors:
            self._anchors[document] = dict(_anchors(self.trees[document]))
        if name not in self._anchors[document]:
            raise DefectError(f"`$ref` to `#{name}` at {origin.where} leads nowhere: there is no such anchor")
        return self._anchors[document][name]


def _anchors(tree: Tree) -> Iterator[tuple[str, str]]:
    stack = [Node(tree)]
    while stack:
        node = stack.pop()
        if is_mapping(node.value):
            mapping = node.value
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(mapping.get(key), str):
                    yield cast("str", mapping[key]), node.pointer
            stack.extend(node.child(key) for key in mapping)
        elif is_list(node.value):
            stack.extend(node.child(index) for index in range(len(node.value)))
