"""A person signs in to a server: one connection is made for it, and closed again. What remains are the tokens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import mcp_types as types

from isolith_bindings.mcp.connection import Callbacks, Connection, Terms
from isolith_bindings.mcp.failures import BadAnswer, ConnectionBroke, ProtocolError, StartFailed
from isolith_bindings.mcp.loopback import loopback
from isolith_bindings.mcp.oauth import OAuth, SignIn, authentication
from isolith_bindings.mcp.questions import Questions

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.client.auth import AuthorizationCodeResult

    from isolith_bindings.mcp.descriptions import HttpServer


async def sign_in(server: HttpServer, oauth: OAuth, visit: Callable[[str], Awaitable[None]], timeout_s: float) -> None:
    """Give a person the URL to sign in at, and wait. Raises StartFailed, and CallError of a secret."""
    async with loopback(oauth.redirect_port, urlsplit(oauth.redirect).path) as returned:

        async def result() -> AuthorizationCodeResult:
            return await asyncio.shield(returned)

        auth = await authentication(server.url, oauth, SignIn(visit, result))
        callbacks = Callbacks(Questions().elicit, None, None, lambda _: None, lambda: None)
        connection = Connection(server, callbacks, Terms(start_s=timeout_s, auth=auth))
        try:
            await connection.open()
            # Some servers ask who calls only when it comes to their tools.
            await connection.request(types.ListToolsRequest(), timeout_s=timeout_s)
        except (ConnectionBroke, ProtocolError, BadAnswer) as error:
            raise StartFailed(f"{server.place}: {error}") from error
        finally:
            await connection.close()
