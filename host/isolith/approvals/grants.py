"""Grants: a person says yes ahead of time, to so many calls of one method, until some time. Never a script."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from isolith.approvals.terms import LASTS, GrantTerms, checked
from isolith.errors import UsageError
from isolith.journal.model import NewGrant
from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from isolith.journal.journal import Journal
    from isolith.journal.model import Call, Grant
    from isolith_bindings.catalog import Catalog

_METHOD = re.compile(r"([^.*\s]+)\.(\*|[^*\s]+)")


class Grants:
    """The grants of one journal: `code_mode.grants`.

    A call that a grant covers is made without a question; the journal says under which grant, and who gave it. What
    was asked about before the grant was given still waits. Where several cover a call, the one that ends first is used.
    """

    def __init__(self, journal: Callable[[], Awaitable[Journal]], catalog: Catalog | None = None) -> None:
        self._journal = journal
        self._catalog = catalog

    async def give(  # noqa: PLR0913 - the parts of one grant
        self,
        method: str,
        *,
        uses: int,
        lasts: timedelta = LASTS,
        who: str,
        principal: str | None = None,
        execution_id: str | None = None,
        reason: str | None = None,
    ) -> Grant:
        """Let calls of `method` be made unasked: `bank.pay`, or `bank.*` for all of that connector.

        `principal`: for whose runs, None for anybody's; `execution_id`: in that one only. Raises UsageError.
        """
        connector, name = self._resolved(method)
        new = NewGrant(connector, name, who, uses, lasts, principal, execution_id, reason)
        return await (await self._journal()).grants.give(checked(new))

    async def find(self, *, spent: bool = False) -> list[Grant]:
        """Those that cover something now, oldest first; with `spent` those used up, over or revoked, too."""
        return await (await self._journal()).grants.find(spent=spent)

    async def revoke(self, grant_id: str, *, who: str) -> Grant:
        """It covers nothing from now on. `grant_id` may be its beginning.

        Raises UsageError for one that is none or several, WrongStatus where it was revoked before.
        """
        journal = await self._journal()
        known = [grant.grant_id for grant in await journal.grants.find(spent=True)]
        found = [each for each in known if each == grant_id] or [each for each in known if each.startswith(grant_id)]
        if len(found) != 1 or not grant_id:
            what = f"{len(found)} grants begin" if found else "no grant begins"
            raise UsageError(f"{what} with `{grant_id}`: see `isolith executions grants list --spent`")
        return await journal.grants.revoke(found[0], who)

    def _resolved(self, method: str) -> tuple[str, str]:
        """Connector and method by their Python names, from any spelling. Raises UsageError."""
        parts = _METHOD.fullmatch(method)
        if parts is None:
            raise UsageError(f"`{method}` is no connector.method: write `bank.pay`, or `bank.*` for all of `bank`")
        connector, name = parts[1], parts[2]
        if self._catalog is None or name == "*":
            return connector, name
        try:
            found, resolved = self._catalog.resolve(connector, name)
        except CallError as error:
            raise UsageError(f"a grant for `{method}` would cover nothing: {error}") from error
        return found.name, resolved.name


def with_call(call: Call, terms: GrantTerms, who: str, principal: str | None) -> NewGrant:
    """The grant that is given with the approval of a call. Raises UsageError."""
    return checked(
        NewGrant(
            connector=call.connector,
            method=call.method,
            who=who,
            uses=terms.uses,
            lasts=terms.lasts,
            principal=principal,
            execution_id=None if terms.everywhere else call.execution_id,
            reason=terms.reason,
        )
    )
