"""An authorization server as a resource asks it: its metadata (RFC 8414), its keys (RFC 7517), what it says of a token.

All that it answers is read here. It is reached by `egress`: where the issuer named by the operator is, and where the
issuer's own metadata says, over TLS anywhere but at the issuer's own origin.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import quote_plus, urlencode, urlsplit, urlunsplit

import structlog

from isolith.errors import UsageError
from isolith.tokens.claims import spellings
from isolith.tokens.errors import NotJudged
from isolith_bindings import json_text
from isolith_bindings.egress.client import Egress
from isolith_bindings.egress.messages import Attachment, Limits, Request
from isolith_bindings.egress.rules import origin_of
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.oauth import basic

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.secrets import Secret

Document = Mapping[str, object]

_ANSWER_BYTES: Final = 256 * 1024
_TOTAL_S: Final = 10.0
_KEEP_S: Final = 3_600.0
_AGAIN_S: Final = 30.0
"""Between two looks for a key that is not there: whoever has no token must not make this ask all the time."""
_BACK_S: Final = 5.0
"""Before it is asked again after it could not be."""
_AT_A_TIME: Final = 16
"""Tokens that are asked about at once."""
_log = structlog.get_logger("isolith")


@dataclass(frozen=True)
class Introspection:
    """As whom the server is asked about tokens (RFC 7662)."""

    client_id: str
    client_secret: Secret


class AuthorizationServer:
    """One of them, by its issuer. In one event loop; close it with `aclose`."""

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises UsageError for an issuer that is none: https, or http on this machine."""
        self.issuer = issuer
        self._origin = issuer_origin(issuer)
        self._clock = clock
        self._egress = [self._reach(issuer)]
        self._metadata: dict[str, Document] = {}
        self._keys: dict[str | None, Document] = {}
        self._again_at = self._stale_at = float("-inf")
        self._lock = asyncio.Lock()
        self._asking = asyncio.Semaphore(_AT_A_TIME)

    async def key(self, key_id: str | None) -> Document | None:
        """A key by its id, or the only one there is; None where it has no such key. Raises NotJudged."""
        found = self._find(key_id)
        if found is not None and self._clock() < self._stale_at:
            return found
        async with self._lock:
            if self._clock() >= (self._again_at if self._find(key_id) is None else self._stale_at):
                await self._read_keys()
            if not self._keys:
                raise self._failed("no key of it is known")
            return self._find(key_id)

    async def say_of(self, token: str, asking: Introspection) -> Document | None:
        """What it says of a token that is good; None for any other. Raises NotJudged."""
        endpoint = await self._endpoint("introspection_endpoint")
        known = basic(quote_plus(asking.client_id), quote_plus(await asking.client_secret.reveal()))
        request = Request(
            "POST",
            endpoint,
            headers=(("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")),
            content=urlencode({"token": token, "token_type_hint": "access_token"}).encode(),
            attachment=Attachment(headers=(("Authorization", f"Basic {known}"),)),
            idempotent=True,
            body_bytes=_ANSWER_BYTES,
        )
        async with self._asking:
            said = await self._answer(request)
        return said if said.get("active") is True else None

    async def aclose(self) -> None:
        """Close its connections. Idempotent."""
        for each in self._egress:
            await each.aclose()

    def _find(self, key_id: str | None) -> Document | None:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    async def _read_keys(self) -> None:
        """Anew. Where it cannot be asked, the keys that are known go on to count, and it is asked again later."""
        try:
            told = await self._answer(_get(await self._endpoint("jwks_uri")))
        except NotJudged:
            self._again_at, self._stale_at = self._clock() + _BACK_S, self._clock() + _AGAIN_S
            return
        keys = told.get("keys")
        listed = cast("list[object]", keys) if isinstance(keys, list) else []
        self._keys = {_id(one): one for one in map(_fields, listed) if one and one.get("use", "sig") == "sig"}
        self._again_at, self._stale_at = self._clock() + _AGAIN_S, self._clock() + _KEEP_S

    async def _endpoint(self, name: str) -> str:
        """Where one of its endpoints is, by the first document that names it."""
        if name not in self._metadata:
            self._metadata[name] = await self._discovered(name)
        return cast("str", self._metadata[name][name])

    async def _discovered(self, name: str) -> Document:
        failed: NotJudged | None = None
        for url in _metadata_urls(self.issuer):
            try:
                found = await self._answer(_get(url))
            except NotJudged as error:
                failed = error
                continue
            where = found.get(name)
            if isinstance(where, str) and found.get("issuer") in spellings(self.issuer):
                self._egress.append(self._reach(where))
                return found
        raise failed or self._failed(f"its metadata has no {name}, or names another issuer")

    def _reach(self, url: str) -> Egress:
        """A way to the origin of a URL. Raises NotJudged for one without TLS that is not the issuer's own."""
        origin = origin_of(url)
        if origin.scheme != "https" and str(origin) != self._origin:
            raise self._failed(f"{origin} speaks no TLS")
        # The operator named the issuer, who may be in a network of theirs; it is asked by its name and over TLS.
        private = ("loopback", "private") if str(origin) == self._origin else ()
        return Egress([str(origin)], private=private, limits=Limits(total_s=_TOTAL_S))

    async def _answer(self, request: Request) -> Document:
        origin = origin_of(request.url)
        egress = next(each for each in self._egress if each.destinations.permits(origin))
        try:
            response = await egress.send(request)
            told = cast("object", json_text.loads(response.content)) if response.status == 200 else None
        except (CallError, ValueError, RecursionError) as error:
            raise self._failed(str(error) if isinstance(error, CallError) else "its answer is no JSON") from None
        if not isinstance(told, Mapping):
            raise self._failed(f"{origin} answered {response.status}" + ("" if told is None else ", and no object"))
        return cast("Document", told)

    def _failed(self, why: str) -> NotJudged:
        """For whoever asks: later. For the operator's log: why."""
        _log.warning("the authorization server cannot be asked", issuer=self.issuer, why=why)
        return NotJudged("the authorization server cannot be asked about this token just now: ask again in 5 s")


def _get(url: str) -> Request:
    return Request("GET", url, headers=(("Accept", "application/json"),), body_bytes=_ANSWER_BYTES)


def issuer_origin(issuer: str) -> str:
    """The origin of an issuer, whose text is checked on the way. Raises UsageError."""
    try:
        origin, parts = origin_of(issuer), urlsplit(issuer)
    except (CallError, ValueError) as error:
        raise UsageError(f"`{issuer:.200}` is no URL of an authorization server: {error}") from None
    if origin.scheme != "https" and origin.host not in {"127.0.0.1", "::1", "localhost"}:
        raise UsageError(f"the authorization server {origin} speaks no TLS: give its https address")
    if parts.query or parts.fragment:
        raise UsageError(f"`{issuer:.200}` is no issuer: it has no query and no fragment (RFC 8414)")
    return str(origin)


def _metadata_urls(issuer: str) -> list[str]:
    """RFC 8414, section 3, then OpenID Connect Discovery: the same document, where either looks for it."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    paths = [f"/.well-known/oauth-authorization-server{path}", f"{path}/.well-known/openid-configuration"]
    return [urlunsplit((parts.scheme, parts.netloc, one, "", "")) for one in paths]


def _fields(told: object) -> Document:
    return cast("Document", told) if isinstance(told, Mapping) else {}


def _id(key: Document) -> str | None:
    named = key.get("kid")
    return named if isinstance(named, str) else None
