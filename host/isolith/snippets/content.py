"""What a snippet has in the journal as text, read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from isolith.journal.snippet_model import Snippet
    from isolith_bindings.connector import JsonSchema


def schema_of(snippet: Snippet) -> JsonSchema:
    """The schema of its input."""
    return cast("JsonSchema", json.loads(snippet.input_schema))


def methods_of(snippet: Snippet) -> dict[str, str]:
    """The methods that it may call, `connector.method`, each with the digest of its schemas."""
    return cast("dict[str, str]", json.loads(snippet.methods))
