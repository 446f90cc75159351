"""Access tokens by OAuth 2.0 (RFC 6749): asked for when needed, kept in memory, renewed before their end or on 401."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import quote_plus, urlencode

from isolith_bindings import json_text
from isolith_bindings.egress import Attachment, Request, origin_of
from isolith_bindings.errors import CallError
from isolith_bindings.secrets import redact, remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.egress import Egress, Response
    from isolith_bindings.openapi.credentials import OAuthClient
    from isolith_bindings.openapi.schemes import Scheme

# A token is renewed that long before its end: the request has to arrive with it.
SKEW_S = 30.0
MOST_TOKENS = 256
_ANSWER_BYTES = 256 << 10


@dataclass(frozen=True)
class _Token:
    text: str
    ends_at: float | None

    def __repr__(self) -> str:
        return "_Token()"


class Tokens:
    """The tokens of one connector, by client, endpoint and scopes. One request at a time for each."""

    def __init__(self, egress: Egress, clock: Callable[[], float] = time.monotonic) -> None:
        self._egress = egress
        self._clock = clock
        self._kept: dict[object, _Token] = {}
        self._locks: dict[object, asyncio.Lock] = {}
        self._rotated: dict[OAuthClient, str] = {}

    async def get(self, client: OAuthClient, scheme: Scheme, scopes: tuple[str, ...], *, refused: str = "") -> str:
        """A token that is not `refused`, which is what the server answered 401 to. Raises CallError."""
        url = client.token_url or (client.refresh_token and scheme.refresh_url) or scheme.token_url
        if not url:
            raise CallError("tool_unavailable", f"{scheme.name}: OAuthClient needs a token_url, the document has none")
        # A refresh token has the scopes that it was given. To ask for fewer may cost the others for good: some servers
        # give the next one no more than that, or end the access tokens that there are.
        wanted = client.scopes or (scopes if client.refresh_token is None else ())
        key = (client, url, wanted)
        async with self._locks.setdefault(key, asyncio.Lock()):
            token = self._kept.get(key)
            if token is None or token.text == refused or self._over(token):
                self._kept.pop(key, None)
                token = await self._ask(client, url, wanted)
                self._keep(key, token)
            return token.text

    def _over(self, token: _Token) -> bool:
        return token.ends_at is not None and self._clock() >= token.ends_at - SKEW_S

    def _keep(self, key: object, token: _Token) -> None:
        self._kept[key] = token
        while len(self._kept) > MOST_TOKENS:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._locks.pop(oldest, None)

    async def _ask(self, client: OAuthClient, url: str, scopes: tuple[str, ...]) -> _Token:
        # A refresh token that rotates is spent by its use: that request must not be sent twice.
        request = await self._request(client, url, scopes)
        asked_at = self._clock()
        told = _answer(url, await self._egress.send(request))
        text = told.get("access_token")
        if not isinstance(text, str) or not text or not text.isprintable():
            raise _refused(url, "its answer holds no access_token")
        remember(text)
        if str(told.get("token_type", "bearer")).lower() != "bearer":
            raise _refused(url, "its token is of a type other than bearer")
        refresh = told.get("refresh_token")
        if client.refresh_token is not None and isinstance(refresh, str) and refresh:
            remember(refresh)
            self._rotated[client] = refresh
        lasts_s = _seconds(told.get("expires_in"))
        return _Token(text, None if lasts_s is None else asked_at + lasts_s)

    async def _request(self, client: OAuthClient, url: str, scopes: tuple[str, ...]) -> Request:
        secret = None if client.client_secret is None else await client.client_secret.reveal()
        form = [("grant_type", "client_credentials")]
        if client.refresh_token is not None:
            token = self._rotated.get(client) or await client.refresh_token.reveal()
            form = [("grant_type", "refresh_token"), ("refresh_token", token)]
        if scopes:
            form.append(("scope", " ".join(scopes)))
        attachment = Attachment()
        if secret is None or client.client_in == "body":
            form += [("client_id", client.client_id), *([] if secret is None else [("client_secret", secret)])]
        else:
            told = basic(quote_plus(client.client_id), quote_plus(secret))
            attachment = Attachment(headers=(("Authorization", f"Basic {told}"),))
        return Request(
            "POST",
            url,
            headers=(("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")),
            content=urlencode([*form, *client.fields]).encode(),
            attachment=attachment,
            idempotent=client.refresh_token is None,
            body_bytes=_ANSWER_BYTES,
        )


def basic(username: str, password: str) -> str:
    """What follows `Basic` in an Authorization header (RFC 7617), known to `redact` as a whole."""
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    remember(encoded)
    return encoded


def _seconds(lasts: object) -> float | None:
    """How long a token lasts; some servers say it as a text (Azure's first version)."""
    if isinstance(lasts, str) and lasts.isascii() and lasts.isdigit() and len(lasts) <= 12:
        lasts = int(lasts)
    if isinstance(lasts, bool) or not isinstance(lasts, (int, float)):
        return None
    return float(lasts) if 0 < lasts < 1e9 else None


def _answer(url: str, response: Response) -> Mapping[str, object]:
    try:
        told = cast("object", json_text.loads(response.content))
    except (ValueError, RecursionError):
        told = None
    fields: Mapping[str, object] = cast("Mapping[str, object]", told) if isinstance(told, Mapping) else {}
    if response.status != 200:
        # RFC 6749, 5.2: a code of a closed list. The description is free text of a stranger: left out.
        code = fields.get("error")
        raise _refused(
            url, f"it answered {response.status}" + (f" {redact(code)[:60]}" if isinstance(code, str) else "")
        )
    return fields


def _refused(url: str, why: str) -> CallError:
    text = f"no access token from {origin_of(url)}: {why}"
    return CallError("tool_unavailable", text, hint="the call was not sent; check the OAuth client of the connector")
