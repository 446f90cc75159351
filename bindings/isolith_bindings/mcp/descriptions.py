"""Where an MCP server is and how it is reached. Loads no SDK, starts nothing, and shows no credential in a repr."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from isolith_bindings.errors import BindError
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.mcp.oauth import OAuth

Credential = str | Secret
"""A text, or where to read one; a text is masked in every message too."""


@dataclass(frozen=True)
class StdioServer:
    """A program that speaks MCP on its standard streams.

    It inherits HOME, LOGNAME, PATH, SHELL, TERM and USER and nothing else; `env` is added. `cwd`: where it runs. The
    shell that begins it may add where that is (PWD), and its own depth (SHLVL).
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, Credential] = field(default_factory=dict[str, Credential], repr=False)
    cwd: str | None = None

    @property
    def place(self) -> str:
        """For people and scripts: the name of the program. Its arguments may hold a credential and are left out."""
        return f"`{PurePath(self.command).name}`"


@dataclass(frozen=True)
class HttpServer:
    """An MCP server behind a URL, over streamable HTTP. Raises BindError for what is no HTTP URL.

    `headers` go with every request, `bearer` as `Authorization: Bearer ...`; `oauth` obtains that header itself.
    """

    url: str = field(repr=False)
    headers: Mapping[str, Credential] = field(default_factory=dict[str, Credential], repr=False)
    bearer: Credential | None = field(default=None, repr=False)
    oauth: OAuth | None = None

    def __post_init__(self) -> None:
        if urlsplit(self.url).scheme not in {"http", "https"} or not urlsplit(self.url).hostname:
            raise BindError(f"{self.place} is no URL of an MCP server: write it as https://host/path")
        if self.oauth is not None and self.bearer is not None:
            raise BindError(f"{self.place} is given both a bearer token and OAuth: choose one")

    @property
    def place(self) -> str:
        """For people: the URL without user, query and fragment, which may hold a credential."""
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
        return f"{parts.scheme}://{host}{port}{parts.path}"


@dataclass(frozen=True)
class SseServer(HttpServer):
    """An MCP server over the older transport, HTTP with server-sent events."""


Server = StdioServer | HttpServer
"""How a server is reached."""
