"""Pages that are asked for in the body of a request: by a cursor that the answer to the page before gave. Pure.

Only where the document shows both ends of it, a field of the body that is called like a cursor and an answer that has
one for the next page: what writes must not be repeated by mistake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from isolith_bindings.openapi import paging_words as words
from isolith_bindings.openapi.pagination import checked, harmless, no_cursor, pageable, said_all, told_of
from isolith_bindings.openapi.paging_words import plain
from isolith_bindings.openapi.responses import successful
from isolith_bindings.openapi.tree import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.openapi.model import Operation, Schema
    from isolith_bindings.openapi.pagination import Cursor

_DEPTH = 4
"""Levels of an answer's schema in which a cursor is looked for."""


def cursor_argument(operation: Operation, definitions: Mapping[str, Schema]) -> str | None:
    """The argument that takes the cursor, where an operation has one in its body and answers with the next."""
    if pageable(operation):
        return None
    fields: Mapping[str, str] = operation.body.fields if operation.body else {}
    found = next((argument for argument, name in fields.items() if plain(name) in words.CURSOR), None)
    schemas = (media.schema for answer in successful(operation.answers) for media in answer.media)
    return found if found and any(_tells(schema, definitions, _DEPTH) for schema in schemas) else None


def turned(operation: Operation, argument: str, given: Mapping[str, object], cursor: object) -> dict[str, object]:
    """The arguments for the page that a cursor names; None: the first one. Raises CallError for what is not a cursor.

    The cursor has been in the guest: it reaches the one argument that it is for, and is checked as such.
    """
    pairs = checked(cursor)
    if not pairs:
        return dict(given)
    value = dict(pairs).get(argument)
    if value is None or len(pairs) > 1:
        raise no_cursor()
    original = operation.body.fields[argument] if operation.body else argument
    return {**{name: each for name, each in given.items() if name != original}, argument: value}


def following(argument: str, given: Mapping[str, object], value: object) -> Cursor | None:
    """What asks for the page after this one, or None where this is the last. A cursor that leads back here is none."""
    if said_all(value):
        return None
    found = next(
        (each for key, each in told_of(value) if key in words.NEXT_CURSOR and isinstance(each, str) and each), ""
    )
    return [[argument, found]] if found and harmless(argument, found) and given.get(argument) != found else None


def _tells(schema: Schema | None, definitions: Mapping[str, Schema], depth: int) -> bool:
    """Whether answers of this schema have a cursor for the next page."""
    if not is_mapping(schema) or not depth:
        return False
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _tells(definitions.get(reference.removeprefix("#/$defs/")), definitions, depth - 1)
    properties = schema.get("properties")
    for name, inner in properties.items() if is_mapping(properties) else ():
        if plain(name) in words.NEXT_CURSOR:
            return True
        if plain(name) in words.HOLDERS and _tells(cast("Schema", inner), definitions, depth - 1):
            return True
    return any(_tells(part, definitions, depth - 1) for part in _parts(schema))


def _parts(schema: Mapping[str, object]) -> Iterator[Schema]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(keyword)
        yield from cast("list[Schema]", parts) if is_list(parts) else ()
