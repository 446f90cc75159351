"""`isolith search`, `isolith describe` and `isolith catalog`: what is there to be called, for people and as JSON."""

from __future__ import annotations

import dataclasses
from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import TYPE_CHECKING, Annotated, TypeVar, cast

import typer
from pydantic import BaseModel, ValidationError

from isolith.command_line import command, kept_snippets
from isolith.command_line.command import Configured, Connect, Json, PolicyName, guarded
from isolith.command_line.hints import NOTHING_CONNECTED
from isolith.command_line.kept_journal import journalled
from isolith.errors import UsageError
from isolith.found import search_text
from isolith.json_form import to_json_text
from isolith.visible import visible
from isolith_bindings.description import Detail  # noqa: TC001 - Typer reads the annotations
from isolith_bindings.health import Health
from isolith_bindings.listing import DEFAULT_BUDGET, Listed, Listing
from isolith_bindings.listing_changes import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isolith.command_line.terminal import Terminal
    from isolith.json_form import JsonValue
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Connector
    from isolith_bindings.description import Description
    from isolith_bindings.search import Kind, SearchPage

_T = TypeVar("_T")

_MOST_TRIED = 20
"""Tokens in which the number of connectors always has room."""


@guarded
@journalled
def search(  # noqa: PLR0913 - one parameter a flag
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A few words, or a path; '' lists everything.")],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    connector: Annotated[str | None, typer.Option(metavar="NAME", help="Search in this connector only.")] = None,
    kind: Annotated[str | None, typer.Option(help="connector, method, snippet or excluded.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="Results to print.")] = 10,
    offset: Annotated[int, typer.Option(metavar="N", help="Results to leave out before them.")] = 0,
    json: Json = False,
) -> None:
    """Find what can be called by what it does."""

    def ask(catalog: Catalog) -> SearchPage:
        return catalog.search(query, connector, cast("Kind | None", kind), limit, offset)

    answer_search(_asked(specs, configured, policy, ask), command.terminal(), json=json)


@guarded
@journalled
def describe(  # noqa: PLR0913 - one parameter a flag
    targets: Annotated[
        list[str], typer.Argument(metavar="TARGET", help="connector, connector.method or connector.method.Type")
    ],
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    detail: Annotated[Detail, typer.Option(help="How much is said.")] = "full",
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens of the whole text.")] = None,
    json: Json = False,
) -> None:
    """Say how connectors, methods, their types and snippets are used."""

    def ask(catalog: Catalog) -> Description:
        return catalog.describe(targets[0] if len(targets) == 1 else targets, detail, budget_tokens)

    answer_describe(_asked(specs, configured, policy, ask), command.terminal(), json=json)


@guarded
@journalled
def catalog(  # noqa: PLR0913 - one parameter a flag
    *,
    specs: Connect = None,
    configured: Configured = None,
    policy: PolicyName = None,
    budget_tokens: Annotated[int, typer.Option(metavar="N", help="Tokens of the whole text.")] = DEFAULT_BUDGET,
    pinned: Annotated[list[str] | None, typer.Option("--pin", metavar="PATH", help="Show it before others.")] = None,
    since: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Print what has changed since `catalog --json` wrote this.")
    ] = None,
    json: Json = False,
) -> None:
    """Print what a model is told of the connectors and their tools."""
    before = read_listing(since) if since else None

    def ask(catalog: Catalog) -> Listing:
        return listing_of(catalog, budget_tokens, pinned or ())

    listing = _asked(specs, configured, policy, ask)
    answer_catalog(listing, command.terminal(), json=json, before=before)


def _asked(specs: list[str] | None, configured: str | None, policy: str | None, ask: Callable[[Catalog], _T]) -> _T:
    """An answer of the catalogue: what scripts may know of under the policy, with the snippets of the journal."""
    config = command.read_configuration(configured)
    decided = command.policy_of(policy, config)
    if not specs and not config:
        command.terminal().say(f"isolith: {NOTHING_CONNECTED}")

    snippets = kept_snippets.approved()

    async def use(connectors: list[Connector]) -> _T:
        return ask(kept_snippets.catalog_of(connectors, decided, snippets))

    return command.consulted(specs, config, use)


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
