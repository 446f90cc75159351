"""`isolith serve`: what is served, where, and for whom."""

from __future__ import annotations

import asyncio
import ipaddress
from dataclasses import dataclass
from typing import Annotated

import typer

from isolith import command
from isolith.code_mode import CodeMode
from isolith.command import Configured, Connect, TypesOption, guarded
from isolith.errors import UsageError
from isolith.instructions import DEFAULT_TOKENS, Shown
from isolith.kept_runs import journal_url, journalled, link_key, origin_of


@dataclass(frozen=True)
class Address:
    """Where HTTP is served. `hosts`: by which names it may be asked for, beyond those of this machine."""

    host: str
    port: int
    hosts: tuple[str, ...] = ()

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
            f"{host} is reached from other machines, and this server asks nobody who they are: serve on 127.0.0.1, or"
            " put a proxy that does in front of it and name the host it is asked for with `--allow-host`"
        )
    return address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@guarded
@journalled
def serve(  # noqa: PLR0913 - one parameter a flag
    *,
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve one client on stdin and stdout. [default]")] = False,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve HTTP, at /mcp.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A host name HTTP is asked for by, beyond this machine's.")
    ] = None,
    specs: Connect = None,
    configured: Configured = None,
    policy: Annotated[
        str | None,
        typer.Option(metavar="trusted|careful|readonly|FILE", help="What is allowed, asked and denied. [careful]"),
    ] = None,
    session_key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The `_meta` key of a request that names its session.")
    ] = None,
    ask_client: Annotated[
        bool, typer.Option("--ask-client", help="Whoever answers at the client decides what waits, where it can ask.")
    ] = False,
    types: TypesOption = "auto",
    catalog_tokens: Annotated[
        int,
        typer.Option(metavar="N", help="Tokens of all that `execute` says of itself and of the tools; 0: no tools."),
    ] = DEFAULT_TOKENS,
    pinned: Annotated[list[str] | None, typer.Option("--pin", metavar="PATH", help="Show it before others.")] = None,
) -> None:
    """Serve what is connected to MCP clients: execute, search, describe, resume. Starts at the policy `careful`."""
    if stdio and http:
        raise UsageError("both `--stdio` and `--http` are given: keep one")
    if allow_host and not http:
        raise UsageError("`--allow-host` is about `--http`, which is not given")
    address = read_address(http, allow_host or []) if http else None
    shown = Shown(catalog_tokens, tuple(pinned or ()))
    config = command.read_configuration(configured)
    careful = policy or (None if config and config.config.policy else "careful")
    code_mode = CodeMode(
        command.connectors_of(specs, config),
        policy=command.policy_of(careful, config),
        ceilings=config.config.granted if config else None,
        journal=journal_url(),
        origin=origin_of(specs, configured, careful),
        link_key=link_key,
        types=types,
        reverts=config.config.reverts if config else None,
    )
    from isolith.serving import serve_mcp  # noqa: PLC0415 - a second that no other command has to pay

    say = command.terminal().say
    if not asyncio.run(serve_mcp(code_mode, address, say, session_key=session_key, ask_client=ask_client, shown=shown)):
        raise typer.Exit(1)
