"""Where a page ends, as text that a client hands back. It holds no secret, and is read as strictly as any input."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta

from isolith.http.problems import Problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORM = re.compile(r"(\d{1,17}) ([0-9A-Za-z_.-]{1,100})")


def cursor_of(at: datetime, name: str) -> str:
    """Behind this one."""
    micros = (at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(f"{micros} {name}".encode()).decode().rstrip("=")


def behind(cursor: str | None) -> tuple[datetime, str] | None:
    """What a cursor says. Raises Problem for one that is none of ours."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    found = _FORM.fullmatch(text)
    if found is None:
        raise Problem(422, "invalid", "`cursor` is none that this API gave: leave it out to begin anew")
    return _EPOCH + timedelta(microseconds=int(found[1])), found[2]
