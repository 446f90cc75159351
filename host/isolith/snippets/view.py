"""How one version of a snippet looks from outside, as data: the same at every door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith.snippets.content import methods_of, schema_of

if TYPE_CHECKING:
    from isolith.journal.snippet_model import Snippet


def as_data(snippet: Snippet) -> dict[str, object]:
    """All that a reader may know of it."""
    return {
        "name": snippet.name,
        "version": snippet.version,
        "state": snippet.state,
        "description": snippet.description,
        "code": snippet.code,
        "content_hash": snippet.content_hash,
        "input_schema": schema_of(snippet),
        "methods": sorted(methods_of(snippet)),
        "image": snippet.image,
        "tool": snippet.tool,
        "execution_id": snippet.execution_id,
        "proposed_by": snippet.proposed_by,
        "proposed_at": snippet.proposed_at,
        "reviewed_by": snippet.reviewed_by,
        "reviewed_at": snippet.reviewed_at,
        "reason": snippet.reason,
    }
