"""Whether a request is sent again, and when. Pure; the clock is given.

Sent again is only what is safe: a request that was never sent, or one that may happen twice.
"""

from __future__ import annotations

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
        again = "" if self.again_in_s is None else f"come back in {self.again_in_s:.0f} s"
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
    reset = _whole(_either(response, "reset"))
    again = _retry_after(response.header("retry-after"), now)
    if again is None and reset is not None and remaining == 0:
        again = max(0.0, reset - now) if reset > _EPOCH else float(reset)
    return RateLimit(remaining, _whole(_either(response, "limit")), again)


def _either(response: Response, what: str) -> str | None:
    names = (f"x-ratelimit-{what}", f"ratelimit-{what}", f"x-rate-limit-{what}")
    return next((value for name in names if (value := response.header(name)) is not None), None)


def _whole(text: str | None) -> int | None:
    """A number of at most twelve digits; what follows a comma or semicolon are parameters."""
    digits = (text or "").replace(";", ",").partition(",")[0].strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 12 else None


def _retry_after(text: str | None, now: float) -> float | None:
    seconds = _whole(text)
    if text is None or seconds is not None:
        return None if seconds is None else float(seconds)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
