"""Access tokens of an authorization server, judged: by its keys, or by what it says of each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import jwt

from isolith.tokens.claims import LEEWAY_S, access_token, in_its_time, spellings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.auth.provider import AccessToken

    from isolith.tokens.authorization_server import AuthorizationServer, Introspection

_ALGORITHMS: Final = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""By the type of a key: signatures that only the server can make. A shared secret makes none, nor does `none`."""
_REQUIRED: Final = ["exp", "iss", "aud", "sub"]


class OAuthVerifier:
    """A `TokenVerifier` of the SDK. The subject of a token is its principal.

    `resource`: this server as the server's tokens name it (`aud`). `introspection`: as whom the server is asked about
    each token, at each request, so that a revocation counts at once; without it a token is a JWT, good to its end.
    """

    def __init__(self, server: AuthorizationServer, resource: str, introspection: Introspection | None = None) -> None:
        self._server = server
        self._resource = resource
        self._introspection = introspection

    async def verify_token(self, token: str) -> AccessToken | None:
        """For whom and for what it is good now; None where it opens nothing. Raises NotJudged."""
        claims = await (self._said(token) if self._introspection else self._signed(token))
        if claims is None:
            return None
        return access_token(token, claims, issuer=self._server.issuer, resource=self._resource)

    async def _said(self, token: str) -> Mapping[str, object] | None:
        assert self._introspection is not None  # noqa: S101 - by the caller
        claims = await self._server.say_of(token, self._introspection)
        return claims if claims is not None and in_its_time(claims, time.time()) else None

    async def _signed(self, token: str) -> Mapping[str, object] | None:
        try:
            header = jwt.get_unverified_header(token)
            named = header.get("kid")
            key = await self._server.key(named if isinstance(named, str) else None)
            algorithm = str(header.get("alg"))
            if key is None or not _fits(algorithm, key):
                return None
            return jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm),
                [algorithm],
                {"require": _REQUIRED},
                audience=spellings(self._resource),
                issuer=spellings(self._server.issuer),
                leeway=LEEWAY_S,
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None


def _fits(algorithm: object, key: Mapping[str, object]) -> bool:
    return algorithm in _ALGORITHMS.get(str(key.get("kty")), ()) and key.get("alg", algorithm) == algorithm
