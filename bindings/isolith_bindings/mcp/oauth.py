"""OAuth for MCP servers, through the SDK. Tokens are kept in the host, where no script is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

    from isolith_bindings.mcp.descriptions import Server


@dataclass(frozen=True)
class OAuth:
    """To be written."""


def authentication(server: Server) -> httpx2.Auth | None:
    """What adds the header of a server that asks for OAuth; None for any other."""
    del server
    return None
