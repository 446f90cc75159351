"""Credentials onto a request: the alternative that can be satisfied, each secret in its place, or no request at all."""

from __future__ import annotations

import ipaddress
import ssl
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_plus, urljoin

from isolith_bindings.egress import Attachment, Origin, origin_of, trust
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.credentials import ApiKey, Basic, ClientCertificate, OAuthClient, masked, secrets_of
from isolith_bindings.openapi.oauth import Tokens, basic
from isolith_bindings.openapi.requirements import Use, Wallet, alternatives
from isolith_bindings.secrets import Secret, SecretUnavailable

if TYPE_CHECKING:
    from isolith_bindings.egress import Destinations, Egress
    from isolith_bindings.openapi.plan import RequestPlan
    from isolith_bindings.openapi.schemes import Scheme


@dataclass(frozen=True)
class Auth:
    """The credentials of one connector and where they may go.

    `origins`: where they are sent, and nowhere else, however many hosts the connector may reach. Over plain http they
    go to this machine only, unless `cleartext` says that the way to the server is trusted.
    """

    wallet: Wallet
    origins: Destinations
    tokens: Tokens
    cleartext: bool = False
    _contexts: dict[ClientCertificate, ssl.SSLContext] = field(default_factory=dict[ClientCertificate, ssl.SSLContext])

    @classmethod
    def over(cls, egress: Egress, wallet: Wallet, origins: Destinations, *, cleartext: bool = False) -> Auth:
        """Tokens are fetched through `egress`, which has to allow their endpoint."""
        return cls(wallet, origins, Tokens(egress), cleartext)

    async def attach(self, plan: RequestPlan, *, refused: Attachment | None = None) -> Attachment:
        """What to send along. Raises CallError where no alternative can be satisfied; then nothing must be sent.

        `refused`: what the server answered 401 to; tokens in it are renewed.
        """
        problem: SecretUnavailable | None = None
        for uses in alternatives(plan, self.wallet):
            if not uses and problem is not None:
                break  # a credential that was given and cannot be read does not make the call anonymous
            self._check_origin(plan, uses)
            try:
                return _merged(plan, [await self._carry(plan, use, refused) for use in uses])
            except SecretUnavailable as error:
                problem = problem or error
        raise problem or CallError("internal", "no alternative of the security requirements was tried")

    def masked(self, plan: RequestPlan) -> Attachment:
        """What `attach` would send along, each secret masked; nothing is read or fetched. Raises CallError."""
        uses = alternatives(plan, self.wallet)[0]
        self._check_origin(plan, uses)
        return _merged(plan, [_placed(use, masked(use.credential), shown=True) for use in uses])

    def require(self, plan: RequestPlan) -> None:
        """Raises CallError as `attach` would later, where that is known before any credential is read."""
        problem: SecretUnavailable | None = None
        for uses in alternatives(plan, self.wallet):
            if not uses and problem is not None:
                break
            self._check_origin(plan, uses)
            try:
                for secret in (secret for use in uses for secret in secrets_of(use.credential)):
                    secret.require()
            except SecretUnavailable as error:
                problem = problem or error
            else:
                return
        if problem is not None:
            raise problem

    def certifies(self, plan: RequestPlan) -> bool:
        """Whether the client shows a certificate of its own. Raises CallError as `masked` does."""
        return any(isinstance(use.credential, ClientCertificate) for use in alternatives(plan, self.wallet)[0])

    def _check_origin(self, plan: RequestPlan, uses: tuple[Use, ...]) -> None:
        origin = origin_of(plan.url)
        if not uses:
            return
        if not self.origins.permits(origin):
            raise CallError(
                "denied",
                f"{plan.told} was not sent: the connector's credentials are not for {origin}",
                hint="add that host to the connector's own hosts if its credentials belong there",
            )
        if origin.scheme == "http" and not self.cleartext and not _this_machine(origin):
            raise CallError(
                "denied", f"{plan.told} was not sent: {origin} is not encrypted, and a credential belongs to it"
            )

    async def _carry(self, plan: RequestPlan, use: Use, refused: Attachment | None) -> Attachment:
        credential = use.credential
        if isinstance(credential, ClientCertificate):
            return Attachment(tls=await self._context(credential))
        if isinstance(credential, Basic):
            name = credential.username
            username = await name.reveal() if isinstance(name, Secret) else name
            password = await credential.password.reveal() if credential.password else ""
            placed = _placed(use, basic(username, password))
            # A name that is no secret comes back in ordinary answers.
            hidden = (username, password) if isinstance(name, Secret) else (password,)
            return replace(placed, secrets=(*placed.secrets, *hidden))
        if isinstance(credential, OAuthClient):
            spent = "" if refused is None else dict(refused.headers).get("Authorization", "").removeprefix("Bearer ")
            return _placed(
                use, await self.tokens.get(credential, _absolute(use.scheme, plan.server), use.scopes, refused=spent)
            )
        return _placed(use, await (credential.value if isinstance(credential, ApiKey) else credential).reveal())

    async def _context(self, credential: ClientCertificate) -> ssl.SSLContext:
        if credential not in self._contexts:
            password = await credential.password.reveal() if credential.password else None
            # A callable that answers nothing keeps OpenSSL from asking at the terminal.
            context = trust()
            try:
                context.load_cert_chain(credential.certificate, credential.key, password or str)
            except (OSError, ssl.SSLError, ValueError) as error:
                why = type(error).__name__ if isinstance(error, ssl.SSLError) else str(error.args[-1])
                raise SecretUnavailable(
                    f"the client certificate {credential.certificate} cannot be used: {why}"
                ) from None
            self._contexts[credential] = context
        return self._contexts[credential]


def _absolute(scheme: Scheme, server: str) -> Scheme:
    """Its URLs, which a document may give relative to the server of the API (OpenAPI 3.1, 4.8.30)."""
    token, refresh = (url and urljoin(f"{server}/", url) for url in (scheme.token_url, scheme.refresh_url))
    return replace(scheme, token_url=token, refresh_url=refresh)


def _placed(use: Use, value: str, *, shown: bool = False) -> Attachment:
    """One secret where it goes; `shown`: what stands for it, for people."""
    credential, scheme = use.credential, use.scheme
    if isinstance(credential, ClientCertificate):
        return Attachment()
    if isinstance(credential, ApiKey):
        placed = _keyed(credential.location, credential.name, credential.prefix + value, shown=shown)
    elif scheme.kind == "apiKey":
        placed = _keyed(scheme.location, scheme.parameter, value, shown=shown)
    else:
        placed = _keyed("header", "Authorization", f"{'Basic' if isinstance(credential, Basic) else 'Bearer'} {value}")
    return replace(placed, secrets=(value,))


def _keyed(location: str, name: str, value: str, *, shown: bool = False) -> Attachment:
    if location == "query":
        return Attachment(query=((quote(name, safe=""), value if shown else quote(value, safe="")),))
    return Attachment(cookies=((name, value),)) if location == "cookie" else Attachment(headers=((name, value),))


def _merged(plan: RequestPlan, parts: list[Attachment]) -> Attachment:
    """All in one. Raises CallError where two want one place, or an argument of the script already takes it."""
    whole = Attachment(
        headers=tuple(pair for part in parts for pair in part.headers),
        query=tuple(pair for part in parts for pair in part.query),
        cookies=tuple(pair for part in parts for pair in part.cookies),
        tls=next((part.tls for part in parts if part.tls), None),
        secrets=tuple(value for part in parts for value in part.secrets),
    )
    places = Counter(_places(whole))
    twice = [place for place, count in places.items() if count > 1]
    if twice:
        raise CallError("tool_unavailable", f"{plan.told} was not sent: two credentials want the {' '.join(twice[0])}")
    given = _places(Attachment(plan.headers, tuple((name, value or "") for name, value in plan.query), plan.cookies))
    for place in given:
        if place in places:
            text = f"the {' '.join(place)} carries the connector's own credential; leave that argument out"
            raise CallError("invalid_arguments", text)
    return whole


def _places(attachment: Attachment) -> list[tuple[str, str]]:
    return [
        *(("header", name.lower()) for name, _ in attachment.headers),
        *(("query parameter", unquote_plus(name)) for name, _ in attachment.query),
        *(("cookie", name) for name, _ in attachment.cookies),
    ]


def _this_machine(origin: Origin) -> bool:
    try:
        return ipaddress.ip_address(origin.host).is_loopback
    except ValueError:
        return origin.host == "localhost" or origin.host.endswith(".localhost")
