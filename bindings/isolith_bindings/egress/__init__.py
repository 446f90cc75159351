"""The one way out: every HTTP request that a connector makes leaves through `Egress`, checked at each step."""

from isolith_bindings.egress.client import Egress, untold
from isolith_bindings.egress.messages import Attachment, Limits, Refused, Request, Response, Retries
from isolith_bindings.egress.network import Resolver, trust
from isolith_bindings.egress.retrying import RateLimit, rate_limit
from isolith_bindings.egress.rules import Destinations, Origin, origin_of

__all__ = [
    "Attachment",
    "Destinations",
    "Egress",
    "Limits",
    "Origin",
    "RateLimit",
    "Refused",
    "Request",
    "Resolver",
    "Response",
    "Retries",
    "origin_of",
    "rate_limit",
    "trust",
    "untold",
]
