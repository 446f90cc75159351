"""What a person gives a connector to identify itself with. None of it is ever shown or reaches a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from isolith_bindings.secrets import MASK, Secret, SecretUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isolith_bindings.openapi.schemes import Kind, Scheme


@dataclass(frozen=True)
class Basic:
    """HTTP basic authentication (RFC 7617). Some APIs take a key as the name, and no password."""

    username: str | Secret
    password: Secret | None = None


@dataclass(frozen=True)
class ApiKey:
    """A secret in a named place, whatever the document says: `ApiKey("X-Api-Key", Secret.env("KEY"))`.

    `prefix` comes before it: `ApiKey("Authorization", secret, prefix="Token ")`.
    """

    name: str
    value: Secret
    location: Literal["header", "query", "cookie"] = "header"
    prefix: str = ""


@dataclass(frozen=True)
class OAuthClient:
    """OAuth 2.0 (RFC 6749): client credentials, or a refresh token where there is one. The token stays in memory.

    `token_url` is needed where the document names none, or names one on a host that the connector may not reach.
    `scopes`: where empty those of the operation, and of a refresh token all that it was granted. `fields`: more that
    the token endpoint wants, such as `audience`.
    `client_in`: whether the client identifies itself in a header (`basic`) or in the form (`body`).
    """

    client_id: str
    client_secret: Secret | None = None
    token_url: str | None = None
    refresh_token: Secret | None = None
    scopes: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    client_in: Literal["basic", "body"] = "basic"


@dataclass(frozen=True)
class ClientCertificate:
    """Mutual TLS: PEM files of the certificate and its key, which may be in one file. Read at the first call."""

    certificate: str | Path
    key: str | Path | None = None
    password: Secret | None = None


Credential = Secret | Basic | ApiKey | OAuthClient | ClientCertificate

_TOKEN = frozenset({Secret, OAuthClient})
_FITTING: Mapping[Kind, tuple[frozenset[type], str]] = {
    "apiKey": (frozenset({Secret}), "a Secret with the key"),
    "basic": (frozenset({Basic}), "Basic(username, password)"),
    "bearer": (_TOKEN, "a Secret with the token, or an OAuthClient"),
    "oauth2": (_TOKEN, "a Secret with an access token, or an OAuthClient"),
    "openIdConnect": (_TOKEN, "a Secret with an access token, or an OAuthClient with its token_url"),
    "mutualTLS": (frozenset({ClientCertificate}), "a ClientCertificate"),
    "unknown": (frozenset(), "an ApiKey that says where the secret goes"),
}


def fits(scheme: Scheme, credential: Credential) -> bool:
    """Whether a credential can do what a scheme asks for. An ApiKey fits anything that goes into the request."""
    if isinstance(credential, ApiKey):
        return scheme.kind != "mutualTLS"
    return type(credential) in _FITTING[scheme.kind][0]


def secrets_of(credential: Credential) -> tuple[Secret, ...]:
    """What has to be read for it."""
    match credential:
        case Secret():
            found: tuple[object, ...] = (credential,)
        case Basic():
            found = (credential.username, credential.password)
        case ApiKey():
            found = (credential.value,)
        case OAuthClient():
            found = (credential.client_secret, credential.refresh_token)
        case ClientCertificate():
            found = (credential.password,)
    return tuple(each for each in found if isinstance(each, Secret))


def masked(credential: Credential) -> str:
    """What is shown in its place. A token that a client fetches, and a name with a password, are no single secret."""
    secrets = secrets_of(credential)
    single = len(secrets) == 1 and not isinstance(credential, OAuthClient)
    return secrets[0].mask if single else MASK


def not_set(given: Iterable[Credential]) -> tuple[str, ...]:
    """Of each variable that a credential is read from and that is not set now, that it is not."""
    found: dict[str, None] = {}
    for secret in (secret for credential in given for secret in secrets_of(credential)):
        try:
            secret.require()
        except SecretUnavailable as error:
            found[error.message] = None
    return tuple(found)


def wanted(scheme: Scheme) -> str:
    """What has to be given for a scheme."""
    detail = f" ({scheme.detail} is not known here)" if scheme.detail and scheme.kind == "unknown" else ""
    return f"{_FITTING[scheme.kind][1]}{detail}"


def token_variable(name: str) -> str:
    """The environment variable with the secret of a connector that has no configuration: a document by its path."""
    return f"ISOLITH_TOKEN_{name.upper()}"


def token_urls(given: Credential | Mapping[str, Credential] | None) -> list[str]:
    """The token endpoints that a person wrote into credentials: the connector has to reach them."""
    listed = given.values() if isinstance(given, Mapping) else [given]
    return [each.token_url for each in listed if isinstance(each, OAuthClient) and each.token_url]
