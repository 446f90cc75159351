"""Snippets as they cross the border of the journal, both ways: see `model`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from isolith.journal.model import Encoded
    from isolith.journal.statuses import SnippetState


@dataclass(frozen=True, slots=True)
class NewSnippet:
    """A script proposed for reuse."""

    name: str
    description: str
    code: str
    input_schema: Encoded
    methods: Encoded
    """The methods it requires, with the digests of their schemas."""
    image: str
    who: str
    execution_id: str | None = None
    """Where it was proven."""
    tests: Encoded = "[]"
    tool: bool = False
    """Whether MCP clients are given it as a tool of its own."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One version of a snippet."""

    name: str
    version: int
    state: SnippetState
    description: str
    code: str
    content_hash: str
    input_schema: Encoded
    methods: Encoded
    image: str
    execution_id: str | None
    tests: Encoded
    proposed_by: str
    proposed_at: datetime
    reviewed_by: str | None
    reviewed_at: datetime | None
    reason: str | None
    tool: bool = False
