"""What a search found, as a reader sees it: people at a terminal and models alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.schema.quoting import MARK

if TYPE_CHECKING:
    from isolith_bindings.search import SearchPage, SearchResult


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
