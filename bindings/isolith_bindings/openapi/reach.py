"""Where a connector may send to: what its owner wrote, and the addresses of the document."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from isolith_bindings.addresses import without_scheme
from isolith_bindings.egress import Destinations, Origin, origin_of
from isolith_bindings.errors import BindError, CallError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.openapi.model import Api


@dataclass(frozen=True)
class Reach:
    """`allowed`: origins in words, for Egress. `private`: networks that are open although they are not public."""

    allowed: tuple[str, ...]
    private: tuple[str, ...]

    def destinations(self) -> Destinations:
        """The same, parsed. Raises BindError."""
        try:
            return Destinations.parse(self.allowed, self.private)
        except ValueError as error:
            raise BindError(str(error)) from None


def reach_of(written: Iterable[str], allow: Iterable[str], private: Iterable[str]) -> Reach:
    """For addresses that the connector's owner wrote: an address of this machine or network in them is meant."""
    origins = [str(_origin(url)) for url in written]
    allowed = tuple(dict.fromkeys([*origins, *allow]))
    opened = [network for text in allowed if (network := _network(text))]
    return Reach(allowed, tuple(dict.fromkeys([*private, *opened])))


def with_servers(reach: Reach, api: Api) -> Reach:
    """The same and the servers of the document, which open no private network."""
    addresses = {server for operation in api.operations for server in operation.servers if urlsplit(server).netloc}
    found: list[str] = []
    for address in sorted(addresses):
        try:
            found.append(str(origin_of(address)))
        except CallError:
            continue  # its calls will say so
    return Reach(tuple(dict.fromkeys([*reach.allowed, *found])), reach.private)


def _origin(url: str) -> Origin:
    try:
        return origin_of(url)
    except CallError as error:
        mend = without_scheme(url)
        raise BindError(f"`{url:.200}`: write {mend:.220}" if mend else f"{url:.200}: {error.message}") from None


def _network(text: str) -> str | None:
    """The network that a host which is written as an address stands for, `loopback` for localhost."""
    host = urlsplit(text if "://" in text else f"https://{text}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return "loopback"
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None
