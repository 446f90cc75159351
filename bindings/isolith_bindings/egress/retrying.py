"""Whether a request is sent again, and when. Pure; the clock is given.

Sent again is only what is safe: a request that was never sent, or one that may happen twice.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith_bindings.egress.messages import Request, Response, Retries

# RFC 9110, 9.2.2, and QUERY of its extension.
IDEMPOTENT = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"})
TRANSIENT = frozenset({429, 502, 503, 504})
# A number of seconds that is larger than this is a point in time (GitHub's x-ratelimit-reset).
_EPOCH = 1_000_000_000
# Shopify and Discord have seconds with a fraction. What follows a comma or semicolon are parameters.
_NUMBER = re.compile(r"\s*(\d{1,12})(\.\d{1,12})?\s*(?:[,;]|\Z)", re.ASCII)
_PARAMETER = re.compile(r"\b(limit|remaining|reset|r|t)=(\d{1,12})\b", re.ASCII)


@dataclass(frozen=True)
class RateLimit:
    """What a server says of its limit: requests left and allowed, and in how many seconds to come back."""

    remaining: int | None = None
    limit: int | None = None
    again_in_s: float | None = None

    def __str__(self) -> str:
        said = (
            f"{self.remaining} of {self.limit} requests are left"
            if self.limit is not None
            else f"{self.remaining} requests are left"
        )
        again = "" if self.again_in_s is None else f"come back in {math.ceil(self.again_in_s)} s"
        return ", ".join(text for text in ("" if self.remaining is None else said, again) if text)


def may_repeat(request: Request) -> bool:
    """Whether sending it twice does no more than sending it once."""
    if request.idempotent is not None:
        return request.idempotent
    return request.method in IDEMPOTENT or request.header("idempotency-key") is not None


def pause_after(request: Request, response: Response, attempt: int, retries: Retries, now: float) -> float | None:
    """Seconds until the request is sent again after this answer, or None where the answer stands.

    What may not happen twice is sent again after 429 with Retry-After only: the server said that it did not take it.
    `attempt` counts from 1, `now` is seconds since the epoch.
    """
    limit = rate_limit(response, now)
    refused = response.status == 429 or (response.status == 403 and limit.remaining == 0)
    if attempt >= retries.attempts or not (refused or response.status in TRANSIENT):
        return None
    asked = limit.again_in_s
    if not may_repeat(request) and not (response.status == 429 and response.header("retry-after")):
        return None
    if response.status == 403 and asked is None:
        return None
    pause = back_off(attempt, retries) if asked is None else asked
    return pause if pause <= retries.longest_s else None


def answered(response: Response, now: float) -> str:
    """What a server answered that asks to wait, in a few words."""
    limit = str(rate_limit(response, now))
    return f"answered {response.status}" + (f" ({limit})" if limit else "")


def back_off(attempt: int, retries: Retries) -> float:
    """Seconds before the attempt that follows number `attempt`: doubled each time, up to the longest."""
    return min(retries.base_s * float(2 ** (attempt - 1)), retries.longest_s)


def rate_limit(response: Response, now: float) -> RateLimit:
    """From Retry-After (RFC 9110, 10.2.3) and the usual rate-limit headers; what is malformed is ignored."""
    remaining = _whole(_either(response, "remaining"))
    reset = _number(_either(response, "reset-after"))
    reset = _number(_either(response, "reset")) if reset is None else reset
    again = _retry_after(response.header("retry-after"), now)
    if again is None and reset is not None and remaining == 0:
        again = max(0.0, reset - now) if reset > _EPOCH else reset
    return RateLimit(remaining, _whole(_either(response, "limit")), again)


def _either(response: Response, what: str) -> str | None:
    names = (f"x-ratelimit-{what}", f"ratelimit-{what}", f"x-rate-limit-{what}")
    own = next((value for name in names if (value := response.header(name)) is not None), None)
    return _together(", ".join(response.all("ratelimit"))).get(what) if own is None else own


def _together(text: str) -> dict[str, str]:
    """All in one header, as drafts of the IETF have it.

    `"day";r=0;t=30` since the eighth, where the least that is left counts; `limit=100, remaining=0, reset=30` before.
    """
    items = [dict(_PARAMETER.findall(item)) for item in text.split(",")]
    left = [item for item in items if "r" in item]
    if left:
        least = min(left, key=lambda item: int(item["r"]))
        return {"remaining": least["r"], **({"reset": least["t"]} if "t" in least else {})}
    return {name: value for item in items for name, value in item.items()}


def _whole(text: str | None) -> int | None:
    number = _number(text)
    return None if number is None else int(number)


def _number(text: str | None) -> float | None:
    found = _NUMBER.match(text or "")
    return float(found[1] + (found[2] or "")) if found else None


def _retry_after(text: str | None, now: float) -> float | None:
    seconds = _number(text)
    if text is None or seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
