"""Sockets: a name is resolved once, each of its addresses is checked, and the connection goes to a checked one.

The HTTP library is handed a connected socket. It never resolves, so a name whose address changes between the check and
the connection (DNS rebinding) has nothing to change; TLS still asks for the name.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

import httpcore2

from isolith_bindings.egress.messages import Refused
from isolith_bindings.secrets import RedactingFilter

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Sequence

    from isolith_bindings.egress.messages import Limits
    from isolith_bindings.egress.rules import Destinations

# What the library writes at DEBUG holds header fields of answers.
for _name in ("connection", "http11", "http2", "proxy", "socks"):
    logging.getLogger(f"httpcore2.{_name}").addFilter(RedactingFilter())


class Resolver(Protocol):
    """From a host name to its addresses as text, best first. Raises OSError."""

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The addresses of `host`."""
        ...


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """What the operating system answers."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """Connects where `destinations` has nothing against the address."""

    def __init__(self, destinations: Destinations, resolver: Resolver) -> None:
        self._destinations = destinations
        self._resolver = resolver
        # The library gives this name two types, one for where anyio is missing.
        self._network = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A socket to the first checked address that answers. Raises Refused where none passes the check."""
        addresses = await self._checked(host, port, timeout)
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                share = timeout / len(addresses) if timeout else None
                return await self._network.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self,
        path: str,  # noqa: ARG002 - the library's interface
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Never: a path is not a host."""
        raise Refused("a socket in the file system is not a host that a connector may reach")

    async def sleep(self, seconds: float) -> None:
        """As the library asks."""
        await asyncio.sleep(seconds)

    async def _checked(self, host: str, port: int, timeout_s: float | None) -> list[str]:
        try:
            async with asyncio.timeout(timeout_s):
                found = await self._resolver(host, port)
        except TimeoutError:
            raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from None
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"{host} cannot be resolved: {error}") from None
        problems = {address: self._destinations.problem_of(address) for address in found}
        passed = [address for address, problem in problems.items() if problem is None]
        if found and not passed:
            raise Refused(
                f"{host} leads to {next(iter(problems.values()))}, which this connector may not reach",
                hint="open its network to the connector with `private`, if that is meant",
            )
        return passed


def trust() -> ssl.SSLContext:
    """A new context that trusts what the operating system trusts."""
    return httpcore2.default_ssl_context()


@cache
def shared_trust() -> ssl.SSLContext:
    """The same, read once in this process: it takes a tenth of a second and more."""
    return trust()


def pool(network: CheckedNetwork, limits: Limits, tls: ssl.SSLContext | None) -> httpcore2.AsyncConnectionPool:
    """Connections by origin: HTTP/1.1, no proxy, no retries of its own. Without `tls`, for plain http only."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls,
        max_connections=limits.connections,
        max_keepalive_connections=limits.connections // 4,
        keepalive_expiry=15.0,
        network_backend=network,
    )
