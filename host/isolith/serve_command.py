"""`isolith serve`: the MCP server on stdio or HTTP, after every limit has been seen to fire."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
import uvicorn
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from isolith import command
from isolith.code_mode import CodeMode
from isolith.command import Configured, Connect, guarded
from isolith.errors import UsageError
from isolith.executions_command import journal_url, origin_of
from isolith.mcp_server import mcp_server
from isolith.self_test import trip_limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import Server

    from isolith.outcome import Outcome

PATH = "/mcp"
_GRACE_S = 5
"""Seconds that requests get to end after the first signal."""
_BACKLOG = 128


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

    def security(self) -> TransportSecuritySettings:
        """Which Host and Origin headers are answered: those of this machine, and `hosts`."""
        names = [
            "127.0.0.1:*",
            "localhost:*",
            "[::1]:*",
            *(form for name in self.hosts for form in (name, f"{name}:*")),
        ]
        origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
        return TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)


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
def serve(  # noqa: PLR0913 - one parameter a flag
    *,
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve one client on stdin and stdout. [default]")] = False,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help=f"Serve HTTP, at {PATH}.")] = None,
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
) -> None:
    """Serve what is connected to MCP clients: execute, search, describe, resume. Starts at the policy `careful`."""
    if stdio and http:
        raise UsageError("both `--stdio` and `--http` are given: keep one")
    if allow_host and not http:
        raise UsageError("`--allow-host` is about `--http`, which is not given")
    address = read_address(http, allow_host or []) if http else None
    config = command.read_configuration(configured)
    careful = policy or (None if config and config.config.policy else "careful")
    code_mode = CodeMode(
        command.connectors_of(specs, config),
        policy=command.policy_of(careful, config),
        ceilings=config.config.granted if config else None,
        journal=journal_url(),
        origin=origin_of(specs, configured, careful),
    )
    if not asyncio.run(_serve(code_mode, address, session_key)):
        raise typer.Exit(1)


async def _serve(code_mode: CodeMode, address: Address | None, session_key: str | None) -> bool:
    """Serve until the client goes or a signal comes. Whether it could be served."""
    say = command.terminal().say
    with redirect_stdout(sys.stderr):
        failed = [finding for finding in await trip_limits() if not finding.ok]
    for finding in failed:
        say(f"isolith: {finding.name}: {finding.detail}. {finding.mend}")
    if failed:
        say("isolith: nothing is served: a limit that does not fire protects nobody")
        return False
    async with code_mode:
        server = mcp_server(code_mode, session_key=session_key, paused=lambda outcome: _say_pending(outcome, say))
        if address is None:
            await _on_stdio(server)
        else:
            await _on_http(server, address, say)
    return True


async def _on_stdio(server: Server) -> None:
    # The SDK takes the streams for itself first; what a connector prints goes to stderr.
    async with stdio_server() as (read, write):
        with redirect_stdout(sys.stderr):
            await server.run(read, write, server.create_initialization_options())


async def _on_http(server: Server, address: Address, say: Callable[[str], None]) -> None:
    listening = _listen(address)
    host, port = listening.getsockname()[:2]
    app = server.streamable_http_app(
        streamable_http_path=PATH, host=address.host, transport_security=address.security()
    )
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_GRACE_S, server_header=False)
    say(f"isolith: serving http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
    with redirect_stdout(sys.stderr):
        await uvicorn.Server(config).serve(sockets=[listening])


def _listen(address: Address) -> socket.socket:
    """A socket at the address; port 0 is one that is free. Raises UsageError where that cannot be."""
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(where)
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise UsageError(f"cannot listen on {address.host}:{address.port}: {error.strerror or error}") from error
    return listening


def _say_pending(outcome: Outcome, say: Callable[[str], None]) -> None:
    for call in outcome.pending:
        number = call.call_id.rpartition(".")[2]
        say(
            f"isolith: {call.connector}.{call.method} waits: isolith executions approve {outcome.execution_id} {number}"
        )
