"""A person signs in to a server: one connection is made for it, and closed again. What remains are the tokens."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import mcp_types as types

from isolith_bindings.mcp.connection import Callbacks, Connection, Terms
from isolith_bindings.mcp.failures import BadAnswer, ConnectionBroke, ProtocolError, StartFailed
from isolith_bindings.mcp.loopback import loopback
from isolith_bindings.mcp.oauth import NOBODY, OAuth, SignIn, authentication
from isolith_bindings.mcp.questions import Questions

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from mcp.client.auth import AuthorizationCodeResult

    from isolith_bindings.mcp.descriptions import HttpServer


def person(oauth: OAuth) -> SignIn:
    """Whoever can sign in. What a browser brings back is listened for from when it is sent until it is back."""
    visit = oauth.visit
    if visit is None:
        return NOBODY
    stack = contextlib.AsyncExitStack()
    waiting: list[asyncio.Future[AuthorizationCodeResult]] = []

    async def show(url: str) -> None:
        await stack.aclose()
        waiting[:] = [await stack.enter_async_context(loopback(oauth.redirect_port, urlsplit(oauth.redirect).path))]
        await visit(url)

    async def returned() -> AuthorizationCodeResult:
        try:
            return await waiting[0]
        finally:
            await stack.aclose()

    return SignIn(show, returned)


async def sign_in(server: HttpServer, oauth: OAuth, visit: Callable[[str], Awaitable[None]], timeout_s: float) -> None:
    """Give a person the URL to sign in at, and wait. Raises StartFailed, and CallError of a secret."""
    auth = await authentication(server.url, oauth, person(replace(oauth, visit=visit)))
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
