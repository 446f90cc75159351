"""How the parts of a form or a multipart body are written: OpenAPI's Encoding Objects, by name and by position."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args

from isolith_bindings.openapi import parameters
from isolith_bindings.openapi.media import FORM_DATA, essence, kind
from isolith_bindings.openapi.model import Encoding, Style
from isolith_bindings.openapi.refs import DefectError, Node
from isolith_bindings.openapi.schemas import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isolith_bindings.openapi.model import Parameter
    from isolith_bindings.openapi.parameters import Found
    from isolith_bindings.openapi.schemas import Schemas

MAX_NESTED = 8
"""Levels of multipart in multipart; the specification asks for one."""

_NONE = Encoding()


def parts(content: Node, media: str, schemas: Schemas, depth: int = 0) -> Encoding:
    """Those of a Media Type Object. Raises DefectError for what cannot be meant."""
    if kind(media) not in {"form", "multipart"}:
        return _NONE
    if depth > MAX_NESTED:
        raise DefectError(f"{content.where} is nested deeper than {MAX_NESTED} levels of multipart")
    named = {name: _one(node, media, schemas, depth) for name, node in content.entries("encoding")}
    if kind(media) == "form":
        return Encoding(named=named) if named else _NONE
    first = tuple(_one(node, media, schemas, depth) for node in content.items("prefixEncoding"))
    rest = content.get("itemEncoding")
    if named and (first or rest):
        raise DefectError(f"{content.where} has `encoding` beside `prefixEncoding` or `itemEncoding`: only one can be")
    return Encoding(named=named, prefix=first, rest=_one(rest, media, schemas, depth) if rest else None)


def in_forms(found: list[Found], schemas: Schemas) -> list[Found]:
    """Parameters that are written as a form, with how that is done. Raises DefectError."""
    return [_in_form(each, each.content, schemas) if each.content else each for each in found]


def _in_form(found: Found, content: Node, schemas: Schemas) -> Found:
    said = parts(content, found.parameter.media or "", schemas)
    return replace(found, parameter=replace(found.parameter, parts=said))


def _one(node: Node, around: str, schemas: Schemas, depth: int) -> Encoding:
    styled = kind(around) == "form" or essence(around) == FORM_DATA  # in any other body these are to be ignored
    told = node.mapping() if styled else {}
    style, explode, reserved = told.get("style"), told.get("explode"), told.get("allowReserved")
    if style is not None and style not in get_args(Style):
        raise DefectError(f"the encoding at {node.where} has `style: {style!r:.40}`, which is none")
    media = tuple(each.strip() for each in node.text("contentType").split(",") if each.strip())
    nested = parts(node, media[0], schemas, depth + 1) if media else _NONE
    # RFC 7578 has the disposition of a part of a form say its name: it is ours to write.
    ours = {"content-type", "content-disposition"} if essence(around) == FORM_DATA else {"content-type"}
    return Encoding(
        media=media,
        style=cast("Style | None", style),
        explode=explode if isinstance(explode, bool) else None,
        reserved=reserved if isinstance(reserved, bool) else None,
        headers=tuple(_headers(node, ours, schemas)) if kind(around) == "multipart" else (),
        named=nested.named,
        prefix=nested.prefix,
        rest=nested.rest,
        inner=cast("tuple[Style, ...]", tuple(texts(told.get("inner")))) if schemas.family == "2.0" else (),
    )


def _headers(encoding: Node, ours: set[str], schemas: Schemas) -> Iterator[Parameter]:
    """The headers of a part; its media type is said elsewhere (OpenAPI, "Encoding Object")."""
    for name, node in encoding.entries("headers"):
        if name.lower() not in ours:
            yield parameters.header(name, schemas.resolve(node), schemas)
