"""One call over the network: credentials put on, the request sent, what is no success told as an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from isolith_bindings.egress import Request
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.media import kind
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    from isolith_bindings.egress import Attachment, Egress, Response
    from isolith_bindings.openapi.auth import Auth
    from isolith_bindings.openapi.plan import RequestPlan

MAX_ERROR_BODY = 4_000
"""Characters of the body of an error that a script sees."""
MAX_SHOWN_BODY = 2_000
"""Characters of a body that a person is shown."""
_UNAVAILABLE = frozenset({429, 502, 503, 504})
_TELLING = ("retry-after", "x-request-id", "www-authenticate", "location", "x-ratelimit-remaining", "x-ratelimit-reset")


async def send(plan: RequestPlan, egress: Egress, auth: Auth, deadline_s: float) -> Response:
    """The answer of a success. Raises CallError; a credential that was refused is renewed once."""
    attachment = await auth.attach(plan)
    response = await egress.send(_request(plan, attachment), total_s=deadline_s)
    if response.status == 401 and attachment:
        renewed = await auth.attach(plan, refused=attachment)
        if renewed != attachment:
            response = await egress.send(_request(plan, renewed), total_s=deadline_s)
    if not 200 <= response.status < 300:
        raise _failure(plan, response)
    return response


def shown(plan: RequestPlan, auth: Auth) -> str:
    """The request as it would be sent, each secret masked; for people who decide on it. Raises CallError."""
    attachment = auth.masked(plan)
    query = "".join(f"&{name}={value}" for name, value in attachment.query)
    mark = "?" if query and not plan.query else ""
    url = f"{plan.url}{mark}{query[1:] if mark else query}"
    typed = (("Content-Type", plan.content_type),) if plan.content_type else ()
    cookies = "; ".join(f"{name}={value}" for name, value in (*plan.cookies, *attachment.cookies))
    headers = (*plan.headers, *typed, *attachment.headers, *((("Cookie", cookies),) if cookies else ()))
    body = (plan.body or b"").decode("utf-8", "replace")
    cut = f"... ({len(body):,} characters)" if len(body) > MAX_SHOWN_BODY else ""
    lines = [f"{plan.method} {url}", *(f"{name}: {value}" for name, value in headers)]
    return redact("\n".join([*lines, *(["", body[:MAX_SHOWN_BODY] + cut] if body else [])]))


def _request(plan: RequestPlan, attachment: Attachment) -> Request:
    typed = (("Content-Type", plan.content_type),) if plan.content_type else ()
    return Request(plan.method, plan.url, (*plan.headers, *typed), plan.body or b"", plan.cookies, attachment)


def _failure(plan: RequestPlan, response: Response) -> CallError:
    text = redact(response.content.decode("utf-8", "replace"))[:MAX_ERROR_BODY]
    body: object = text
    if kind(response.header("content-type") or "") == "json":
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = text
    headers = {name: redact(value) for name in _TELLING if (value := response.header(name)) is not None}
    return CallError(
        "tool_error",
        f"{plan.operation} was answered with status {response.status}",
        data={"status": response.status, "headers": headers, "body": body},
        retriable=response.status in _UNAVAILABLE,
    )
