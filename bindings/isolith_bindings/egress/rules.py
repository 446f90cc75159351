"""Where a request may go: origins by name, addresses by network. Pure; nothing here resolves or connects."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from isolith_bindings.egress.messages import Refused
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Iterable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_PORTS = {"http": 80, "https": 443}
# RFC 3986: all that a URL may hold. What is missing (blanks, controls, backslash, quotes, non-ASCII) has to be encoded.
_URL = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+\Z")
_HOST = re.compile(r"[0-9a-z_]([0-9a-z_.-]*[0-9a-z_])?\.?\Z")
_SLASHES = re.compile(r"/|\\|%2f|%5c", re.IGNORECASE)

# Where clouds serve credentials to whoever asks. `private` does not open them: they have to be named one by one.
METADATA = tuple(
    ipaddress.ip_network(text)
    for text in ("169.254.0.0/16", "fe80::/10", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254", "168.63.129.16")
)
NAMED_NETWORKS = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"),
}
# IPv6 that carries an IPv4 address, and the bit where that begins: mapped, NAT64 (RFC 6052, 8215), 6to4, compatible.
_CARRIERS: tuple[tuple[Network, int], ...] = tuple(
    (ipaddress.ip_network(text), shift)
    for text, shift in (
        ("::ffff:0:0/96", 0),
        ("64:ff9b::/96", 0),
        ("64:ff9b:1::/48", 0),
        ("2002::/16", 80),
        ("::/96", 0),
    )
)


@dataclass(frozen=True)
class Origin:
    """Scheme, host and port: what credentials belong to (RFC 6454). The host is in lower case and ASCII."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}")


@dataclass(frozen=True)
class Destinations:
    """The origins a client may reach, and the networks that are not public and open to it all the same."""

    origins: tuple[Origin, ...]
    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, allowed: Iterable[str], private: Iterable[str] = ()) -> Destinations:
        """From text. Raises ValueError, which says what is wrong.

        `allowed`: `api.test` (https at its default port), `api.test:8443`, `*.api.test` (what is below, not itself) or
        an origin such as `http://127.0.0.1:8000`. `private`: networks (`10.1.0.0/16`), addresses, or the words
        `loopback` and `private`.
        """
        networks = [text for word in private for text in NAMED_NETWORKS.get(word, (word,))]
        return cls(tuple(map(_pattern, allowed)), tuple(map(ipaddress.ip_network, networks)))

    def permits(self, origin: Origin) -> bool:
        """Whether requests may go to that origin."""
        return any(_matches(pattern, origin) for pattern in self.origins)

    def check(self, origin: Origin) -> None:
        """Raises Refused where the origin is not allowed."""
        if not self.permits(origin):
            names = ", ".join(map(str, self.origins)) or "none"
            raise Refused(f"{origin} is not a host that this connector may reach; allowed: {names}")

    def problem_of(self, text: str) -> str | None:
        """Why an address must not be connected to, as a noun (`a loopback address`), or None."""
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return "not an address"
        return next((problem for each in _carried(address) if (problem := self._problem(each))), None)

    def _problem(self, address: Address) -> str | None:
        metadata = any(address in network for network in METADATA)
        narrow = (network for network in self.networks if not metadata or _names_metadata(network))
        if any(address in network for network in narrow):
            return None
        return _kind(address) or ("a metadata address" if metadata else None)


def origin_of(url: str) -> Origin:
    """The origin of an absolute http(s) URL, whose spelling is checked on the way. Raises CallError."""
    return _origin(split(url))


def split(url: str) -> SplitResult:
    """An absolute URL in its parts. Raises CallError for what a client and a server could read differently."""
    if not _URL.match(url):
        raise _bad("it holds a blank, a control character, a backslash or another one that has to be percent-encoded")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise _bad(f"{error}") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise _bad("it has to be absolute and begin with https:// or http://")
    if "@" in parts.netloc:
        raise _bad("user information before the host is not allowed; give credentials to the connector")
    check_path(parts.path)
    return parts


def check_path(path: str) -> None:
    """Raises CallError where a segment of a percent-encoded path climbs (`..`), however often it is encoded."""
    for segment in _SLASHES.split(_decoded(path)):
        if segment in {".", ".."}:
            raise _bad(f"its path holds the segment {segment!r}, which would reach another path")


def _decoded(path: str) -> str:
    """Decoded until nothing changes, but for no more layers than any server peels."""
    for _ in range(4):
        decoded = unquote(path)
        if decoded == path:
            break
        path = decoded
    return path


def _origin(parts: SplitResult) -> Origin:
    host = (parts.hostname or "").lower()
    if "[" in parts.netloc or ":" in host:
        try:
            # A zone (`%eth0`) means something on this machine only, and lets one address have many spellings.
            host = ipaddress.IPv6Address(host.replace("%", " ")).compressed
        except ValueError:
            raise _bad("its host is not an IPv6 address") from None
    elif not _HOST.match(host) or ".." in host:
        raise _bad("its host is not a host name")
    return Origin(parts.scheme, host, parts.port if parts.port is not None else DEFAULT_PORTS[parts.scheme])


def _bad(why: str) -> CallError:
    return CallError("invalid_arguments", f"the URL of the request is not one: {why}")


def _pattern(text: str) -> Origin:
    """An entry of `allowed`; the host may begin with `*.`. Raises ValueError."""
    scheme, separator, rest = text.rpartition("://")
    wildcard = rest.startswith("*.")
    problem = ValueError(f"{text!r} is not a host: write api.example.com, *.example.com or http://127.0.0.1:8000")
    try:
        parts = split(f"{scheme if separator else 'https'}://{rest.removeprefix('*.')}")
        origin = _origin(parts)
    except CallError:
        raise problem from None
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise problem
    return Origin(origin.scheme, f"*.{origin.host}" if wildcard else origin.host, origin.port)


def _matches(pattern: Origin, origin: Origin) -> bool:
    if (pattern.scheme, pattern.port) != (origin.scheme, origin.port):
        return False
    wanted, host = pattern.host.removesuffix("."), origin.host.removesuffix(".")
    return host.endswith(wanted[1:]) if wanted.startswith("*.") else host == wanted


def _carried(address: Address) -> list[Address]:
    """The IPv4 address that it could lead to, which says best what it is, and the address itself."""
    if isinstance(address, ipaddress.IPv6Address) and int(address) > 1:
        for network, shift in _CARRIERS:
            if address in network:
                inner = ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
                # A /96 is nothing but the addresses that it carries: they alone decide.
                return [inner] if network.prefixlen == 96 else [inner, address]
    return [address]


def _names_metadata(network: Network) -> bool:
    """Whether a network that is open was named for what it holds: one address, or a part of the link's own."""
    return network.num_addresses == 1 or network.is_link_local


def _kind(address: Address) -> str | None:
    if address.is_loopback:
        return "a loopback address"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast or address.is_unspecified:
        return "not the address of one machine"
    return None if address.is_global and not address.is_reserved else "a private or reserved address"
