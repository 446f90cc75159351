"""MCP servers as configuration files write them: the shapes of Claude, Cursor and VS Code as they are.

    {"mcpServers": {"docs": {"command": "npx", "args": [...], "env": {...}}}}             Claude, Cursor
    {"servers": {"docs": {"type": "http", "url": "...", "headers": {...}}}, "inputs": []}   VS Code
    {"mcp": {"servers": {...}}}                                                            VS Code, in its settings

What only Isolith knows may stand beside it under `isolith`, where the others do not look: `{"trusted": true}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StrictBool, ValidationError, model_validator

from isolith.configuration.documents import explain
from isolith.configuration.variables import Input
from isolith.errors import ConnectError
from isolith_bindings.names import did_you_mean

Scope = Literal["shared", "principal", "session", "execution", "call"]

_WAYS = frozenset({"command", "url", "serverUrl", "httpUrl"})
_SANDBOX = frozenset({"sandbox", "sandboxEnabled"})


class Options(BaseModel):
    """What Isolith has to be told of a server."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    trusted: StrictBool = False
    """Whether what the server says of its tools (read-only, destructive, ...) is believed."""
    scope: Scope = "shared"
    """Who shares one running server: everyone, a principal, a session, an execution, or nobody."""
    exclusive: StrictBool = False
    """One call at a time in each running server."""
    least: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many keep running while nobody uses them."""
    most: Annotated[int, Field(ge=1, le=1000)] = 8
    """How many run at a time; beyond it calls wait in order."""
    idle_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 900.0
    """Seconds without a call until a running server is stopped."""
    start_s: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 30.0
    """Seconds until a server must have answered as one."""
    identify: StrictBool = False
    """Tell the server for whom a call is made, by names that mean nothing to others."""
    roots: tuple[str, ...] = ()
    """Folders that it is told it may look at, from where the file is, or `file://` addresses; none unless given."""


class OAuthEntry(BaseModel):
    """How tokens are obtained from an authorization server; Cursor writes its keys in capitals."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    client_id: str | None = Field(
        default=None, validation_alias=AliasChoices("client_id", "clientId", "CLIENT_ID"), repr=False
    )
    client_secret: str | None = Field(
        default=None, validation_alias=AliasChoices("client_secret", "clientSecret", "CLIENT_SECRET"), repr=False
    )
    scopes: tuple[str, ...] = ()
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    """Whether a person signs in, or the client has credentials of its own."""
    redirect_port: Annotated[
        int, Field(ge=1, le=65535, validation_alias=AliasChoices("redirect_port", "callbackPort"))
    ] = 33418
    """Where a browser comes back to on this machine."""
    issuer: str | None = None
    """The one authorization server that the client's credentials are for."""

    @model_validator(mode="before")
    @classmethod
    def _scopes_in_one_text(cls, data: object) -> object:
        entry = table(data)
        scopes = entry.get("scopes")
        return {**entry, "scopes": scopes.split()} if isinstance(scopes, str) else data


class ServerEntry(BaseModel):
    """One server: a `command` that speaks MCP on its standard streams, or a `url`. References are not yet resolved.

    What other programs write here for themselves is left alone.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, populate_by_name=True)

    type: str | None = Field(default=None, validation_alias=AliasChoices("type", "transport"))
    command: str | None = None
    args: Annotated[tuple[str, ...], Field(repr=False)] = ()
    env: Mapping[str, str | int | float | bool | None] = Field(
        default_factory=dict[str, str | int | float | bool | None], repr=False
    )
    env_file: Annotated[str | None, Field(validation_alias=AliasChoices("envFile", "env_file"))] = None
    cwd: str | None = None
    url: Annotated[str | None, Field(validation_alias=AliasChoices("url", "serverUrl", "httpUrl"), repr=False)] = None
    headers: Mapping[str, str] = Field(default_factory=dict[str, str], repr=False)
    oauth: Annotated[OAuthEntry | bool | None, Field(validation_alias=AliasChoices("oauth", "auth"))] = None
    disabled: bool = False
    enabled: bool = True
    isolith: Options = Options()
    unsandboxed: bool = False
    """It is to run in an editor's sandbox, which is not there."""

    @model_validator(mode="before")
    @classmethod
    def _note_sandbox(cls, data: object) -> object:
        entry = table(data)
        if entry and not _WAYS & entry.keys():
            odd = (f"; `{key}`: {close}" for key in entry if (close := did_you_mean(key, sorted(_WAYS))))
            raise ValueError(f"it needs a `command` or a `url`{next(odd, '')}")
        return {**entry, "unsandboxed": any(entry.get(key) for key in _SANDBOX)} if entry else data

    @model_validator(mode="after")
    def _one_way(self) -> ServerEntry:
        if (self.command is None) == (self.url is None):
            raise ValueError("it needs a `command` or a `url`, and not both")
        if self.kind not in {"stdio", "http", "sse"}:
            raise ValueError(f"there is no transport `{self.type}`: write `stdio`, `http` or `sse`")
        if (self.kind == "stdio") != (self.command is not None):
            raise ValueError(f"`{self.type}` does not go with a `{'url' if self.command is None else 'command'}`")
        return self

    @property
    def kind(self) -> str:
        """`stdio`, `http` or `sse`, or what was written instead."""
        if self.type is None:
            return "stdio" if self.command is not None else "http"
        plain = self.type.casefold().replace("-", "").replace("_", "")
        return {"streamablehttp": "http", "remote": "http", "local": "stdio"}.get(plain, plain)

    @property
    def used(self) -> bool:
        """Whether it is not switched off."""
        return self.enabled and not self.disabled


def table(value: object) -> Mapping[str, object]:
    """A mapping of a document; empty for what is none."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def servers_in(document: Mapping[str, object]) -> Mapping[str, object] | None:
    """The servers that a document holds, by name, in any of the shapes; None where it has none of them."""
    for holder in (document, table(document.get("mcp"))):
        for key in ("mcpServers", "servers"):
            if isinstance(holder.get(key), Mapping):
                return table(holder[key])
    return None


def inputs_in(document: Mapping[str, object], where: str) -> dict[str, Input]:
    """What a VS Code document asks of a person, by id. Raises ConnectError."""
    asked = document.get("inputs", table(document.get("mcp")).get("inputs", []))
    if not isinstance(asked, list):
        raise ConnectError(f"{where}: `inputs` has to be a list")
    try:
        inputs = [Input.model_validate(item) for item in cast("list[object]", asked)]
    except ValidationError as error:
        raise ConnectError(f"{where}: in `inputs`, {explain(error)}") from None
    return {found.id: found for found in inputs}


def read_entry(name: str, entry: object, where: str) -> ServerEntry:
    """One server of a document. Raises ConnectError, which shows none of its values."""
    try:
        return ServerEntry.model_validate(entry)
    except ValidationError as error:
        raise ConnectError(f"{where}: the server `{name}`: {explain(error, ServerEntry)}") from None
