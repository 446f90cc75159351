"""A token that somebody sends, judged against the journal: for the MCP SDK and for the HTTP API the same."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcp.server.auth.provider import AccessToken

from isolith.journal.errors import JournalError
from isolith.tokens.access import SCOPES, Access, as_scopes
from isolith.tokens.secret import read

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from isolith.journal.journal import Journal
    from isolith.journal.tokens import Token


class JournalVerifier:
    """A `TokenVerifier` of the SDK over the tokens of a journal. A revocation counts with the next request."""

    def __init__(self, journal: Callable[[], Awaitable[Journal]]) -> None:
        self._journal = journal
        self._noting: set[asyncio.Task[None]] = set()

    async def verify_token(self, token: str) -> AccessToken | None:
        """For whom and for what it is good now; None where it opens nothing. Raises JournalUnavailable."""
        secret = read(token)
        if secret is None:
            return None
        journal = await self._journal()
        kept = await journal.tokens.get(secret.token_id)
        # One that is not there takes as long as one that does not fit.
        fits = secret.fits(kept.digest if kept is not None else secret.secret)
        if kept is None or not fits or not _good(kept, datetime.now(UTC)):
            return None
        access = Access(kept.principal, frozenset(as_scopes(kept.scopes)))
        noting = asyncio.create_task(_note(journal, kept.token_id))
        self._noting.add(noting)
        noting.add_done_callback(self._noting.discard)
        return AccessToken(
            token=kept.token_id,  # not the secret: whoever logs or keeps this must not have it
            client_id=kept.principal,
            subject=kept.principal,
            scopes=sorted(scope for scope in SCOPES if access.may(scope)),  # the SDK knows nothing of `admin`
            expires_at=None if kept.expires_at is None else int(kept.expires_at.timestamp()),
        )


def access_of(token: AccessToken) -> Access:
    """What a verified token may do. Scopes of others are nothing here."""
    return Access(token.subject or token.client_id, frozenset(scope for scope in SCOPES if scope in token.scopes))


def _good(token: Token, now: datetime) -> bool:
    return token.revoked_at is None and (token.expires_at is None or now < token.expires_at)


async def _note(journal: Journal, token_id: str) -> None:
    """When it was used last is for people; a request does not fail for want of it."""
    with contextlib.suppress(JournalError):
        await journal.tokens.used(token_id)
