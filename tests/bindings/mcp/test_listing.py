"""Lists with pages: every entry once, in order, and an end to each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_bindings.mcp import listing
from isolith_bindings.mcp.failures import BadAnswer, ProtocolError
from isolith_bindings.mcp.listing import all_pages

pytestmark = pytest.mark.anyio
Fetch = Callable[[str | None], Awaitable[dict[str, object]]]


def pages_of(*pages: dict[str, object]) -> Fetch:
    """Pages by number; the first has none."""

    async def fetch(cursor: str | None) -> dict[str, object]:
        return pages[int(cursor or "0")]

    return fetch


def entries(*names: str) -> list[object]:
    return [{"name": name} for name in names]


async def test_all_pages_in_order() -> None:
    fetch = pages_of({"tools": entries("a", "b"), "nextCursor": "1"}, {"tools": entries("c")})
    found = await all_pages(fetch, "tools")
    assert [entry["name"] for entry in found.entries] == ["a", "b", "c"]
    assert found.problems == ()


@pytest.mark.parametrize("cursor", [None, "", 3, []])
async def test_what_is_no_cursor_ends_the_list(cursor: object) -> None:
    assert len((await all_pages(pages_of({"tools": entries("a"), "nextCursor": cursor}), "tools")).entries) == 1


async def test_a_circle_ends() -> None:
    fetch = pages_of({"tools": entries("a"), "nextCursor": "1"}, {"tools": entries("b"), "nextCursor": "1"})
    found = await all_pages(fetch, "tools")
    assert len(found.entries) == 2
    assert "circle" in found.problems[0]


async def test_pages_without_end_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_PAGES", 7)
    asked: list[str | None] = []

    async def fetch(cursor: str | None) -> dict[str, object]:
        asked.append(cursor)
        return {"tools": entries(f"t{len(asked)}"), "nextCursor": str(len(asked))}

    found = await all_pages(fetch, "tools")
    assert len(found.entries) == len(asked) == 7
    assert "more than 7 pages" in found.problems[0]


async def test_entries_without_end_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ENTRIES", 3)
    fetch = pages_of({"tools": entries("a", "b", "c", "d"), "nextCursor": "1"}, {"tools": entries("e")})
    found = await all_pages(fetch, "tools")
    assert len(found.entries) == 3
    assert "more than 3 tools" in found.problems[0]


async def test_a_cursor_that_was_forgotten_begins_the_list_again() -> None:
    asked: list[str | None] = []

    async def fetch(cursor: str | None) -> dict[str, object]:
        asked.append(cursor)
        if asked == [None, "1"]:
            raise ProtocolError(-32602, "no such cursor")
        return {"tools": entries(str(cursor)), **({"nextCursor": "1"} if cursor is None else {})}

    found = await all_pages(fetch, "tools")
    assert asked == [None, "1", None, "1"]
    assert len(found.entries) == 2


async def test_any_other_error_is_one() -> None:
    async def fetch(_: str | None) -> dict[str, object]:
        raise ProtocolError(-32000, "no")

    with pytest.raises(ProtocolError, match="no"):
        await all_pages(fetch, "tools")
    with pytest.raises(BadAnswer, match="no list"):
        await all_pages(pages_of({"tools": {}}), "tools")


async def test_odd_entries_cost_themselves() -> None:
    odd: list[object] = [None, 3, {}, {"name": 3}, {"name": ""}, {"name": "a"}, {"name": "a"}, {"name": "a", "x": 1}]
    found = await all_pages(pages_of({"tools": odd}), "tools")
    assert found.entries == ({"name": "a"},)
    assert len(found.problems) == 6


@given(st.lists(st.lists(st.text(min_size=1), max_size=5), min_size=1, max_size=6))
async def test_every_name_is_found_once(names: list[list[str]]) -> None:
    pages: list[dict[str, object]] = [
        {"tools": entries(*page), **({"nextCursor": str(i + 1)} if i + 1 < len(names) else {})}
        for i, page in enumerate(names)
    ]
    found = await all_pages(pages_of(*pages), "tools")
    assert [entry["name"] for entry in found.entries] == list(dict.fromkeys(n for page in names for n in page))
