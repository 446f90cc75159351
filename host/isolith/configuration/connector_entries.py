"""One connector of a configuration file: an MCP server or an OpenAPI document, and how it is to be treated."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads it

from pydantic import ConfigDict, Field, StrictBool, field_validator, model_validator

from isolith.configuration.credential_entries import CredentialEntry
from isolith.configuration.server_entries import OAuthEntry, Options, ServerEntry
from isolith_bindings.addresses import without_scheme

_OF_DOCUMENTS = frozenset(
    {"server", "server_variables", "auth", "auth_by_scheme", "allow", "private", "strict_responses", "answer_bytes"}
)
_OF_SERVERS = frozenset({"args", "env", "env_file", "cwd", "type", "headers", "oauth", *Options.model_fields})


class ConnectorEntry(Options):
    """Exactly one of `command`, `url` and `openapi` says what it is. References, `${...}`, are not yet resolved."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    command: str | None = None
    """A program that speaks MCP on its standard streams."""
    args: tuple[str, ...] = Field(default=(), repr=False)
    env: Mapping[str, str | int | float | bool] = Field(default_factory=dict[str, str | int | float | bool], repr=False)
    """What is added to its environment."""
    env_file: str | None = None
    """A file of `NAME=value` lines, below `env`."""
    cwd: str | None = None
    """Where it runs; the folder of this file, unless given."""
    url: str | None = Field(default=None, repr=False)
    """An MCP server elsewhere."""
    type: str | None = None
    """`stdio`, `http` or `sse`, where it does not go without saying."""
    headers: Mapping[str, str] = Field(default_factory=dict[str, str], repr=False)
    """What goes with each request."""
    oauth: OAuthEntry | StrictBool | None = None
    openapi: str | None = None
    """A document: a file, an address, or `package:NAME/PATH`."""
    server: str | None = None
    """Where the API is, in place of every address in the document."""
    server_variables: Mapping[str, str] = Field(default_factory=dict[str, str])
    auth: CredentialEntry | None = Field(default=None, repr=False)
    """What the API is given, whichever security scheme asks for it."""
    auth_by_scheme: Mapping[str, CredentialEntry] = Field(default_factory=dict[str, CredentialEntry], repr=False)
    """What each security scheme of the document is given, by its name."""
    allow: tuple[str, ...] = ()
    """Hosts that it may reach beside those of the document."""
    private: tuple[str, ...] = ()
    """Networks that are not public and open to it all the same: `10.1.0.0/16`, `loopback`."""
    strict_responses: StrictBool = False
    """Whether an answer that is not what the document says is an error, in place of a warning."""
    answer_bytes: int = Field(default=256 << 20, ge=1 << 20, le=256 << 20)
    """How long an answer may be, in bytes after decoding. Beyond 32 MiB it is an artifact, in a file."""
    disabled: StrictBool = False

    @field_validator("server")
    @classmethod
    def _an_address(cls, server: str | None) -> str | None:
        """One with references is looked at when they are resolved."""
        mend = None if server is None or "${" in server else without_scheme(server)
        if mend:
            raise ValueError(f"is no address: write {mend}")
        return server

    @model_validator(mode="after")
    def _one_thing(self) -> ConnectorEntry:
        given = [name for name in ("command", "url", "openapi") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("it needs one of `command`, `url` and `openapi`")
        for name in sorted(self.model_fields_set & (_OF_SERVERS if self.openapi is not None else _OF_DOCUMENTS)):
            raise ValueError(f"`{name}` does not go with `{given[0]}`")
        if self.auth is not None and self.auth_by_scheme:
            raise ValueError("`auth` and `auth_by_scheme` are given: keep one")
        if self.openapi is None:
            self.as_server()
        return self

    def as_server(self) -> ServerEntry:
        """The same in the shape of `mcp.json`. Raises ValidationError."""
        names = ("command", "args", "env", "env_file", "cwd", "url", "type", "headers", "oauth", "disabled")
        entry = {name: getattr(self, name) for name in names if name in self.model_fields_set}
        options = {name: getattr(self, name) for name in Options.model_fields if name in self.model_fields_set}
        return ServerEntry.model_validate({**entry, "isolith": options})
