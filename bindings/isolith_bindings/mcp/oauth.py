"""OAuth for MCP servers: the flow is the SDK's, the tokens are kept in the host, and a person signs in when asked to.

Connecting in the background never opens a browser: a server that wants a person to sign in is shown as `needs_auth`,
and `McpServer.sign_in` does it.
"""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn, cast

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from isolith_bindings import json_text
from isolith_bindings.mcp.failures import StartFailed
from isolith_bindings.mcp.tokens import MemoryTokenStore, TokenStore
from isolith_bindings.secrets import Secret, remember

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from mcp.client.auth import AuthorizationCodeResult

    from isolith_bindings.mcp.descriptions import Credential

_UNTIL_REFUSED = frozenset({401, 403})
_EARLY_S = 10.0


@dataclass(frozen=True)
class OAuth:
    """How tokens for a server are obtained and kept.

    `client_id` and `client_secret`: those of a registered client; without them one is registered where the server takes
    that. `grant`: a person signs in, or the client has credentials of its own. `redirect_port`: where a browser comes
    back to on this machine. `issuer`: the one authorization server that the client's credentials are for.
    `client_metadata_url`: a document that describes the client, for servers that know it by that. `visit`: how a person
    who is there is shown where to sign in, at any time; without it, only `McpServer.sign_in` asks anyone to.
    """

    client_id: str | None = None
    client_secret: Credential | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    redirect_port: int = 33418
    issuer: str | None = None
    client_metadata_url: str | None = None
    visit: Callable[[str], Awaitable[None]] | None = field(default=None, repr=False, compare=False)
    store: TokenStore = field(default_factory=MemoryTokenStore, repr=False, compare=False)

    @property
    def redirect(self) -> str:
        """The URL that a browser comes back to."""
        return f"http://127.0.0.1:{self.redirect_port}/callback"


@dataclass(frozen=True)
class SignIn:
    """How a person signs in: shown a URL, and what their browser then brings back."""

    visit: Callable[[str], Awaitable[None]]
    returned: Callable[[], Awaitable[AuthorizationCodeResult]]


async def _refuse(_: str = "") -> NoReturn:
    raise StartFailed("it wants a person to sign in", needs_auth=True)


NOBODY = SignIn(_refuse, _refuse)
"""Nobody is there to sign in."""


async def authentication(url: str, oauth: OAuth, sign_in: SignIn = NOBODY) -> httpx2.Auth:
    """What adds the header to each request. Raises CallError for a secret that cannot be read."""
    secret = await oauth.client_secret.reveal() if isinstance(oauth.client_secret, Secret) else oauth.client_secret
    storage = _Storage(url, oauth)
    scope = " ".join(oauth.scopes) or None
    if oauth.grant == "client_credentials":
        with warnings.catch_warnings():
            # The issuer is optional here: whoever configures one server trusts where it leads.
            warnings.simplefilter("ignore")
            provider: OAuthClientProvider = ClientCredentialsOAuthProvider(
                url, storage, oauth.client_id or "", secret or "", scope=scope, issuer=oauth.issuer
            )
    else:
        metadata = OAuthClientMetadata(
            redirect_uris=[AnyUrl(oauth.redirect)],
            client_name="Isolith",
            scope=scope,
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="client_secret_basic" if secret else None,
        )
        if oauth.client_id is not None:
            storage.given = OAuthClientInformationFull(
                client_id=oauth.client_id, client_secret=secret, **metadata.model_dump(exclude_none=True)
            )
        provider = OAuthClientProvider(
            url, metadata, storage, sign_in.visit, sign_in.returned, client_metadata_url=oauth.client_metadata_url
        )
    storage.provider = provider
    return _Impatient(provider)


class _Impatient(httpx2.Auth):
    """The SDK's flow, entered only where it is needed: it lets one request through at a time until it is answered."""

    def __init__(self, provider: OAuthClientProvider) -> None:
        self._provider = provider

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self._provider.context
        if context.is_token_valid() and context.current_tokens is not None:
            request.headers["Authorization"] = f"Bearer {context.current_tokens.access_token}"
            response = yield request
            if response.status_code not in _UNTIL_REFUSED:
                return
            await response.aread()
        flow = self._provider.async_auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                answered = yield outgoing
                outgoing = await flow.asend(answered)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


class _Storage:
    """What the SDK keeps, and what it forgets to: when a token expires, and who renews it."""

    def __init__(self, url: str, oauth: OAuth) -> None:
        self._key = f"mcp {url}"
        self._store = oauth.store
        self.given: OAuthClientInformationFull | None = None
        self.provider: OAuthClientProvider | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The last tokens. Those that have expired are given as well: they can be renewed."""
        kept = await self._load()
        try:
            tokens = OAuthToken.model_validate(kept.get("tokens"))
            metadata = OAuthMetadata.model_validate(kept["metadata"]) if kept.get("metadata") else None
        except ValidationError:
            return None
        _conceal(tokens)
        expires_at = kept.get("expires_at")
        if self.provider is not None:
            self.provider.context.oauth_metadata = metadata
            self.provider.context.token_expiry_time = expires_at if isinstance(expires_at, float) else None
        return tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep new tokens."""
        _conceal(tokens)
        metadata = self.provider.context.oauth_metadata if self.provider is not None else None
        await self._save(
            tokens=tokens.model_dump(mode="json", exclude_none=True),
            expires_at=time.time() + tokens.expires_in - _EARLY_S if tokens.expires_in else None,
            metadata=metadata.model_dump(mode="json", exclude_none=True) if metadata is not None else None,
        )

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client that was given, or registered before."""
        if self.given is not None:
            return self.given
        try:
            return OAuthClientInformationFull.model_validate((await self._load()).get("client"))
        except ValidationError:
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client that was registered."""
        remember(client_info.client_secret or "")
        await self._save(client=client_info.model_dump(mode="json", exclude_none=True))

    async def _load(self) -> dict[str, object]:
        text = await self._store.load(self._key)
        try:
            found: object = json_text.loads(text or "{}")
        except (ValueError, RecursionError):
            return {}
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}

    async def _save(self, **parts: object) -> None:
        await self._store.save(self._key, json.dumps({**await self._load(), **parts}))


def _conceal(tokens: OAuthToken) -> None:
    remember(tokens.access_token)
    remember(tokens.refresh_token or "")
