"""What is to be sent: one HTTP request as plain data, made from the document and the arguments alone.

Making a plan touches nothing. It holds no credential: those are attached where it is sent, and a dry run prints it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from isolith_bindings.secrets import redact

SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY"})
"""Methods that change nothing on the other side (RFC 9110, section 9.2.1; QUERY is of OpenAPI 3.2)."""
IDEMPOTENT = SAFE | {"PUT", "DELETE"}
"""Methods that may be sent twice (RFC 9110, section 9.2.2)."""

MAX_PATH = 200
"""Characters of a path that a message shows."""

Requirement = tuple[tuple[str, tuple[str, ...]], ...]
"""One alternative of `security`: each (scheme, scopes) is needed. Empty: no credential is needed."""


@dataclass(frozen=True)
class RequestPlan:
    """One request. Everything in it is encoded already, so that it is sent as it stands.

    `server` is an absolute http(s) URL without query and fragment, and without a slash at its end; `path` begins with
    a slash, or is empty. A query item without a value is sent as its name alone. Header names are as written in the
    document. `security`: any one of these alternatives will do; None: the document asks for no credential at all.
    `endless`: the answer may be one that does not end.
    """

    operation: str
    method: str
    server: str
    path: str
    query: tuple[tuple[str, str | None], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    body: bytes | None = field(default=None, repr=False)
    content_type: str | None = None
    security: tuple[Requirement, ...] | None = None
    endless: bool = False

    @property
    def told(self) -> str:
        """The operation and its request, for a message: without server and query, which may carry what is secret."""
        path = redact(self.path) or "/"  # before it is cut: the half of a secret would not be known
        return f"{self.operation} ({self.method} {path if len(path) <= MAX_PATH else path[:MAX_PATH] + '...'})"

    @property
    def query_string(self) -> str:
        """The query as it is sent, without its question mark."""
        return "&".join(name if value is None else f"{name}={value}" for name, value in self.query)

    @property
    def url(self) -> str:
        """Where it goes, as it is sent."""
        return f"{self.server}{self.path}?{self.query_string}" if self.query else f"{self.server}{self.path}"

    @property
    def safe(self) -> bool:
        """Whether it changes nothing on the other side."""
        return self.method in SAFE

    @property
    def idempotent(self) -> bool:
        """Whether it may be sent again."""
        return self.method in IDEMPOTENT
