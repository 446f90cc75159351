"""An authorization server of this machine, as small as one can be: metadata, registration, PKCE, tokens, keys.

Whoever asks is let in as `ada`, with the scopes that were asked for: nobody sees a page.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import secrets
import socket
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

CLIENT = ("isolith", "the secret of isolith")
"""As whom a resource may ask about tokens."""


class Issuer:
    """Its tokens are JWTs, signed with a key that a test may change, or words that it alone knows."""

    def __init__(self, url: str, *, opaque: bool) -> None:
        self.url = url
        self.asked: list[str] = []
        """The paths that were asked for, in order."""
        self.revoked: set[str] = set()
        self.down = False
        self._opaque = opaque
        self._codes: dict[str, dict[str, str]] = {}
        self._claims: dict[str, dict[str, object]] = {}
        self._key, self._key_id = rsa.generate_private_key(65_537, 2_048), "first"

    @property
    def app(self) -> Starlette:
        gets = {
            "/.well-known/oauth-authorization-server": self._metadata,
            "/authorize": self._authorize,
            "/jwks": self._keys,
        }
        posts = {"/register": self._register, "/token": self._token, "/introspect": self._introspect}
        routes = [Route(path, answer) for path, answer in gets.items()]
        return Starlette(routes=[*routes, *(Route(path, answer, methods=["POST"]) for path, answer in posts.items())])

    def turn_key(self) -> None:
        """Sign with another key from now on; the one before is no longer shown."""
        self._key, self._key_id = rsa.generate_private_key(65_537, 2_048), secrets.token_hex(4)

    def token(self, audience: object, scope: object = "execute", subject: str = "ada", **more: object) -> str:
        """An access token, good for an hour."""
        now = int(time.time())
        claims: dict[str, object] = {"iss": self.url, "aud": audience, "sub": subject, "scope": scope}
        claims |= {"client_id": "an-app", "iat": now, "exp": now + 3_600, **more}
        if not self._opaque:
            return jwt.encode(claims, self._key, "RS256", {"kid": self._key_id, "typ": "at+jwt"})
        token = secrets.token_urlsafe(32)
        self._claims[token] = claims
        return token

    def public_key(self) -> dict[str, Any]:
        told = cast("dict[str, Any]", json.loads(RSAAlgorithm.to_jwk(self._key.public_key())))
        return {**told, "kid": self._key_id, "use": "sig", "alg": "RS256"}

    async def _metadata(self, request: Request) -> Response:
        told: dict[str, object] = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "introspection_endpoint": f"{self.url}/introspect",
            "jwks_uri": f"{self.url}/jwks",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }
        return self._told(request, told)

    async def _keys(self, request: Request) -> Response:
        return self._told(request, {"keys": [self.public_key()]})

    async def _register(self, request: Request) -> Response:
        return self._told(request, {**(await request.json()), "client_id": secrets.token_hex(8)}, 201)

    async def _authorize(self, request: Request) -> Response:
        code = secrets.token_hex(16)
        self._codes[code] = dict(request.query_params)
        back = urlencode({"code": code, "state": request.query_params["state"], "iss": self.url})
        return RedirectResponse(f"{request.query_params['redirect_uri']}?{back}", 302)

    async def _token(self, request: Request) -> Response:
        form = await request.form()
        asked = self._codes.pop(str(form["code"]))
        digest = hashlib.sha256(str(form["code_verifier"]).encode()).digest()
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != asked["code_challenge"]:
            return self._told(request, {"error": "invalid_grant"}, 400)
        scope = asked.get("scope", "")
        token = self.token(asked["resource"], scope)
        return self._told(request, {"access_token": token, "token_type": "Bearer", "expires_in": 3_600, "scope": scope})

    async def _introspect(self, request: Request) -> Response:
        known = base64.b64encode(b"isolith:the+secret+of+isolith").decode()
        if request.headers.get("authorization") != f"Basic {known}":
            return self._told(request, {"error": "invalid_client"}, 401)
        token = str((await request.form())["token"])
        claims = None if token in self.revoked else self._claims.get(token)
        return self._told(request, {"active": False} if claims is None else {"active": True, **claims})

    def _told(self, request: Request, what: dict[str, object], status: int = 200) -> Response:
        self.asked.append(request.url.path)
        return Response(status_code=503) if self.down else JSONResponse(what, status)


@asynccontextmanager
async def issuer(*, opaque: bool = False) -> AsyncGenerator[Issuer]:
    """One at a free port, in this process. `opaque`: its tokens say nothing by themselves."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        known = Issuer(f"http://127.0.0.1:{listening.getsockname()[1]}", opaque=opaque)
        server = uvicorn.Server(uvicorn.Config(known.app, log_level="warning", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield known
        finally:
            server.should_exit = True
            await serving
