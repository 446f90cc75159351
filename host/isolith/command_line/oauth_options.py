"""The flags of `isolith serve` that name an authorization server in place of the journal's own tokens."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from isolith.errors import UsageError

if TYPE_CHECKING:
    from isolith.tokens.authorization_server import AuthorizationServer
    from isolith.tokens.oauth import OAuthVerifier

SECRET = "ISOLITH_OAUTH_SECRET"  # noqa: S105 - where it is, and not what it is
"""The environment variable with the secret of `--oauth-client`: a flag would show it to everybody on this machine."""

Issuer = Annotated[
    str | None,
    typer.Option(
        "--oauth-issuer", metavar="URL", help="Whose access tokens let in, in place of those of `isolith tokens`."
    ),
]
Resource = Annotated[
    str | None,
    typer.Option(
        "--oauth-resource", metavar="URL", help="This server's /mcp as clients see it, for which tokens are issued."
    ),
]
Client = Annotated[
    str | None,
    typer.Option(
        "--oauth-client",
        metavar="ID",
        help=f"As whom the issuer is asked about each token, with the secret in {SECRET}; without it they are JWTs.",
    ),
]


@dataclass(frozen=True)
class OAuthServer:
    """An authorization server, and how this server is known to it.

    `resource`: None for where it is served, which only this machine reaches.
    """

    issuer: str
    resource: str | None = None
    client: str | None = None


def oauth_server(
    issuer: str | None, resource: str | None, client: str | None, *, auth: bool, public: bool
) -> OAuthServer | None:
    """What the flags say; None where there are none. `public`: whether it is asked for by other names. UsageError."""
    if issuer is None:
        for flag, given in (("--oauth-resource", resource), ("--oauth-client", client)):
            if given is not None:
                raise UsageError(f"`{flag}` is about `--oauth-issuer`, which is not given")
        return None
    if not auth:
        raise UsageError("both `--no-auth` and `--oauth-issuer` are given: keep one")
    if resource is None and public:
        raise UsageError("name this server as clients see it: `--oauth-resource https://NAME/mcp`")
    if resource is not None and not _is_resource(resource):
        raise UsageError(f"`--oauth-resource` takes https://NAME/mcp, not `{resource:.200}`")
    if client is not None and not os.environ.get(SECRET):
        raise UsageError(f"`--oauth-client` wants its secret in the environment: {SECRET}")
    from isolith.tokens.authorization_server import issuer_origin  # noqa: PLC0415 - loads a client of HTTP

    issuer_origin(issuer)
    return OAuthServer(issuer, resource, client)


def verifier_of(server: OAuthServer, resource: str) -> tuple[OAuthVerifier, AuthorizationServer]:
    """What judges its tokens, and what is to be closed in the end. Raises UsageError for an issuer that is none."""
    from isolith.tokens.authorization_server import AuthorizationServer, Introspection  # noqa: PLC0415 - loads
    from isolith.tokens.oauth import OAuthVerifier  # noqa: PLC0415 - cryptography, which no other server needs
    from isolith_bindings.secrets import Secret  # noqa: PLC0415 - as above

    asked = None if server.client is None else Introspection(server.client, Secret.env(SECRET))
    known = AuthorizationServer(server.issuer)
    return OAuthVerifier(known, resource, asked), known


def _is_resource(text: str) -> bool:
    """RFC 9728, section 1.2: an https URL without a fragment; http on this machine, as the issuer may have."""
    parts = urlsplit(text)
    local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    plain = not (parts.fragment or parts.query or parts.username or parts.password)
    return plain and bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and local))
