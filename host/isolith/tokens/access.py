"""What whoever is at the door may do. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from isolith.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Scope = Literal["execute", "approve", "admin"]
"""`execute`: run scripts, and see the runs of the own principal. `approve`: see all runs, decide what waits, review
snippets, undo. `admin`: all of that, and what is connected.
"""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)


@dataclass(frozen=True, slots=True)
class Access:
    """For whom a request is, and what it may do."""

    principal: str | None
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Whether it has the scope; `admin` has all."""
        return scope in self.scopes or "admin" in self.scopes

    @property
    def sees_all(self) -> bool:
        """Whether it sees the runs of other principals: who decides about them has to."""
        return self.may("approve")

    @property
    def who(self) -> str:
        """Its name in decisions."""
        return self.principal or "whoever is at this machine"


ALL: Final = Access(None, frozenset(SCOPES))
"""Where nobody is asked who they are."""


def as_scopes(names: Iterable[str]) -> tuple[Scope, ...]:
    """Scopes by name, in their own order. Raises UsageError."""
    wanted = set(names)
    unknown = wanted - set(SCOPES)
    if unknown or not wanted:
        raise UsageError(f"there is no scope `{', '.join(sorted(unknown))}`: there are {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in wanted)
