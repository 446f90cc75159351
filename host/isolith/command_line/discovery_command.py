"""`isolith search`, `isolith describe` and `isolith catalog`: what is there to be called, for people and as JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from isolith.errors import UsageError
from isolith.found import search_text
from isolith.json_form import to_json_text
from isolith.visible import visible
from isolith_bindings.health import Health
from isolith_bindings.listing import Listed, Listing
from isolith_bindings.listing_changes import changes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isolith.command_line.terminal import Terminal
    from isolith.json_form import JsonValue
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.description import Description
    from isolith_bindings.search import SearchPage

_MOST_TRIED = 200
"""Tokens in which the names of some connectors always have room."""


def answer_search(page: SearchPage, terminal: Terminal, *, json: bool) -> None:
    """Write one page of what was found."""
    if json:
        terminal.write(to_json_text(dataclasses.asdict(page)))
        return
    terminal.write(visible(search_text(page, f": --offset {page.next}")))


def answer_describe(description: Description, terminal: Terminal, *, json: bool) -> None:
    """Write what was asked for: as a model would read it, or the same as data."""
    terminal.write(to_json_text(description) if json else visible(description.text))


def listing_of(catalog: Catalog, budget_tokens: int, pinned: Iterable[str]) -> Listing:
    """What fits into so many tokens. Raises UsageError, with the least, where that is nothing at all."""
    pinned = tuple(pinned)
    listing = catalog.listing(budget_tokens, pinned)
    if listing.text:
        return listing
    least = next((most for most in range(budget_tokens + 1, _MOST_TRIED) if catalog.listing(most).text), _MOST_TRIED)
    raise UsageError(f"{budget_tokens:,} tokens are too few to say anything: the least here are {least}")


def answer_catalog(listing: Listing, terminal: Terminal, *, json: bool, before: Listing | None = None) -> None:
    """Write a listing: the text that a model would see; where it has seen another `before`, what has changed."""
    told = None if before is None else changes(before, listing)
    if not json:
        text = listing.text if told is None else told.text or "nothing has changed\n"
        terminal.write(visible(text).rstrip("\n"))
        return
    shown = frozenset(listing.shown)
    news: dict[str, JsonValue] = {} if told is None else {"changes": {"text": told.text, "tokens": told.tokens}}
    document: dict[str, JsonValue] = {
        "text": listing.text,
        **news,
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
        "lines": dict(listed.lines),
    }


class _Kept(BaseModel):
    """One connector, as `catalog --json` writes it."""

    name: str
    purpose: str
    state: str
    reason: str | None
    lines: dict[str, str]
    shown: list[str]


class _Written(BaseModel):
    text: str
    tokens: int
    complete: bool
    tools: int
    unnamed: int
    connectors: list[_Kept]


def read_listing(file: Path) -> Listing:
    """What an earlier `isolith catalog --json` wrote. Raises UsageError for what is no such thing."""
    try:
        kept = _Written.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UsageError(f"`{file}`: {error.strerror or error}") from error
    except ValidationError as error:
        raise UsageError(f"`{file}` was not written by `isolith catalog --json` of this version") from error
    connectors = tuple(
        Listed(one.name, one.purpose, Health(one.state, one.reason), one.lines) for one in kept.connectors
    )
    shown = tuple(path for one in kept.connectors for path in one.shown)
    return Listing(kept.text, kept.tokens, kept.complete, shown, kept.tools, kept.unnamed, connectors)
