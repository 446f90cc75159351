"""Lists in pages: from the answer to one page, what asks for the next. Pure.

Three conventions: a link (a Link header by RFC 8288, or a URL in the answer), a cursor, and a page number or offset. Of
a link only the query is taken: the next page is the same operation of the same server, whatever host a link names.

A cursor is a list of [name, value]: the query parameters that are different for that page. It travels through a script
and comes back, so that only what belongs to paging is taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qsl, quote, unquote_plus, urlsplit

from isolith_bindings.errors import CallError
from isolith_bindings.openapi import paging_words as words
from isolith_bindings.openapi.paging_words import plain
from isolith_bindings.schema.paged import ITEMS
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from isolith_bindings.egress import Response
    from isolith_bindings.openapi.model import Operation, Parameter
    from isolith_bindings.openapi.plan import RequestPlan

Cursor = list[list[str]]

MOST_PAIRS = 64
LONGEST_VALUE = 16 << 10
_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*!-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]*))?)*)')
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]*))', re.IGNORECASE)


@dataclass(frozen=True)
class Query:
    """The query parameters of an operation: their names, defaults, and what the request of this page said."""

    names: tuple[str, ...]
    defaults: Mapping[str, object]
    sent: Mapping[str, str]

    def find(self, wanted: frozenset[str]) -> str | None:
        """The first parameter of that meaning."""
        return next((name for name in self.names if plain(name) in wanted), None)

    def number(self, name: str | None, otherwise: int | None) -> int | None:
        """What was sent for a parameter, or its default, as a number."""
        told = None if name is None else self.sent.get(name, self.defaults.get(name))
        try:
            return otherwise if told is None or isinstance(told, bool) else int(str(told))
        except ValueError:
            return otherwise


def pageable(operation: Operation) -> bool:
    """Whether an operation takes parameters that choose a page of what it answers with."""
    names = [item.name for item in operation.parameters if item.location == "query"]
    return operation.method in {"GET", "QUERY"} and any(plain(name) in words.TELLING for name in names)


def turned(plan: RequestPlan, operation: Operation, cursor: object) -> RequestPlan:
    """The request for the page that a cursor names; None: the first one. Raises CallError for what is not a cursor."""
    pairs = checked(cursor)
    names = {name for name, _ in pairs}
    foreign = [name for name in names if not _of_paging(name, operation)]
    if foreign:
        raise CallError("invalid_arguments", f"a cursor cannot change the parameter {foreign[0]!r:.80}")
    kept = [(name, value) for name, value in plan.query if unquote_plus(name) not in names]
    return replace(plan, query=(*kept, *((quote(name, safe="[]"), quote(value, safe="")) for name, value in pairs)))


def following(plan: RequestPlan, operation: Operation, response: Response, value: object) -> Cursor | None:
    """What asks for the page after this one (`turned` takes it), or None where this is the last.

    `plan` is the request of this page, `value` the decoded body of its answer. A cursor that leads to the page that it
    came from is none.
    """
    query = _query(plan, operation)
    found = _by_link(response)
    if found is None:
        found = _by_body(query, value)
    if found is None and not said_all(value) and not _said_none(value):
        found = _by_count(query, value)
    usable = {name: text for name, text in (found or ()) if _of_paging(name, operation) and harmless(name, text)}
    changed = {name: text for name, text in usable.items() if query.sent.get(name) != text}
    return [[name, text] for name, text in changed.items()] or None


def items_of(value: object) -> list[object]:
    """The list of a page. An answer without one, or with several of which none is named so, is one item."""
    if value is None:
        return []
    if isinstance(value, list):
        return cast("list[object]", value)
    lists = {key: cast("list[object]", each) for key, each in _mapping(value).items() if isinstance(each, list)}
    for key in ITEMS:
        if key in lists:
            return lists[key]
        inner = _mapping(_mapping(value).get(key))
        if inner and any(isinstance(each, list) for each in inner.values()):
            return items_of(inner)
    return next(iter(lists.values())) if len(lists) == 1 else [value]


def _by_link(response: Response) -> list[tuple[str, str]] | None:
    """The query of the link to the next page; empty where there are links and none is that."""
    header = ", ".join(response.all("link"))[: 4 * LONGEST_VALUE]
    relations: dict[str, str] = {}
    for target, parameters in _LINK.findall(header):
        for quoted, bare in _REL.findall(parameters):
            for relation in (quoted or bare).lower().split():
                relations.setdefault(relation, target)
    if "next" in relations:
        return _of_url(relations["next"])
    return [] if relations.keys() & {"prev", "previous", "first", "last"} else None


def _by_body(query: Query, value: object) -> list[tuple[str, str]] | None:
    """By a URL or a cursor in the answer."""
    parameter = query.find(words.CURSOR)
    for key, told in told_of(value):
        if isinstance(told, str) and key in words.NEXT_URL and told.startswith(("https://", "http://", "/", "?")):
            return _of_url(told)
        is_cursor = isinstance(told, (str, int)) and not isinstance(told, bool) and told != ""
        if key in words.NEXT_CURSOR and is_cursor:
            name = parameter or query.find(words.PAGE if key in {"next", "nextpage"} else frozenset())
            if name is not None:
                return [(name, str(told))]
    if parameter is not None and plain(parameter) == "startingafter" and _flag(value):
        items = items_of(value)
        last = _mapping(items[-1]).get("id") if items else None
        return [(parameter, last)] if isinstance(last, str) else None
    return None


def _said_none(value: object) -> bool:
    """Whether the answer has a place for the address of the next page, and none in it."""
    return any(told is None for key, told in told_of(value) if key in words.NEXT_URL)


def said_all(value: object) -> bool:
    """Whether the answer says that nothing follows."""
    return _flag(value) is False


def _by_count(query: Query, value: object) -> list[tuple[str, str]] | None:
    """The page number after this one, or the offset after its items."""
    count = len(items_of(value))
    size = query.number(query.find(words.SIZE), None)
    page, offset = query.find(words.PAGE), query.find(words.OFFSET)
    if count == 0 or (page is None and offset is None) or not isinstance(_list_in(value), list):
        return None
    total, total_pages = _number(value, words.TOTAL), _number(value, words.TOTAL_PAGES)
    if page is not None:
        current = query.number(page, 1) or 0
        # Pages that begin with 0 are known by their default.
        first = 0 if query.defaults.get(page) == 0 else 1
        over = total_pages is not None and current - first + 1 >= total_pages
        seen = None if size is None else (current - first) * size + count
        ended = over or (seen is not None and total is not None and seen >= total)
        return None if ended or _short(count, size, total, total_pages) else [(page, str(current + 1))]
    seen = (query.number(offset, 0) or 0) + count
    ended = total is not None and seen >= total
    return None if ended or _short(count, size, total, total_pages) else [(str(offset), str(seen))]


def _short(count: int, size: int | None, total: int | None, total_pages: int | None) -> bool:
    """Whether a page that is not full is the last, which counts where nothing better is known."""
    return total is None and total_pages is None and size is not None and count < size


def _list_in(value: object) -> object:
    found = items_of(value)
    return None if len(found) == 1 and found[0] is value else found


def told_of(value: object) -> Iterator[tuple[str, object]]:
    """What an answer says about itself: its own fields, then those of the places where such things stand."""
    own = _mapping(value)
    yield from ((plain(key), each) for key, each in own.items())
    for key, each in own.items():
        inner = _mapping(each)
        if plain(key) in words.HOLDERS:
            yield from ((plain(name), told) for name, told in inner.items())
            for name, told in inner.items():
                if plain(name) in words.HOLDERS:
                    yield from ((plain(last), end) for last, end in _mapping(told).items())
                    yield from (("nexturl", end) for last, end in _mapping(told).items() if plain(last) == "href")
            yield from (("nexturl", told) for name, told in inner.items() if (plain(key), name) == ("next", "href"))


def _flag(value: object) -> bool | None:
    return next((told for key, told in told_of(value) if key in words.HAS_MORE and isinstance(told, bool)), None)


def _number(value: object, wanted: frozenset[str]) -> int | None:
    found = (told for key, told in told_of(value) if key in wanted)
    return next((told for told in found if isinstance(told, int) and not isinstance(told, bool)), None)


def _of_url(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True, max_num_fields=MOST_PAIRS)
    except ValueError:
        return []


def _query(plan: RequestPlan, operation: Operation) -> Query:
    parameters = [item for item in operation.parameters if item.location == "query"]
    schemas = {item.name: item.schema for item in parameters}
    defaults = {
        name: schema["default"] for name, schema in schemas.items() if isinstance(schema, dict) and "default" in schema
    }
    sent = {unquote_plus(name): unquote_plus(value or "") for name, value in plan.query}
    single = tuple(item.name for item in parameters if not _is_several(item))
    return Query(single, defaults, sent)


def _is_several(parameter: Parameter) -> bool:
    """Whether it holds more than one value, as `page[size]` and `page[number]` in one: none of them is counted up."""
    schema = parameter.schema
    return parameter.style == "deepObject" or (isinstance(schema, dict) and schema.get("type") in ("object", "array"))


def _of_paging(name: str, operation: Operation) -> bool:
    """A parameter that the operation declares for another purpose is the script's to give, and is checked there."""
    declared = any(item.location == "query" and item.name == name for item in operation.parameters)
    return not declared or plain(name) in words.TELLING | words.SIZE


def harmless(name: str, text: str) -> bool:
    """Links may repeat the credential of the request that they came with; it must not reach the script."""
    return len(text) <= LONGEST_VALUE and redact(name) == name and redact(text) == text


def no_cursor() -> CallError:
    """That something is none."""
    return CallError("invalid_arguments", "a cursor is what the page before gave for the next")


def checked(cursor: object) -> list[tuple[str, str]]:
    """A cursor as names and values; empty for that of the first page. Raises CallError for what is none."""
    if cursor is None:
        return []
    pairs: list[tuple[str, str]] = []
    for pair in cast("list[object]", cursor) if isinstance(cursor, list) else [None]:
        parts = cast("list[object]", pair) if isinstance(pair, list) else []
        texts = [part for part in parts if isinstance(part, str) and len(part) <= LONGEST_VALUE]
        if len(parts) != 2 or len(texts) != 2:
            raise no_cursor()
        pairs.append((texts[0], texts[1]))
    if len(pairs) > MOST_PAIRS:
        raise no_cursor()
    return pairs


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
