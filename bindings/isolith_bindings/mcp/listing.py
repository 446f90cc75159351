"""All pages of what a server lists, however it pages: guarded against cursors that lead nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from mcp_types import INVALID_PARAMS

from isolith_bindings.mcp.failures import BadAnswer, ProtocolError
from isolith_bindings.mcp.freshness import UNSAID, Freshness, freshness_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

MAX_PAGES = 1_000
MAX_ENTRIES = 20_000
"""A list is cut here, and says so."""

Entry = dict[str, object]


@dataclass(frozen=True)
class Listing:
    """What was listed, in the server's order; `problems` in plain words; `freshness` as its pages say."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...] = ()
    freshness: Freshness = UNSAID


async def all_pages(
    fetch: Callable[[str | None], Awaitable[Mapping[str, object]]], key: str, *, identified_by: str = "name"
) -> Listing:
    """Every page of one list, begun again once if the server forgets its cursors. Raises what `fetch` raises."""
    try:
        return await _walk(fetch, key, identified_by)
    except ProtocolError as error:
        # A list that changed while it was read: its cursors are refused, and it starts anew.
        if error.code != INVALID_PARAMS:
            raise
    return await _walk(fetch, key, identified_by)


async def _walk(
    fetch: Callable[[str | None], Awaitable[Mapping[str, object]]], key: str, identified_by: str
) -> Listing:
    entries: dict[str, Entry] = {}
    problems: list[str] = []
    cursor: str | None = None
    seen: set[str] = set()
    pages: list[Mapping[str, object]] = []
    for number in range(1, MAX_PAGES + 1):
        page = await fetch(cursor)
        pages.append({name: page.get(name) for name in ("ttlMs", "cacheScope")})
        _take(page, key, identified_by, entries, problems)
        following = page.get("nextCursor")
        if not isinstance(following, str) or not following:
            break
        if following in seen:
            problems.append(f"its pages go in a circle: page {number} leads back; what was listed until then counts")
            break
        if len(entries) >= MAX_ENTRIES:
            problems.append(f"it lists more than {MAX_ENTRIES:,} {key}: the rest is left out")
            break
        seen.add(following)
        cursor = following
    else:
        problems.append(f"it has more than {MAX_PAGES:,} pages of {key}: the rest is left out")
    return Listing(tuple(entries.values())[:MAX_ENTRIES], tuple(problems), freshness_of(pages))


def _take(
    page: Mapping[str, object], key: str, identified_by: str, entries: dict[str, Entry], problems: list[str]
) -> None:
    """Add one page. An entry that is none costs itself; of two alike the first counts."""
    listed = page.get(key)
    if not isinstance(listed, list):
        raise BadAnswer(f"a page of its {key} holds no list of them")
    for item in cast("list[object]", listed):
        name = cast("Entry", item).get(identified_by) if isinstance(item, dict) else None
        if not isinstance(name, str) or not name:
            problems.append(f"one of its {key} has no {identified_by} and is left out")
        elif name in entries:
            if entries[name] != item:
                problems.append(f"it lists `{name}` twice, and not alike: the first counts")
        else:
            entries[name] = cast("Entry", item)
