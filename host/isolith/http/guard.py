"""In front of everything: which host and origin are answered, who asks, and how a request is counted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.authentication import AuthCredentials
from starlette.requests import Request

from isolith.http.problems import Problem, problem_of
from isolith.journal.errors import JournalError
from isolith.tokens import ALL
from isolith.tokens.verifier import access_of

if TYPE_CHECKING:
    from mcp.server.auth.provider import TokenVerifier
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from isolith.http.metrics import Metrics

REFUSED: Final = "isolith.refused"
"""Where the scope of a request says that its token opens nothing: not why, which nobody who guesses is to learn."""
_CREATE: Final = "`isolith tokens create NAME --scope execute` makes one at this host"
_SIGN_IN: Final = "the authorization server of this host gives another"


class Guard:
    """An ASGI app around others. `verifier`: None lets everybody in, as nobody named; `oauth`: tokens are of others."""

    def __init__(
        self,
        app: ASGIApp,
        security: TransportSecuritySettings,
        verifier: TokenVerifier | None,
        metrics: Metrics | None = None,
        *,
        oauth: bool = False,
    ) -> None:
        self._app = app
        self._checks = TransportSecurityMiddleware(security)
        self._verifier = verifier
        self._metrics = metrics
        self._no_good = "this token is unknown, expired or revoked: " + (_SIGN_IN if oauth else _CREATE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        counted = self._counted(send)
        try:
            await self._admit(scope)
        except Exception as error:  # noqa: BLE001 - the border: what nobody foresaw is told by its id
            await problem_of(error).response()(scope, receive, counted)
            return
        await self._app(scope, receive, counted)

    async def _admit(self, scope: Scope) -> None:
        request = Request(scope)
        refused = await self._checks.validate_request(request)
        if refused is not None:
            what = "Host" if refused.status_code == 421 else "Origin"
            raise Problem(refused.status_code, f"wrong-{what.lower()}", f"the {what} header is none of ours", "denied")
        if self._verifier is None:
            scope["isolith.access"] = ALL
            return
        token = _bearer(request)
        if token is None:
            return  # whoever needs to know says so
        try:
            known = await self._verifier.verify_token(token)
        except JournalError as error:
            raise problem_of(error) from None
        if known is None:
            scope[REFUSED] = self._no_good
        else:
            scope["isolith.access"] = access_of(known)
            scope["user"], scope["auth"] = AuthenticatedUser(known), AuthCredentials(known.scopes)  # for the SDK

    def _counted(self, send: Send) -> Send:
        metrics, begun = self._metrics, time.perf_counter()
        if metrics is None:
            return send

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.answered(message["status"], time.perf_counter() - begun)
            await send(message)

        return sent


def _bearer(request: Request) -> str | None:
    """The token of the only Authorization header there may be."""
    given = request.headers.getlist("authorization")
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" and len(token) < 8192 else None
