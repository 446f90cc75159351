"""One call over the network: credentials put on, the request sent, what is no success told as an error."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from isolith_bindings.egress import Request, untold
from isolith_bindings.openapi.failures import failure
from isolith_bindings.secrets import redact, redact_bytes, redact_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.egress import Attachment, Egress, Response
    from isolith_bindings.openapi.auth import Auth
    from isolith_bindings.openapi.plan import RequestPlan

MAX_SHOWN_BODY = 2_000
"""Characters of a body that a person is shown."""


async def send(
    plan: RequestPlan, egress: Egress, auth: Auth, deadline_s: float, tell: Callable[[str], None] = untold
) -> Response:
    """The answer of a success. Raises CallError; a credential that was refused is renewed once. `tell`: see `Egress`.

    What the server repeats of a credential is masked: a debugging endpoint must not tell a script what we sent it.
    """
    attachment = await auth.attach(plan)
    response = await egress.send(_request(plan, attachment), total_s=deadline_s, tell=tell)
    if response.status == 401 and attachment:
        renewed = await auth.attach(plan, refused=attachment)
        if renewed != attachment:
            attachment = renewed
            response = await egress.send(_request(plan, attachment), total_s=deadline_s, tell=tell)
    headers = tuple((name, redact(value)) for name, value in response.headers)
    longer = response.truncated or response.cut != "" or response.file is not None
    content = redact_bytes(response.content, attachment.secrets, cut=longer)
    file = response.file
    if file is not None and attachment.secrets:
        file = await asyncio.to_thread(
            redact_file, file, attachment.secrets, cut=response.truncated or response.cut != ""
        )
    cleared = replace(response, headers=headers, content=content, file=file)
    if not 200 <= response.status < 300:
        raise failure(plan, cleared, identified=bool(attachment))
    return cleared


def shown(plan: RequestPlan, auth: Auth) -> str:
    """The request as it would be sent, each secret masked; for people who decide on it. Raises CallError.

    A body that is no text is shown by its length. What a terminal would obey is written out.
    """
    attachment = auth.masked(plan)
    query = "".join(f"&{name}={value}" for name, value in attachment.query)
    mark = "?" if query and not plan.query else ""
    url = f"{plan.url}{mark}{query[1:] if mark else query}"
    typed = (("Content-Type", plan.content_type),) if plan.content_type else ()
    cookies = "; ".join(f"{name}={value}" for name, value in (*plan.cookies, *attachment.cookies))
    headers = (*plan.headers, *typed, *attachment.headers, *((("Cookie", cookies),) if cookies else ()))
    certified = ["# with the certificate of the client"] if auth.certifies(plan) else []
    lines = [*certified, f"{plan.method} {url}", *(f"{name}: {value}" for name, value in headers)]
    text = redact("\n".join([*lines, *(["", _shown_body(plan.body)] if plan.body else [])]))
    return "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text)


def _shown_body(body: bytes) -> str:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return f"({len(body):,} bytes)"
    return text if len(text) <= MAX_SHOWN_BODY else f"{text[:MAX_SHOWN_BODY]}... ({len(text):,} characters)"


def _request(plan: RequestPlan, attachment: Attachment) -> Request:
    typed = (("Content-Type", plan.content_type),) if plan.content_type else ()
    headers = (*plan.headers, *typed)
    return Request(
        plan.method, plan.url, headers, plan.body or b"", plan.cookies, attachment, keep=True, partial=plan.endless
    )
