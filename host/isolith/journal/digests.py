"""The digests that an approval and a review are bound to."""

from __future__ import annotations

import hashlib
import json

from isolith_bindings import json_text


def digest_of_call(connector: str, method: str, arguments: str) -> str:
    """SHA-256 over a call: two calls have one digest exactly when they ask for the same.

    `arguments` is JSON text; the order of the members of objects and its white space do not count.
    """
    try:
        canonical = json.dumps(json_text.loads(arguments), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):
        canonical = arguments  # not JSON, or too deep to sort: then exactly this text
    return hashlib.sha256(json.dumps([connector, method, canonical]).encode()).hexdigest()


def content_hash(code: str, input_schema: str, methods: str) -> str:
    """SHA-256 of what a reviewer reads and what is run."""
    parts = "".join(f"{len(part.encode())}:{part}" for part in (code, input_schema, methods))
    return hashlib.sha256(parts.encode()).hexdigest()
