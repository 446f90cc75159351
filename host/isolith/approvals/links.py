"""A link that decides one pending call: signed, bound to what was seen, good for some time, and once. Pure.

    token = "1." base64url(JSON of the link) "." base64url(HMAC-SHA256 of all before it)

The link says which call, the digest of its arguments, in which round it was asked about, what the answer is, who
answers by it and until when. Nothing of it is secret; without the key nobody can make one or change one. That it counts
once is the journal's work: a round has one decision.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

from pydantic import TypeAdapter

from isolith.errors import UsageError

if TYPE_CHECKING:
    from isolith.journal.model import Verdict

KEY_BYTES: Final = 32
MAX_TOKEN: Final = 4096
"""Characters; what is longer is none of ours."""
MAX_WHO: Final = 200

_VERSION = "1"
_PURPOSE = b"isolith approval link\0"
"""In front of what is signed: a signature by the same key for another purpose is none of a link."""
_TOKEN = re.compile(r"1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")

Why = Literal["malformed", "tampered", "expired"]


class LinkError(UsageError):
    """A link that decides nothing.

    `why`: `malformed` is none of ours; `tampered` was changed, or signed with another key.
    """

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why: Why = why


@dataclass(frozen=True, slots=True)
class Link:
    """What a link says. `digest`: of the arguments as they were shown; `asked`: the round of the question."""

    execution_id: str
    number: int
    digest: str
    asked: int
    verdict: Verdict
    who: str
    expires_at: datetime

    @property
    def call_id(self) -> str:
        """The call as outcomes name it."""
        return f"{self.execution_id}.{self.number}"


def sign(link: Link, key: bytes) -> str:
    """The token of a link. Raises ValueError for a key of less than 32 bytes, or a name past 200 characters."""
    if len(key) < KEY_BYTES:
        raise ValueError(f"a key that signs links has at least {KEY_BYTES} bytes, and this one has {len(key)}")
    if not link.who or len(link.who) > MAX_WHO:
        raise ValueError(f"a link is for somebody, whose name has at most {MAX_WHO} characters")
    expires = int(link.expires_at.timestamp())
    told = [link.execution_id, link.number, link.digest, link.asked, link.verdict, link.who, expires]
    body = f"{_VERSION}.{_base64(json.dumps(told, separators=(',', ':')).encode())}"
    return f"{body}.{_base64(_signature(body, key))}"


def read(token: str, key: bytes, now: datetime) -> Link:
    """What a token says, where it is whole, of this key, and in time. Raises LinkError."""
    token = token.strip()
    if len(token) > MAX_TOKEN or _TOKEN.fullmatch(token) is None:
        raise LinkError("malformed", "this is no approval link: copy the whole of it")
    body, _, signature = token.rpartition(".")
    # Compared as text: several texts decode to one signature, and only one of them was given.
    if not hmac.compare_digest(_base64(_signature(body, key)), signature):
        raise LinkError("tampered", "this link was changed, or signed with another key: ask for a new one")
    link = _link(body.partition(".")[2])
    if now >= link.expires_at:
        raise LinkError("expired", f"this link was good until {link.expires_at:%Y-%m-%d %H:%M} UTC: ask for a new one")
    return link


def token_in(text: str) -> str:
    """The token in what somebody pasted: itself, or the last part of the path of a URL."""
    return text.strip().partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2]


_TOLD: Final = TypeAdapter(tuple[str, int, str, int, Literal["approve", "reject"], str, int])


def _link(body: str) -> Link:
    try:
        execution_id, number, digest, asked, verdict, who, expires = _TOLD.validate_json(_bytes(body), strict=True)
        until = datetime.fromtimestamp(expires, UTC)
    except (ValueError, OverflowError, OSError) as error:
        # It was signed with this key, so some other version of ours made it.
        raise LinkError("malformed", "this link is of another version of Isolith: ask for a new one") from error
    return Link(execution_id, number, digest, asked, verdict, who, until)


def _signature(body: str, key: bytes) -> bytes:
    return hmac.new(key, _PURPOSE + body.encode(), hashlib.sha256).digest()


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
