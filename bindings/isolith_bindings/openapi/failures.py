"""An answer that is no success, as the error that a script sees: what happened, what to do, what the server said."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from isolith_bindings import json_text
from isolith_bindings.egress import rate_limit
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.media import kind
from isolith_bindings.openapi.tree import is_list
from isolith_bindings.secrets import LONGEST_SECRET, redact

if TYPE_CHECKING:
    from isolith_bindings.egress import Response
    from isolith_bindings.openapi.plan import RequestPlan

MAX_BODY = 16_000
"""Characters of the body of an error that a script sees."""
MAX_SAID = 300
"""Characters of the server's own message within ours."""

_AGAIN = frozenset({408, 425, 429, 502, 503, 504})
_TELLING = frozenset(
    {
        "allow",
        "content-type",
        "deprecation",
        "link",
        "location",
        "retry-after",
        "sunset",
        "www-authenticate",
        "x-request-id",
        "request-id",
    }
)
# RFC 9457 says `title` and `detail`; the rest is what APIs do.
_SAYING = ("message", "detail", "error_description", "title", "error", "errors", "reason", "msg")
_SHOWN = 3
"""Messages of a list that are shown."""
_UNKNOWN = (
    "the call was sent without a credential: whoever configured the connector has to give it one, as `auth`; one that "
    "the document does not ask for is sent as well, an `ApiKey` where that says; no argument can"
)
_HINTS = {
    401: "the server does not accept the connector's credential; no argument changes that",
    403: "the connector's credential does not allow this",
    404: "look whether what the arguments name exists; some APIs answer 404 for what the credential may not see",
    409: "it changed meanwhile, or exists already: read it again first",
    412: "it changed meanwhile: read it again first",
}


def failure(plan: RequestPlan, response: Response, *, identified: bool = True, now: float | None = None) -> CallError:
    """`tool_error` with the status, the headers of use and the body in its data: bounded, and without any secret.

    `identified`: whether a credential was sent.
    """
    body = _body(response)
    limit = rate_limit(response, time.time() if now is None else now)
    limited = response.status == 429 or (response.status == 403 and limit.remaining == 0)
    said = _said(body)
    data = {
        "status": response.status,
        "reason": _reason(response.status),
        "headers": _headers(response),
        "body": body,
        "truncated": response.truncated or len(response.content) > MAX_BODY,
    }
    hint = _UNKNOWN if response.status == 401 and not identified else _HINTS.get(response.status)
    hint = f"the server limits requests: {limit}" if limited and str(limit) else hint
    return CallError(
        "tool_error",
        f"{plan.told} was answered {response.status} {data['reason']}".rstrip() + (f": {said}" if said else ""),
        data=data,
        retriable=limited or (response.status in _AGAIN and plan.idempotent),
        hint=hint,
    )


def _body(response: Response) -> object:
    """Data where it is JSON that fits, else the beginning of its text; None for what is not text."""
    told = response.header("content-type") or ""
    if kind(told) in {"binary", "multipart"} and told:
        return None
    # Cleared of every known secret before it is cut: the half of one would not be known. None is longer than the rest.
    text = redact(response.content[: 4 * MAX_BODY + LONGEST_SECRET].decode("utf-8", "replace"))
    if kind(told) == "json" and len(text) <= MAX_BODY:
        try:
            return cast("object", json_text.loads(text))
        except (ValueError, RecursionError):
            pass
    return text[:MAX_BODY] or None


def _headers(response: Response) -> dict[str, str]:
    """Those that say what to do: no cookies, nothing of the machinery."""
    kept = ((name.lower(), value) for name, value in response.headers)
    return {
        name: redact(value)[:1000] for name, value in kept if name in _TELLING or "ratelimit" in name.replace("-", "")
    }


def _said(body: object, depth: int = 0) -> str:
    """The server's own words, in one line."""
    if isinstance(body, str):
        text = " ".join(body.split())
        return "" if text.startswith("<") else text[:MAX_SAID]
    if is_list(body) and depth < 3:
        found = [said for each in body[:_SHOWN] if (said := _said(each, depth + 1))]
        more = f"; and {len(body) - _SHOWN} more" if len(body) > _SHOWN and found else ""
        return "; ".join(dict.fromkeys(found))[:MAX_SAID] + more
    if not isinstance(body, Mapping) or depth > 2:
        return ""
    fields = cast("Mapping[str, object]", body)
    told = next((said for name in _SAYING if (said := _said(fields.get(name), depth + 1))), "")
    if told:
        return f"{_place(fields.get('loc'))}{told}"
    return _by_field(fields, depth) or _as_it_is(fields.get("detail")) or ("" if depth else _as_it_is(fields))


def _place(steps: object) -> str:
    """Where FastAPI says that something is wrong."""
    parts = [str(step) for step in steps] if is_list(steps) else []
    return f"{'.'.join(parts)[:MAX_SAID]}: " if parts else ""


def _by_field(fields: Mapping[str, object], depth: int) -> str:
    """What Django and Rails say: what is wrong, as texts under the name of each field."""
    listed = {name: each for name, each in fields.items() if is_list(each) and each}
    told = [f"{name}: {said}" for name, each in list(listed.items())[:_SHOWN] if (said := _said(each, depth + 1))]
    more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN and told else ""
    return "; ".join(told)[:MAX_SAID] + more


def _as_it_is(data: object) -> str:
    """What an application says in a form of its own; nothing of what is too deep to be written again."""
    try:
        text = json.dumps(data, ensure_ascii=False) if isinstance(data, Mapping) and data else ""
    except RecursionError:
        return ""
    return text if len(text) <= MAX_SAID else f"{text[: MAX_SAID - 3]}..."


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
