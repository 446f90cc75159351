"""Where an answer sends on to, and what of the request goes there. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from isolith_bindings.egress.messages import NOTHING, Refused, Request, Response
from isolith_bindings.egress.rules import origin_of
from isolith_bindings.errors import CallError
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from isolith_bindings.egress.messages import Pairs

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# What may be said to an origin that the call was not made to: nothing of it identifies or authorises.
HARMLESS = frozenset({"accept", "accept-language", "range", "user-agent", "if-none-match", "if-modified-since"})
_OF_THE_BODY = frozenset({"content-type", "content-encoding", "content-language", "digest", "content-digest"})


def onward(request: Request, response: Response) -> Request | None:
    """The request that a redirect asks for, or None where the answer is not one. Raises Refused.

    RFC 9110, 15.4: 303, and 301 and 302 after a POST, become a GET without a body; 307 and 308 repeat the request. To
    another origin goes a GET or HEAD without body, cookies, credentials and headers of the caller's own.
    """
    location = response.header("location")
    if response.status not in REDIRECTS or not location:
        return None
    target = _target(request, location)
    method, content, headers = request.method, request.content, request.headers
    if (response.status == 303 and method != "HEAD") or (response.status in {301, 302} and method == "POST"):
        method, content, headers = "GET", b"", _without(headers, _OF_THE_BODY)
    if origin_of(target) == origin_of(request.url):
        return replace(request, method=method, url=target, content=content, headers=headers)
    if method not in {"GET", "HEAD"} or content:
        raise Refused(
            f"{request.method} was redirected to another origin ({origin_of(target)}): its body is not sent there"
        )
    if redact(target) != target:
        raise Refused(f"the redirect to {origin_of(target)} would carry a credential there")
    kept = tuple((name, value) for name, value in headers if name.lower() in HARMLESS)
    return replace(request, method=method, url=target, content=b"", headers=kept, cookies=(), attachment=NOTHING)


def _target(request: Request, location: str) -> str:
    """The absolute URL of a Location, which may be relative and may hold what has to be encoded."""
    if not location.isprintable():
        # Python drops some of these characters from URLs, others do not.
        raise Refused(f"{origin_of(request.url)} redirected to a URL with a control character")
    try:
        target = urldefrag(urljoin(request.url, location.strip().replace(" ", "%20"))).url
        origin = origin_of(target)
    except (CallError, ValueError):
        raise Refused(f"{origin_of(request.url)} redirected to what is not an http(s) URL") from None
    if origin.scheme == "http" and origin_of(request.url).scheme == "https":
        raise Refused(f"{origin_of(request.url)} redirected to {origin}, which is not encrypted")
    return target


def _without(headers: Pairs, names: frozenset[str]) -> Pairs:
    return tuple((name, value) for name, value in headers if name.lower() not in names)
