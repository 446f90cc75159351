"""`isolith search`, `isolith describe` and `isolith catalog`: what is there to be called, for people and as JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from isolith.json_form import to_json_text
from isolith.terminal import visible
from isolith_bindings.schema.quoting import MARK

if TYPE_CHECKING:
    from isolith.json_form import JsonValue
    from isolith.terminal import Terminal
    from isolith_bindings.description import Description
    from isolith_bindings.listing import Listed, Listing
    from isolith_bindings.search import SearchPage, SearchResult


def answer_search(page: SearchPage, terminal: Terminal, *, json: bool) -> None:
    """Write one page of what was found."""
    if json:
        terminal.write(to_json_text(dataclasses.asdict(page)))
        return
    terminal.write(visible(search_text(page, f": --offset {page.next}")))


def search_text(page: SearchPage, onward: str) -> str:
    """One page for a reader; `onward`: behind how many more there are, how to see them."""
    lines = [_found(result) for result in page.results] or ["nothing fits"]
    if page.remaining:
        lines.append(f"and {page.remaining:,} more{onward}")
    return "\n".join(lines)


def _found(result: SearchResult) -> str:
    asks = " [asks a person]" if result.requires_approval else ""
    signature = f"\n    {result.signature}" if result.signature else ""
    said = f": {MARK if result.outside else ''}{result.description}" if result.description else ""
    return f"{result.path}{asks}{said}{signature}"


def answer_describe(description: Description, terminal: Terminal, *, json: bool) -> None:
    """Write what was asked for: as a model would read it, or the same as data."""
    terminal.write(to_json_text(description) if json else visible(description.text))


def answer_catalog(listing: Listing, terminal: Terminal, *, json: bool) -> None:
    """Write a listing: the text that a model would see."""
    if not json:
        terminal.write(visible(listing.text).rstrip("\n"))
        return
    shown = frozenset(listing.shown)
    document: dict[str, JsonValue] = {
        "text": listing.text,
        "tokens": listing.tokens,
        "complete": listing.complete,
        "tools": listing.total,
        "unnamed": listing.unnamed,
        "connectors": [_connector(each, shown) for each in listing.connectors],
    }
    terminal.write(to_json_text(document))


def _connector(listed: Listed, shown: frozenset[str]) -> JsonValue:
    return {
        "name": listed.name,
        "purpose": listed.purpose,
        "state": listed.health.state,
        "reason": listed.health.reason,
        "tools": len(listed.lines),
        "shown": [path for name in listed.lines if (path := f"{listed.name}.{name}") in shown],
    }
