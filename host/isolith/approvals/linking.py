"""Links that decide one call, made and redeemed: the key, the journal and `links` together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from isolith.approvals.links import KEY_BYTES, MAX_WHO, Link, LinkError, read, sign, token_in
from isolith.approvals.terms import checked_time
from isolith.errors import UsageError
from isolith.journal.errors import AlreadyDecided, DigestMismatch
from isolith.key_file import kept_key

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.durable.durable_runs import DurableRuns
    from isolith.durable.journals import Journals
    from isolith.journal.model import Call, Decision, Verdict
    from isolith.outcome import Outcome

    Key = bytes | str | Callable[[], bytes]
    """32 bytes or more, or what gives them when they are needed."""

KEY_FILE: Final = "approval-links.key"
LASTS: Final = timedelta(days=1)
"""How long a link is good, where nobody says; never longer than its question waits."""


@dataclass(frozen=True)
class Shown:
    """What a link would decide, before it does: the call as it waits now, with its arguments."""

    link: Link
    call: Call


class Links:
    """Approval links of one journal: `code_mode.links`. `key`: of at least 32 bytes, the same for all who redeem."""

    def __init__(
        self,
        key: Callable[[], bytes],
        runs: Callable[[], Awaitable[DurableRuns]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._key = key
        self._runs = runs
        self._now = now

    async def make(
        self, execution_id: str, call_id: str | int, verdict: Verdict, *, who: str, lasts: timedelta = LASTS
    ) -> str:
        """The token of a link that approves or rejects one pending call, in the name of `who`.

        Whoever has the link decides: send it to that person alone. It is bound to the arguments as they are now, good
        for `lasts` or until the question expires, and counts once: when the call is decided, by it or otherwise, it is
        used. Raises UsageError, UnknownEntry, AlreadyDecided.
        """
        checked_time(lasts, "a link")
        if not who or len(who) > MAX_WHO:
            raise UsageError(f"a link is for somebody: `who` has 1 to {MAX_WHO} characters")
        call = await (await self._runs()).call(execution_id, call_id)
        if call.status != "pending_approval":
            raise AlreadyDecided(call, await self._decision(call, call.asked))
        if call.question is not None and verdict == "approve":
            raise UsageError("a server asks for data, which no link can carry: answer with `--answer`")
        until = self._now() + lasts
        until = until if call.expires_at is None else min(until, call.expires_at)
        return sign(Link(execution_id, call.number, call.digest, call.asked, verdict, who, until), self._key())

    async def look(self, token: str) -> Shown:
        """What a link would decide; decides nothing. Raises LinkError, UnknownEntry, AlreadyDecided, DigestMismatch."""
        link = self._read(token)
        call = await (await self._runs()).call(link.execution_id, link.number)
        if call.digest != link.digest:
            raise DigestMismatch(f"call {link.call_id} has other arguments than those this link was made for")
        if call.status != "pending_approval" or call.asked != link.asked:
            raise AlreadyDecided(call, await self._decision(call, link.asked))
        return Shown(link, call)

    async def redeem(self, token: str, *, reason: str | None = None, go_on: bool = True) -> Outcome:
        """Decide as the link says, once; the decision that leaves nothing pending goes on with the run.

        `reason`: of a rejection, for the script. Raises LinkError, and what `approve` raises: AlreadyDecided for a link
        that was used, DigestMismatch for a call whose arguments are others.
        """
        link = self._read(token)
        return await (await self._runs()).decide(
            link.execution_id,
            link.number,
            link.verdict,
            who=link.who,
            digest=link.digest,
            reason=reason,
            asked=link.asked,
            go_on=go_on,
        )

    async def _decision(self, call: Call, asked: int) -> Decision | None:
        decisions = await (await self._runs()).decisions(call.execution_id)
        return next((each for each in decisions if (each.number, each.round) == (call.number, asked)), None)

    def _read(self, token: str) -> Link:
        return read(token_in(token), self._key(), self._now())


def key_of_links(given: Key | None, journals: Journals) -> bytes:
    """The key that was given, or one that is kept beside the journal. Raises UsageError for one that is too short."""
    if given is None:
        return kept_key(journals.folder / KEY_FILE)
    return as_key(given() if callable(given) else given)


def as_key(given: bytes | str) -> bytes:
    """A key from a secret. Raises UsageError for one that could be guessed."""
    key = given.encode() if isinstance(given, str) else given
    if len(key) < KEY_BYTES:
        raise UsageError(f"the key of approval links has at least {KEY_BYTES} bytes, and this one has {len(key)}")
    return key


__all__ = ["KEY_FILE", "LASTS", "Link", "LinkError", "Links", "Shown", "as_key", "key_of_links"]
