"""The snippets that are marked as tools: each a tool of its own for MCP clients, beside the four that are always there.

Whoever calls one starts a run, as `execute` does, whose script is one call of the snippet: the same policy decides, the
same journal has it, and a person is asked where one of its methods wants it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import mcp_types as mcp

from isolith.journal.errors import JournalError
from isolith.mcp.tools import ACTS, READS, answer_schema
from isolith.snippets.content import schema_of
from isolith.snippets.library import MAX_NAME
from isolith_bindings.search import SNIPPETS

if TYPE_CHECKING:
    from isolith.code_mode import CodeMode
    from isolith.journal.snippet_model import Snippet
    from isolith_bindings.connector import Method

_READ = "A script that a person has read; the answer is that of `execute`."
_ASKS = " It waits for a person before it runs."


def script_of(name: str) -> str:
    """What is run where the tool of a snippet is called; its arguments are the input."""
    return f"await {SNIPPETS}.{name}(**input)"


class SnippetTools:
    """The tools of the snippets that are marked, as they are now."""

    def __init__(self, code_mode: CodeMode) -> None:
        self._code_mode = code_mode
        self._schema = answer_schema()

    def known(self) -> dict[str, mcp.Tool]:
        """By name, as far as this host knows."""
        return {snippet.name: self._tool(snippet, method) for snippet, method in self._code_mode.catalog.marked()}

    async def read(self) -> dict[str, mcp.Tool]:
        """The same, as the journal has them now: another host of it may have approved or revoked one."""
        with contextlib.suppress(JournalError):
            await self._code_mode.snippets.read()
        return self.known()

    async def find(self, name: str) -> mcp.Tool | None:
        """One; the journal is asked where it is not known here. None for what is no tool."""
        found = self.known().get(name)
        if found is not None or not name.isidentifier() or len(name) > MAX_NAME:
            return found
        return (await self.read()).get(name)

    def _tool(self, snippet: Snippet, method: Method) -> mcp.Tool:
        told = method.annotations
        return mcp.Tool(
            name=snippet.name,
            description=f"{snippet.description}\n\n{_READ}{_ASKS if method.policy == 'ask' else ''}",
            # A snippet is called with names, also where its schema leaves that out.
            input_schema={**schema_of(snippet), "type": "object"},
            output_schema=self._schema,
            annotations=READS if told.trusted and told.read_only is True else ACTS,
        )
