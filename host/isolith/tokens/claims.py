"""What an authorization server says of a token, as what it opens here. Pure.

The rules are those of RFC 9068 (access tokens as JWT), RFC 7662 (introspection) and the MCP specification, by which a
token counts only at the resource that it was issued for.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, cast

from mcp.server.auth.provider import AccessToken

from isolith.tokens.access import SCOPES, Access

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME: Final = re.compile(r"[\x21-\x7e]{1,255}")
"""OpenID Connect Core, section 2: a subject is ASCII, of 255 characters at most."""
LEEWAY_S: Final = 30
"""By which clocks may differ."""


def spellings(url: str) -> frozenset[str]:
    """A URL with and without the slash at its end: servers name themselves either way."""
    bare = url.rstrip("/")
    return frozenset({bare, f"{bare}/"})


def access_token(token: str, claims: Mapping[str, object], *, issuer: str, resource: str) -> AccessToken | None:
    """Whom a token is for and what it opens; None where it is not for this resource, or names nobody.

    The signature, or the server's own word, has to be there already; times are judged by whoever judged that.
    A token that is bound to a key of its client (`cnf`) is none that may simply be carried: it opens nothing.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _NAME.fullmatch(subject) or "cnf" in claims:
        return None
    if claims.get("iss", issuer) not in spellings(issuer) or not spellings(resource) & _texts(claims.get("aud")):
        return None
    client, expires = claims.get("client_id", claims.get("azp")), claims.get("exp")
    scopes = _scopes(claims)
    access = Access(subject, frozenset(scope for scope in SCOPES if scope in scopes))
    return AccessToken(
        token=hashlib.sha256(token.encode()).hexdigest()[:16],  # whoever logs or keeps this must not have the token
        client_id=client if isinstance(client, str) and _NAME.fullmatch(client) else subject,
        subject=subject,
        resource=resource,
        claims={"iss": issuer},
        scopes=sorted(scope for scope in SCOPES if access.may(scope)),  # the SDK knows nothing of `admin`
        expires_at=int(expires) if isinstance(expires, (int, float)) else None,
    )


def in_its_time(claims: Mapping[str, object], now: float) -> bool:
    """Whether a token that has an end has not reached it, and its begin is not to come."""
    ends, begins = claims.get("exp"), claims.get("nbf")
    over = ends is not None and not (isinstance(ends, (int, float)) and now < ends + LEEWAY_S)
    early = begins is not None and not (isinstance(begins, (int, float)) and begins <= now + LEEWAY_S)
    return not over and not early


def _scopes(claims: Mapping[str, object]) -> frozenset[str]:
    """By RFC 8693 a text with blanks; some servers have a list, or call it `scp`."""
    told = claims.get("scope", claims.get("scp"))
    return frozenset(told.split()) if isinstance(told, str) else _texts(told)


def _texts(told: object) -> frozenset[str]:
    several = cast("list[object]", told) if isinstance(told, list) else [told]
    return frozenset(one for one in several if isinstance(one, str))
