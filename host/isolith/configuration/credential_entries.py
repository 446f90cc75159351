"""How a connector identifies itself, as a configuration file writes it. None of it shows in a repr or a message.

auth = "${GITHUB_TOKEN}"                                      what the document asks for, by one secret
auth = { file = "token.txt" }   { env = "NAME" }   { keyring = ["service", "user"] }
auth = { username = "me", password = "${PASSWORD}" }
auth = { header = "X-Api-Key", value = "${KEY}" }             or query, or cookie
auth = { client_id = "...", client_secret = "${SECRET}", token_url = "https://..." }
auth = { certificate = "client.pem", key = "client.key" }
auth_by_scheme = { oauth = "${TOKEN}", basic = {...} }         by the names of the document's security schemes
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from isolith.configuration.variables import Variables
    from isolith_bindings.openapi.credentials import Credential

_MODEL = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True)


class SecretPlace(BaseModel):
    """Where a secret is read, at each use: exactly one of the environment, a file and the keyring."""

    model_config = _MODEL

    env: str | None = None
    file: str | None = None
    """Its whole content, without the blanks around it."""
    keyring: tuple[str, str] | None = None
    """Service and user name."""

    @model_validator(mode="after")
    def _one(self) -> SecretPlace:
        if len(self.model_fields_set) != 1:
            raise ValueError("a secret is in one of `env`, `file` and `keyring`")
        return self


def _kind(value: object) -> str:
    """Which entry a value is meant to be, so that what is wrong with it is said of that one alone."""
    if not isinstance(value, Mapping):
        return _KINDS.get(type(value), "<text>")
    keys = set(cast("Mapping[str, object]", value))
    return next((kind for kind, mark in _MARKS.items() if mark & keys), "<place>")


_MARKS = {
    "<basic>": {"username"},
    "<key>": {"header", "query", "cookie", "value"},
    "<client>": {"client_id", "token_url", "refresh_token"},
    "<certificate>": {"certificate"},
}

SecretEntry = Annotated[Annotated[str, Tag("<text>")] | Annotated[SecretPlace, Tag("<place>")], Discriminator(_kind)]


class BasicEntry(BaseModel):
    """HTTP basic authentication."""

    model_config = _MODEL

    username: str = Field(repr=False)
    password: SecretEntry | None = Field(default=None, repr=False)


class KeyEntry(BaseModel):
    """A secret in a named place, whatever the document says."""

    model_config = _MODEL

    header: str | None = None
    query: str | None = None
    cookie: str | None = None
    value: SecretEntry = Field(repr=False)
    prefix: str = ""
    """What comes before it, such as `Token `."""

    @model_validator(mode="after")
    def _one(self) -> KeyEntry:
        if [self.header, self.query, self.cookie].count(None) != 2:
            raise ValueError("a key goes into one of `header`, `query` and `cookie`")
        return self


class OAuthClientEntry(BaseModel):
    """OAuth 2.0: client credentials, or a refresh token."""

    model_config = _MODEL

    client_id: str
    client_secret: SecretEntry | None = Field(default=None, repr=False)
    token_url: str | None = None
    refresh_token: SecretEntry | None = Field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    fields: Mapping[str, str] = Field(default_factory=dict[str, str], repr=False)
    """What else the token endpoint wants, such as `audience`."""
    client_in: Literal["basic", "body"] = "basic"


class CertificateEntry(BaseModel):
    """Mutual TLS: PEM files."""

    model_config = _MODEL

    certificate: str
    key: str | None = None
    password: SecretEntry | None = Field(default=None, repr=False)


CredentialEntry = Annotated[
    Annotated[str, Tag("<text>")]
    | Annotated[SecretPlace, Tag("<place>")]
    | Annotated[BasicEntry, Tag("<basic>")]
    | Annotated[KeyEntry, Tag("<key>")]
    | Annotated[OAuthClientEntry, Tag("<client>")]
    | Annotated[CertificateEntry, Tag("<certificate>")],
    Discriminator(_kind),
]
_KINDS: dict[type, str] = {
    SecretPlace: "<place>",
    BasicEntry: "<basic>",
    KeyEntry: "<key>",
    OAuthClientEntry: "<client>",
    CertificateEntry: "<certificate>",
}


def written_out(entry: CredentialEntry) -> bool:
    """Whether a secret stands in the file itself: no place of one, and no reference, is in what was written."""
    inner = (getattr(entry, name, None) for name in ("value", "password", "client_secret", "refresh_token"))
    return any(isinstance(secret, str) and "${" not in secret for secret in (entry, *inner))


def as_secret(entry: str | SecretPlace, variables: Variables) -> Secret:
    """A secret by its place, or from a text with references. Raises ConnectError for a reference to nothing."""
    if isinstance(entry, str):
        found = variables.credential(entry)
        return found if isinstance(found, Secret) else Secret.literal(found)
    if entry.env is not None:
        return Secret.env(entry.env)
    if entry.keyring is not None:
        return Secret.keyring(*entry.keyring)
    return Secret.file(variables.workspace / variables.text(entry.file or ""))


def as_credential(entry: CredentialEntry, variables: Variables) -> Credential:
    """What the connector takes. Raises ConnectError for a reference to nothing."""
    from isolith_bindings.openapi import credentials  # noqa: PLC0415 - slow to load

    def secret(value: str | SecretPlace | None) -> Secret | None:
        return None if value is None else as_secret(value, variables)

    match entry:
        case BasicEntry():
            return credentials.Basic(variables.text(entry.username), secret(entry.password))
        case KeyEntry():
            location: Literal["header", "query", "cookie"] = (
                "header" if entry.header else "query" if entry.query else "cookie"
            )
            name = entry.header or entry.query or entry.cookie or ""
            return credentials.ApiKey(name, as_secret(entry.value, variables), location, entry.prefix)
        case OAuthClientEntry():
            return credentials.OAuthClient(
                variables.text(entry.client_id),
                secret(entry.client_secret),
                None if entry.token_url is None else variables.text(entry.token_url),
                secret(entry.refresh_token),
                entry.scopes,
                tuple((name, variables.text(value)) for name, value in entry.fields.items()),
                entry.client_in,
            )
        case CertificateEntry():
            folder, key = variables.workspace, entry.key
            return credentials.ClientCertificate(
                folder / variables.text(entry.certificate),
                None if key is None else folder / variables.text(key),
                secret(entry.password),
            )
        case _:
            return as_secret(entry, variables)
