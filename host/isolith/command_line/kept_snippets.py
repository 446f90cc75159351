"""The reviewed scripts of a command's journal, for what looks for something to call. None is run here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from isolith.command_line import command
from isolith.command_line.kept_journal import chosen
from isolith.configuration.connect_python import exists
from isolith.durable.journals import file_of, open_journal
from isolith.errors import UsageError
from isolith_bindings.errors import CallError
from isolith_bindings.policy import as_policy, govern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.journal.snippet_model import Snippet
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import CallContext, Connector
    from isolith_bindings.policy import Policy, Preset


def approved() -> list[Snippet]:
    """Those that are approved in the journal of this command; none where it is not there, or cannot be opened."""
    file = file_of(chosen().url)
    if file is not None and not exists(file):
        return []
    from isolith.journal.errors import JournalError  # noqa: PLC0415 - loads the database toolkit

    async def once() -> list[Snippet]:
        async with await open_journal(chosen().url) as journal:
            return list(await journal.snippets.find({"approved"}))

    try:
        return asyncio.run(once())
    except (UsageError, JournalError) as error:
        command.terminal().say(f"isolith: snippets are left out: {error}")
        return []


def catalog_of(connectors: list[Connector], policy: Policy | Preset, snippets: list[Snippet]) -> Catalog:
    """What scripts may know of, under a policy."""
    if not snippets:
        return command.catalog_of(connectors, policy)
    from isolith.snippets.methods import SnippetCatalog  # noqa: PLC0415 - loads what runs them

    decided = as_policy(policy)
    catalog = SnippetCatalog([govern(connector, decided) for connector in connectors], decided, _uncalled)
    catalog.put(snippets)
    return catalog


async def _uncalled(name: str, _arguments: Mapping[str, object], _context: CallContext) -> object:
    raise CallError("internal", f"the snippet {name} was called by what only looks for it")
