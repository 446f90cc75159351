"""How a parameter's value is written: every style of the specification, percent-encoded as it is sent.

OpenAPI 3.2, section "Style Values", which builds on RFC 6570. Where `allowReserved` lets reserved characters through,
those that would end the part of the URL that they stand in do not pass: a value stays the value of its parameter.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from isolith_bindings.openapi.media import kind
from isolith_bindings.openapi.tree import is_container, is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isolith_bindings.openapi.model import Parameter, Style

Pairs = list[tuple[str, str | None]]

_DELIMITERS: dict[Style, str] = {
    "spaceDelimited": "%20",
    "pipeDelimited": "%7C",
    "tabDelimited": "%09",
}
# What a path may hold but `/`, which OpenAPI 3.2 ("Path Templating") keeps to the template.
_RESERVED_IN_PATH = ":@!$&'()*+,;="
_RESERVED_IN_QUERY = ":/?@!$'()*,;"
_RESERVED_IN_COOKIE = ":/?#[]@!$&'()*+="
_TRIPLES = re.compile(r"(%[0-9A-Fa-f]{2})")
MAX_DEPTH = 20
"""Levels of a value in `deepObject`."""


class UnsendableError(ValueError):
    """A value has no form in the style it should be written in. The message says what has none."""


def scalar(value: object) -> str:
    """A single value as text. Raises UnsendableError for what is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise UnsendableError(f"{value} cannot be sent")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, (str, int)):
        return str(value)
    if value is None:
        raise UnsendableError("None cannot be sent here: leave it out")
    raise UnsendableError(f"a {type(value).__name__} cannot be written inside of this parameter")


def compact(value: object) -> str:
    """A value as JSON without blanks. Raises UnsendableError."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnsendableError(f"it has no JSON form: {error}") from None


def in_path(parameter: Parameter, value: object) -> str:
    """What stands in the path in place of `{name}`."""
    encode = _encoder(_RESERVED_IN_PATH if parameter.reserved else "")
    if parameter.media is not None:
        return encode(in_media(parameter.media, value))
    name, explode = quote(parameter.name, safe=""), parameter.explode
    if parameter.style == "label":
        return "." + _joined(value, "." if explode else ",", "=" if explode else ",", encode)
    if parameter.style != "matrix":
        inner = _delimiters(parameter.inner)
        return _joined(value, _DELIMITERS.get(parameter.style, ","), "=" if explode else ",", encode, inner)
    if is_list(value) and explode:
        return "".join(f";{name}={encode(scalar(item))}" for item in value)
    if is_mapping(value) and explode:
        return "".join(f";{key}={item}" for key, item in _entries(value, encode))
    written = _joined(value, ",", ",", encode)
    return f";{name}={written}" if written else f";{name}"


def in_query(parameter: Parameter, value: object) -> Pairs:
    """The items of the query that a parameter becomes; none for an empty list or mapping."""
    encode = _encoder(_RESERVED_IN_QUERY if parameter.reserved else "")
    if parameter.location == "querystring":
        text = in_media(parameter.media or "", value)
        return [(_query_safe(text) if kind(parameter.media or "") == "form" else quote(text, safe=""), None)]
    if parameter.media is not None:
        return [(quote(parameter.name, safe=""), encode(in_media(parameter.media, value)))]
    return pairs(
        parameter.name, value, parameter.style, explode=parameter.explode, encode=encode, inner=parameter.inner
    )


def in_media(media: str, value: object) -> str:
    """A value in a media type, as it stands in a parameter: JSON, or text as it is. Raises UnsendableError."""
    return compact(value) if kind(media) == "json" or is_container(value) else scalar(value)


def pairs(  # noqa: PLR0913 - what the specifications say of a style
    name: str,
    value: object,
    style: Style,
    *,
    explode: bool,
    encode: Callable[[str], str],
    form: bool = False,
    inner: tuple[Style, ...] = (),
) -> Pairs:
    """`name=value` in the styles of a query or a form."""
    written = form_encode(name) if form else quote(name, safe="")
    if style == "deepObject":
        return [(encode_key(path, encode), encode(text)) for path, text in _deep(name, value, 0)]
    if is_list(value):
        items = [_item(item, encode, _delimiters(inner)) for item in value]
        if explode:
            return [(written, item) for item in items]
        return [(written, _DELIMITERS.get(style, ",").join(items))] if items else []
    if is_mapping(value):
        entries = list(_entries(value, encode))
        if explode:
            return list(entries)
        delimiter = _DELIMITERS.get(style, ",")
        return [(written, delimiter.join(part for entry in entries for part in entry))] if entries else []
    return [(written, encode(scalar(value)))]


def _query_safe(text: str) -> str:
    """A form as a whole query: encoded already, but for what no query may hold."""
    return quote(text, safe="%&=+" + _RESERVED_IN_QUERY)


def in_header(parameter: Parameter, value: object) -> str:
    """The value of a header, not percent-encoded. Raises UnsendableError for what would end the header."""
    if parameter.media:
        return _whole_header(_for_header(in_media(parameter.media, value)))
    assign, between = "=" if parameter.explode else ",", unquote(_DELIMITERS.get(parameter.style, ","))
    inner = tuple(unquote(each) for each in _delimiters(parameter.inner))
    # Each value by itself: between those of 2.0 there may be tabs (`tsv`), in them there may not.
    return _whole_header(_joined(value, between, assign, _for_header, inner))


def _whole_header(text: str) -> str:
    if text != text.strip():
        raise UnsendableError("a header neither begins nor ends with a blank")
    return text


def _for_header(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise UnsendableError("a header may hold printable ASCII only, and no line breaks")
    return text


def in_cookie(parameter: Parameter, value: object) -> list[tuple[str, str]]:
    """The cookies that a parameter becomes. Raises UnsendableError for what would end the cookie."""
    raw = parameter.style == "cookie"
    encode = str if raw else _encoder(_RESERVED_IN_COOKIE if parameter.reserved else "")
    if parameter.media is not None:
        return [(parameter.name, quote(in_media(parameter.media, value), safe=""))]
    if raw and not parameter.explode and is_container(value):
        raise UnsendableError("several values of a cookie cannot be in one (`style: cookie` without `explode`)")
    found = pairs(parameter.name, value, "form", explode=parameter.explode, encode=encode)
    if raw and not all(_fits_cookie(text or "") for _, text in found):
        raise UnsendableError("a cookie may hold printable ASCII only, without blanks, commas, semicolons and quotes")
    return [(name, text or "") for name, text in found]


def _fits_cookie(text: str) -> bool:
    return text.isascii() and text.isprintable() and not set(text) & set('; ",\\')


def form_encode(text: str) -> str:
    """As in `application/x-www-form-urlencoded`."""
    return quote(text, safe="").replace("%20", "+")


def encode_key(path: list[str], encode: Callable[[str], str]) -> str:
    """`a[b][c]` with its brackets encoded."""
    first, *rest = path
    return encode(first) + "".join(f"%5B{encode(part)}%5D" for part in rest)


def form_encoder(*, reserved: bool) -> Callable[[str], str]:
    """As in a form, where reserved characters may pass as far as they end nothing."""
    passing = _encoder(_RESERVED_IN_QUERY + " ")
    return (lambda text: passing(text).replace(" ", "+")) if reserved else form_encode


def _encoder(safe: str) -> Callable[[str], str]:
    """Percent-encoding; what is encoded already passes where reserved characters do (RFC 6570, 3.2.3)."""
    if not safe:
        return lambda text: quote(text, safe="")
    return lambda text: "".join(
        part if index % 2 else quote(part, safe=safe) for index, part in enumerate(_TRIPLES.split(text))
    )


def _delimiters(styles: tuple[Style, ...]) -> tuple[str, ...]:
    return tuple(_DELIMITERS.get(style, ",") for style in styles)


def _item(value: object, encode: Callable[[str], str], inner: tuple[str, ...]) -> str:
    """An item of a list; a list in it is written first, with its own delimiter (Swagger 2.0, "Items Object")."""
    if is_list(value) and inner:
        return inner[0].join(_item(each, encode, inner[1:]) for each in value)
    return encode(scalar(value))


def _joined(value: object, between: str, assign: str, encode: Callable[[str], str], inner: tuple[str, ...] = ()) -> str:
    if is_list(value):
        return between.join(_item(item, encode, inner) for item in value)
    if is_mapping(value):
        return between.join(f"{key}{assign}{item}" for key, item in _entries(value, encode))
    return encode(scalar(value))


def _entries(value: object, encode: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    for key, item in cast("dict[str, object]", value).items():
        if item is not None:
            yield encode(str(key)), encode(scalar(item))


def _deep(name: str, value: object, depth: int) -> Iterator[tuple[list[str], str]]:
    """The leaves of a value, each with the way to it.

    The specification leaves lists and deeper levels open; what servers read is `a[b][c]=v` and `a[]=v`, or `a[0][b]=v`.
    """
    if depth > MAX_DEPTH:
        raise UnsendableError(f"it is nested deeper than {MAX_DEPTH} levels")
    if is_mapping(value):
        inner = [(str(key), item) for key, item in value.items() if item is not None]
    elif is_list(value):
        items = value
        plain = not any(is_container(item) for item in items)
        inner = [("" if plain else str(index), item) for index, item in enumerate(items)]
    else:
        yield [name], scalar(value)
        return
    for key, item in inner:
        for path, text in _deep(key, item, depth + 1):
            yield [name, *path], text
