"""`isolith serve`: what is served, where, and for whom."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from isolith.code_mode import CodeMode
from isolith.command_line import command, oauth_options
from isolith.command_line.command import Configured, Connect, TypesOption, guarded
from isolith.command_line.kept_journal import journal_url, journalled, link_key
from isolith.command_line.kept_runs import origin_of
from isolith.command_line.oauth_options import OAuthServer, oauth_server
from isolith.errors import UsageError
from isolith.instructions import DEFAULT_TOKENS, Shown
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from isolith.command_line.terminal import Terminal

ON_STDIO = (
    "isolith: speaking MCP on stdin and stdout, until stdin ends: a client starts this by its own configuration,"
    ' {"mcpServers": {"isolith": {"command": "isolith", "args": ["serve", ...]}}}; `--http HOST:PORT` serves HTTP'
)
"""What a person is told who starts it by hand."""


@dataclass(frozen=True)
class Address:
    """Where HTTP is served, for whom, and how much of it.

    `hosts`: by which names it may be asked for, beyond those of this machine. `auth`: whether a token is asked for.
    `rate`: requests a second of one principal. `runs`: of one principal at a time. `grace_s`: how long runs may go on
    after a signal, before they are left to whoever has the journal next. `oauth`: whose tokens let in, where it is not
    the journal's.
    """

    host: str
    port: int
    hosts: tuple[str, ...] = ()
    auth: bool = True
    rate: float = 100.0
    runs: int = 64
    grace_s: float = 20.0
    oauth: OAuthServer | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine reaches it."""
        return _is_loopback(self.host)


def read_address(text: str, hosts: list[str]) -> Address:
    """HOST:PORT, `[::1]:8000` too. Raises UsageError, also for one that others reach and that nobody asked for."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"`--http` takes HOST:PORT, such as 127.0.0.1:8000, not `{text}`")
    address = Address(host, int(port), tuple(hosts))
    if not address.local and not hosts:
        raise UsageError(
            f"{host} is reached from other machines, and speaks HTTP without TLS: serve on 127.0.0.1, or put a proxy"
            " with TLS in front of it and name the host it is asked for with `--allow-host`"
        )
    return address


def entrance(http: str | None, hosts: list[str], *, stdio: bool, auth: bool) -> Address | None:
    """Where HTTP is served, None for stdio. Raises UsageError, also where other machines would be let in unasked."""
    if stdio and http:
        raise UsageError("both `--stdio` and `--http` are given: keep one")
    if not http:
        for flag, given in (("--allow-host", bool(hosts)), ("--no-auth", not auth)):
            if given:
                raise UsageError(f"`{flag}` is about `--http`, which is not given")
        return None
    address = replace(read_address(http, hosts), auth=auth)
    if not auth and (not address.local or hosts):
        raise UsageError(
            "`--no-auth` lets everybody in who reaches this server: it is for 127.0.0.1 alone, without `--allow-host`"
        )
    return address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_PolicyName = Annotated[
    str | None,
    typer.Option(metavar="trusted|careful|readonly|FILE", help=command.POLICY_HELP, show_default="careful"),
]
_SessionKey = Annotated[
    str | None, typer.Option(metavar="KEY", help="The `_meta` key of a request that names its session.")
]
_AskClient = Annotated[
    bool, typer.Option("--ask-client", help="Whoever answers at the client decides what waits, where it can ask.")
]
_Questions = Annotated[
    Literal["decline", "pause"] | None,
    typer.Option(
        "--questions",
        help="What a server asks a person during a call: declined, or the run waits; with `--ask-client` it waits, and"
        " the client is asked, unless this says otherwise.",
    ),
]
_CatalogTokens = Annotated[
    int,
    typer.Option(metavar="N", help="Tokens of all that `execute` says of itself and of the tools; 0: no tools."),
]


def _have_image(terminal: Terminal) -> None:
    """Before the limits are tripped: without an image none of them could fire. Raises ImageError."""
    with terminal.progress() as progress:
        get_supply(progress=lambda stage, done: progress.show(f"{stage} {done:.0%}"))


@guarded
@journalled
def serve(  # noqa: PLR0913 - one parameter a flag
    *,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Serve one client on stdin and stdout, as it does if not told otherwise.")
    ] = False,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP: /mcp and /v1.")] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask nobody for a token; on this machine only.")] = False,
    rate: Annotated[float, typer.Option(min=0.1, metavar="N", help="Requests a second of one principal.")] = 100.0,
    runs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of one principal at a time.")] = 64,
    grace: Annotated[
        float, typer.Option(min=0, max=3600, metavar="SECONDS", help="How long runs may go on after a signal.")
    ] = 20.0,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A host name HTTP is asked for by, beyond this machine's.")
    ] = None,
    oauth_issuer: oauth_options.Issuer = None,
    oauth_resource: oauth_options.Resource = None,
    oauth_client: oauth_options.Client = None,
    specs: Connect = None,
    configured: Configured = None,
    policy: _PolicyName = None,
    session_key: _SessionKey = None,
    ask_client: _AskClient = False,
    questions: _Questions = None,
    types: TypesOption = "auto",
    catalog_tokens: _CatalogTokens = DEFAULT_TOKENS,
    pinned: Annotated[list[str] | None, typer.Option("--pin", metavar="PATH", help="Show it before others.")] = None,
) -> None:
    """Serve what is connected to MCP clients: execute, search, describe, resume. Starts at the policy `careful`."""
    address = entrance(http, allow_host or [], stdio=stdio, auth=not no_auth)
    oauth = oauth_server(oauth_issuer, oauth_resource, oauth_client, auth=not no_auth, public=bool(allow_host))
    if address is not None:
        address = replace(address, rate=rate, runs=runs, grace_s=grace, oauth=oauth)
    elif oauth is not None:
        raise UsageError("`--oauth-issuer` is about `--http`, which is not given")
    pause = ask_client if questions is None else questions == "pause"
    shown = Shown(catalog_tokens, tuple(pinned or ()))
    config = command.read_configuration(configured)
    careful = policy or (None if config and config.config.policy else "careful")
    code_mode = CodeMode(
        command.connectors_of(specs, config),
        policy=command.policy_of(careful, config),
        ceilings=config.config.granted if config else None,
        journal=journal_url(),
        origin=origin_of(specs, configured, careful, pause=pause),
        link_key=link_key,
        types=types,
        reverts=config.config.reverts if config else None,
        questions="pause" if pause else None,
        warm=True,
    )
    from isolith.command_line.serving import serve_mcp  # noqa: PLC0415 - a second that no other command has to pay

    terminal = command.terminal()
    say = terminal.say
    _have_image(terminal)
    if address is None and terminal.err.is_terminal:
        say(ON_STDIO)
    if not asyncio.run(serve_mcp(code_mode, address, say, session_key=session_key, ask_client=ask_client, shown=shown)):
        raise typer.Exit(1)
