"""What goes out and what comes back, as data: `Request`, `Attachment`, `Response`, and the limits of an exchange."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from isolith_bindings.files import ByteFile

Pairs = tuple[tuple[str, str], ...]
Cut = Literal["", "late", "broken"]
"""Why an answer has no end; empty where it has one."""

# RFC 9110, 5.6.2: what a method, a field name and a cookie name are made of.
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
# RFC 9110, 5.5: no control character but the tab in a field value; latin-1 is what the wire carries.
_FIELD_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*\Z")
# RFC 6265, 4.1.1, and the space and comma that everybody accepts.
_COOKIE_VALUE = re.compile(r"[\x20\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]*\Z")

# Fields that say where a message ends, to whom it goes or who may pass it: they are ours to write.
OURS = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "accept-encoding",
        "proxy-authorization",
        "proxy-connection",
    }
)


class Refused(CallError):
    """A request that the rules of egress forbid; nothing of it was sent. Kind `denied`, never retriable."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__("denied", message, hint=hint)


@dataclass(frozen=True)
class Attachment:
    """Credentials of one request: sent to the origin of its URL and to no other, whatever it redirects to.

    `query` is percent-encoded already; `cookies` and `headers` are as on the wire. `secrets`: the bare values in them,
    which must not come back. Its repr shows names only.
    """

    headers: Pairs = ()
    query: Pairs = ()
    cookies: Pairs = ()
    tls: ssl.SSLContext | None = None
    secrets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = [name for pairs in (self.headers, self.query, self.cookies) for name, _ in pairs]
        return f"Attachment({', '.join(names)}{', a client certificate' if self.tls else ''})"

    def __bool__(self) -> bool:
        return bool(self.headers or self.query or self.cookies or self.tls)


NOTHING = Attachment()


@dataclass(frozen=True)
class Request:
    """One request. `url` is absolute and percent-encoded, without user information.

    `idempotent`: whether it may be sent twice; None follows the method (RFC 9110, 9.2.2) and an Idempotency-Key.
    `body_bytes` lowers or raises the cap on the decoded body of the answer for this request. `keep`: a success that is
    longer than the cap is kept in a file, up to `Limits.answer_bytes`. `partial`: of a success that has not ended in
    time, or breaks off, what came until then is the answer (`Response.cut`).
    """

    method: str
    url: str
    headers: Pairs = ()
    content: bytes = field(default=b"", repr=False)
    cookies: Pairs = ()
    attachment: Attachment = NOTHING
    idempotent: bool | None = None
    body_bytes: int | None = None
    keep: bool = False
    partial: bool = False

    def header(self, name: str) -> str | None:
        """The first field of that name, in any case of letters."""
        return _first(self.headers, name)


@dataclass(frozen=True)
class Response:
    """One answer, decoded. `url` is where it came from, without credentials.

    `file`: the body, where it was longer than the cap and was to be kept; `content` is its beginning. `truncated`: it
    was longer than may be kept, and both are. `cut`: it had not ended when its time had (`late`), or broke off
    (`broken`). `waited_s` was spent in pauses that the server asked for, `attempts` counts the requests that were sent
    for it.
    """

    status: int
    headers: Pairs
    content: bytes = field(repr=False)
    truncated: bool
    url: str
    attempts: int = 1
    waited_s: float = 0.0
    file: ByteFile | None = field(default=None, repr=False)
    cut: Cut = ""

    def header(self, name: str) -> str | None:
        """The first field of that name, in any case of letters."""
        return _first(self.headers, name)

    def all(self, name: str) -> list[str]:
        """Every field of that name, in order."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass(frozen=True)
class Limits:
    """Of one exchange, redirects and retries included. Seconds, and bytes after decoding.

    `body_bytes` are held in memory. A longer answer that is kept is at most `answer_bytes` long, in a file; `files` of
    one client are written at a time, and others wait for their turn within their own time.
    """

    total_s: float = 30.0
    connect_s: float = 10.0
    idle_s: float = 20.0
    body_bytes: int = 32 << 20
    answer_bytes: int = 256 << 20
    files: int = 4
    request_bytes: int = 32 << 20
    redirects: int = 5
    connections: int = 32


@dataclass(frozen=True)
class Retries:
    """At most `attempts` requests; pauses grow from `base_s` and none is longer than `longest_s`.

    A server that asks for a longer pause gets none: its answer is returned, which says when to come back.
    """

    attempts: int = 3
    base_s: float = 0.5
    longest_s: float = 10.0
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


def check_fields(request: Request) -> None:
    """Refuse what could be read as another header, another request or another method. Raises CallError."""
    if not _TOKEN.match(request.method):
        raise CallError("invalid_arguments", "the method of a request is letters, such as GET")
    for name, value in (*request.headers, *request.attachment.headers):
        check_field(name, value)
    for name, value in (*request.cookies, *request.attachment.cookies):
        if not _TOKEN.match(name) or not _COOKIE_VALUE.match(value):
            raise CallError("invalid_arguments", f"the cookie {name!r} holds a character that no cookie may hold")


def check_field(name: str, value: str) -> None:
    """Refuse one header field that is not one field. The message never holds the value. Raises CallError."""
    if not _TOKEN.match(name):
        raise CallError("invalid_arguments", f"{name!r} is not the name of a header")
    if name.lower() in OURS:
        raise CallError("invalid_arguments", f"the header {name} is written by the HTTP client; leave it out")
    if not _FIELD_VALUE.match(value):
        what = "a line break or another control character" if value.isascii() else "a character outside latin-1"
        raise CallError("invalid_arguments", f"the header {name} holds {what}, which no header may")


def _first(pairs: Pairs, name: str) -> str | None:
    wanted = name.lower()
    return next((value for key, value in pairs if key.lower() == wanted), None)
