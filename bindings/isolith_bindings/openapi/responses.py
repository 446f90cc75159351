"""The answers of an operation, as the document says them, and the type that a successful one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.openapi import swagger
from isolith_bindings.openapi.bodies import choosable, contents, is_listed, kind_of, whole_schema
from isolith_bindings.openapi.media import SEQUENCES
from isolith_bindings.openapi.model import Answer, Media, Schema
from isolith_bindings.openapi.parts import ARTIFACT, is_binary
from isolith_bindings.openapi.refs import DefectError, Node, References

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.openapi.document import Family
    from isolith_bindings.openapi.schemas import Schemas


EMPTY = frozenset({"204", "205", "304"})
"""Statuses that have no content, whatever a document says (RFC 9110, 15.3.5, 15.3.6, 15.4.5)."""


def read(
    operation: Node, references: References, family: Family, produces: list[str], schemas: Schemas
) -> tuple[Answer, ...]:
    """Every answer. One that cannot be read may hold anything."""
    answers: list[Answer] = []
    for status, node in operation.entries("responses"):
        if status.startswith("x-"):
            continue
        try:
            target, unreadable = references.follow(node), False
            media, _ = contents(swagger.response(target, produces) if family == "2.0" else target, schemas, answer=True)
        except DefectError:
            target, media, unreadable = node, (), True
        answers.append(Answer(status.upper() if status != "default" else status, media, target.where, unreadable))
    return tuple(answers)


def successful(answers: Iterable[Answer]) -> list[Answer]:
    """Those of a success; `default` where there is no other."""
    listed = list(answers)
    found = [answer for answer in listed if answer.status.startswith("2")]
    return found or [answer for answer in listed if answer.status == "default"]


def accepted(answers: Iterable[Answer]) -> tuple[tuple[str, ...], bool]:
    """The media types of a success, best first, and whether a script may choose: where they hold different things."""
    media = {item.type: item for answer in successful(answers) for item in answer.media}
    return tuple(media), bool(choosable(tuple(media.values())))


def returns(answers: Iterable[Answer], method: str) -> Schema | None:
    """The type of what a call answers with; None where the document does not say.

    Where no success has any content, there may be none, or the document has forgotten it, unless its status says so.
    """
    if method == "HEAD":
        return {"type": "object", "additionalProperties": {"type": "string"}, "description": "the headers"}
    listed = successful(answers)
    if not any(answer.media or answer.status in EMPTY for answer in listed):
        return None
    found: list[Schema] = []
    for answer in listed:
        types: list[Schema] = [{} if answer.unreadable else {"type": "null"}]
        if answer.media and answer.status not in EMPTY:
            types = [_type(item) for item in answer.media]
        found += [schema for schema in types[:1] if schema not in found]
    if any(schema in ({}, True) for schema in found):
        return {}
    return {"anyOf": found} if len(found) > 1 else found[0] if found else None


def _type(media: Media) -> Schema:
    """What content of a media type becomes."""
    if is_several(media) or media.named:
        return whole_schema(media)
    found = kind_of(media)
    if found in {"json", "form"}:
        schema = {} if media.schema is None else media.schema
        return ARTIFACT if is_binary(schema) else schema
    return {"type": "string"} if found == "text" else ARTIFACT


def is_several(media: Media) -> bool:
    """Whether it is a list of items, or of the parts of a multipart body."""
    found = kind_of(media)
    return media.stream or found in SEQUENCES or (found == "multipart" and is_listed(media))


def match(answers: Iterable[Answer], status: int) -> Answer | None:
    """The documented answer for a status: its own, that of its hundred, or the default."""
    by_status = {answer.status: answer for answer in answers}
    return by_status.get(str(status)) or by_status.get(f"{status // 100}XX") or by_status.get("default")
