"""A document and all that it refers to, read completely before any of it is used."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urldefrag, urlsplit

import anyio.to_thread

from isolith_bindings.errors import CallError
from isolith_bindings.openapi.refs import Node, References
from isolith_bindings.openapi.source import Place, WebPlace
from isolith_bindings.openapi.tree import DocumentError, Tree, is_container, is_list, is_mapping, read

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

Family = Literal["2.0", "3.0", "3.1"]
"""How its parts are written; 3.2 only adds to 3.1."""

MAX_DOCUMENTS = 200
"""Documents that one may refer to, those included to which these refer."""

_EXTERNAL = re.compile(rb"""\$ref['"]?\s*:\s*['"]?[^#'"\s]""")


@dataclass(frozen=True)
class Content:
    """The bytes of a document, and where they are from; without a place it refers to nothing outside of itself."""

    place: Place | None
    content: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex."""
        return digest_of(self.content)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.place.name if self.place else "the document"


@dataclass(frozen=True)
class Document:
    """What was read: the tree of the first document, those it refers to, and the digests of the others' bytes.

    `repeated`: keys that stand twice in one mapping.
    """

    references: References
    family: Family
    digests: dict[str, str]
    repeated: tuple[str, ...] = ()


async def fetch_place(place: Place, fetch: Callable[[str], Awaitable[bytes]] | None) -> bytes:
    """The bytes at a place. Raises DocumentError."""
    if not isinstance(place, WebPlace):
        return await anyio.to_thread.run_sync(place.read)
    if fetch is None:
        raise DocumentError(f"{place.name} cannot be read: there is no network here")
    try:
        return await fetch(place.url)
    except CallError as error:
        raise DocumentError(f"{place.name} cannot be read: {error.message}") from None


async def collect(first: Content, fetch: Callable[[str], Awaitable[bytes]] | None) -> Document:
    """Read a document and everything it refers to. What it refers to and may not, or is not there, is noted.

    Raises DocumentError where the first document itself is none.
    """
    repeated: list[str] = []
    tree = await anyio.to_thread.run_sync(read, first.content, first.name, repeated)
    references = References({"": tree}, {"": first.place})
    references.ids.add("", tree, first.content)
    found = family(tree, first.name)
    digests: dict[str, str] = {}
    waiting = _wanted(references, "", first.content)
    while waiting:
        place = waiting.pop()
        if place.inside in references.trees or place.inside in references.refused:
            continue
        if len(references.trees) > MAX_DOCUMENTS:
            raise DocumentError(f"{first.name} refers to more than {MAX_DOCUMENTS} other documents")
        try:
            content = await fetch_place(place, fetch)
            references.trees[place.inside] = await anyio.to_thread.run_sync(read, content, place.inside, repeated)
        except DocumentError as error:
            references.refused[place.inside] = str(error)
            continue
        references.places[place.inside] = place
        references.ids.add(place.inside, references.trees[place.inside], content)
        digests[address_of(place)] = digest_of(content)
        waiting += _wanted(references, place.inside, content)
    for location in [each for each in references.refused if references.ids.has(each)]:
        del references.refused[location]  # what is meant was read, under a name of its own
    return Document(references, found, digests, tuple(dict.fromkeys(repeated)))


def digest_of(content: bytes) -> str:
    """SHA-256, in hex."""
    return hashlib.sha256(content).hexdigest()


def family(tree: Tree, name: str) -> Family:
    """The version of a document. Raises DocumentError for one that is not supported, or no OpenAPI at all."""
    told = tree.get("openapi", tree.get("swagger"))
    version = str(told)
    if version.startswith(("3.1", "3.2")):
        return "3.1"
    if version.startswith("3.0"):
        return "3.0"
    if version.startswith("2.0") or version == "2":
        return "2.0"
    if told is None:
        raise DocumentError(f"{name} is no OpenAPI document: it has neither `openapi` nor `swagger` at its top")
    raise DocumentError(f"{name} is of OpenAPI version {version:.20}; 2.0, 3.0, 3.1 and 3.2 are supported")


def address_of(place: Place) -> str:
    """How a place is written so that it can be read again."""
    return place.url if isinstance(place, WebPlace) else place.name


def _wanted(references: References, document: str, content: bytes) -> list[Place]:
    """The places that a document refers to and may. What it may not is noted in `references.refused`."""
    place = references.places[document]
    if place is None or not _EXTERNAL.search(content):
        return []
    wanted: dict[str, Place] = {}
    for reference, pointer in _references(references.trees[document]):
        location = urldefrag(reference).url
        if location and location != document and not references.ids.find((document, pointer), location):
            try:
                target = place.join(location)
                wanted[target.inside] = target
            except DocumentError as error:
                references.refused[location] = str(error)
    return list(wanted.values())


def _references(tree: Tree) -> Iterator[tuple[str, str]]:
    """The references that lead out of a document, and the JSON pointers of where they stand."""
    stack: list[Node] = [Node(tree)]
    while stack:
        node = stack.pop()
        if is_mapping(node.value):
            reference = node.value.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                yield reference, node.pointer
            stack.extend(node.child(key) for key, value in node.value.items() if is_container(value))
        elif is_list(node.value):
            stack.extend(node.child(index) for index, value in enumerate(node.value) if is_container(value))


def base_url(place: Place | None) -> str | None:
    """What relative server addresses are relative to: the document's own address, if it has one."""
    if isinstance(place, WebPlace):
        parts = urlsplit(place.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"
    return None
