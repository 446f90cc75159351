"""One connector of a configuration file: an MCP server or an OpenAPI document, and how it is to be treated."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - pydantic reads it

from pydantic import ConfigDict, Field, model_validator

from isolith.server_entries import OAuthEntry, Options, ServerEntry


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
    oauth: OAuthEntry | bool | None = None
    openapi: str | None = None
    """A document: a file, an address, or `package:NAME/PATH`."""
    disabled: bool = False

    @model_validator(mode="after")
    def _one_thing(self) -> ConnectorEntry:
        given = [name for name in ("command", "url", "openapi") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("it needs one of `command`, `url` and `openapi`")
        if self.openapi is None:
            self.as_server()
        return self

    def as_server(self) -> ServerEntry:
        """The same in the shape of `mcp.json`. Raises ValidationError."""
        names = ("command", "args", "env", "env_file", "cwd", "url", "type", "headers", "oauth", "disabled")
        entry = {name: getattr(self, name) for name in names if name in self.model_fields_set}
        options = {name: getattr(self, name) for name in Options.model_fields if name in self.model_fields_set}
        return ServerEntry.model_validate({**entry, "isolith": options})
