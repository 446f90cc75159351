"""Addresses that people write: what is missing of one that is none."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d+)?(?:/[^\s?#]*)?")
"""Nothing that may hold a key: neither who signs in nor a query is shown."""
_SCHEMES: Final = ("https://", "http://")


def without_scheme(text: str) -> str | None:
    """What to write in place of an address that does not begin with `https://` or `http://`; None where it does."""
    if text.lower().startswith(_SCHEMES):
        return None
    host = _HOST.fullmatch(text)
    if host is None:
        return "the whole address, which begins with `https://` or `http://`"
    return f"`{'http' if _is_near(host[1]) else 'https'}://{text}`"


def _is_near(host: str) -> bool:
    """Whether it is this machine, or an address of its network: there is seldom a certificate for these."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_private
    except ValueError:
        return "." not in host or host.endswith(".localhost")
