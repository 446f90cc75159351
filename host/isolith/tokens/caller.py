"""Who asks, as the SDK of MCP knows it in a request; whoever came without a token may all, where that was let in."""

from __future__ import annotations

from mcp.server.auth.middleware.auth_context import get_access_token

from isolith.tokens.access import ALL, Access
from isolith.tokens.verifier import access_of


def caller() -> Access:
    """Whoever sent the MCP request that is being answered."""
    token = get_access_token()
    return ALL if token is None else access_of(token)
