"""For how many calls, and for how long, an answer holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from isolith.errors import UsageError

if TYPE_CHECKING:
    from isolith.journal.model import NewGrant

MAX_USES: Final = 100_000
MAX_LASTS: Final = timedelta(days=366)
"""A grant or a link past it is a policy: write a rule."""
LASTS: Final = timedelta(hours=1)
"""How long a grant holds, where nobody says."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(\d{1,6})\s*([smhdw])")


@dataclass(frozen=True, slots=True)
class GrantTerms:
    """A grant that is given with an approval: for `uses` calls more of the same method, for as long as `lasts`.

    Within the execution of the call, or, with `everywhere`, in any execution of the same principal; where that has
    none, in any execution.
    """

    uses: int
    lasts: timedelta = LASTS
    everywhere: bool = False
    reason: str | None = None


def checked(grant: NewGrant) -> NewGrant:
    """The grant itself. Raises UsageError for one of no use, of no time, or without end."""
    if not 1 <= grant.uses <= MAX_USES:
        raise UsageError(f"a grant is for 1 to {MAX_USES:,} calls, not {grant.uses:,}")
    checked_time(grant.lasts, "a grant")
    return grant


def checked_time(lasts: timedelta, what: str) -> timedelta:
    """The time itself. Raises UsageError for none, or for more than a year."""
    if not timedelta(0) < lasts <= MAX_LASTS:
        raise UsageError(f"{what} holds for some time, at most {MAX_LASTS.days} days")
    return lasts


def read_duration(text: str, flag: str) -> timedelta:
    """`90s`, `30m`, `1h`, `7d`, `2w`. Raises UsageError."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise UsageError(f"`{flag}` takes a time such as 30m, 1h or 7d, not `{text}`")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
