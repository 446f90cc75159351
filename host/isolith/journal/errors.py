"""What the journal raises. Each message says what is, so that whoever lost a race can tell a person.

IsolithError
└── JournalError
    ├── JournalUnavailable    the database cannot be reached, is locked or full
    ├── NewerJournal          written by a newer Isolith
    ├── UnknownEntry          no such execution, call, artifact, snippet or grant
    ├── DuplicateEntry        an entry of this identity is there already
    ├── TooLarge              past a cap; nothing was written
    ├── Leased                somebody else works on the execution
    ├── LeaseLost             somebody else took the execution over: stop working on it
    ├── WrongStatus           not a move of the table; carries the status that is
    ├── AlreadyDecided        somebody was first; carries their decision
    └── DigestMismatch        the answer was about other arguments
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith.errors import IsolithError

if TYPE_CHECKING:
    from datetime import datetime

    from isolith.journal.model import Call, Decision


class JournalError(IsolithError):
    """The base of what the journal raises."""


class JournalUnavailable(JournalError):
    """The database cannot be reached, is locked or full. Nothing of the operation counts, unless it was the commit."""


class NewerJournal(JournalError):
    """The journal was written by a newer Isolith."""


class UnknownEntry(JournalError):
    """There is no such entry, or no longer."""


class DuplicateEntry(JournalError):
    """An entry of this identity is there already; nothing was written."""


class TooLarge(JournalError):
    """Larger than the journal's cap; nothing was written."""


class Leased(JournalError):
    """Somebody else works on the execution until `until`, or longer."""

    def __init__(self, execution_id: str, owner: str, until: datetime) -> None:
        super().__init__(f"execution {execution_id} is being worked on by {owner} (lease until {until:%H:%M:%S} UTC)")
        self.owner, self.until = owner, until


class LeaseLost(JournalError):
    """Another host took the execution over, or it was let go: stop working on it, and write nothing more."""


class WrongStatus(JournalError):
    """The status does not allow it; `status` is what it is."""

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message)
        self.status = status


class AlreadyDecided(JournalError):
    """The call is no longer pending: `call` as it is now, `decision` that was first (None where none was needed)."""

    def __init__(self, call: Call, decision: Decision | None) -> None:
        if decision is None:
            message = f"call {call.number} of {call.execution_id} is not waiting for a decision: it is {call.status}"
        else:
            past = {"approve": "approved", "reject": "rejected", "expire": "expired"}[decision.verdict]
            message = (
                f"call {call.number} of {call.execution_id} was already {past} by {decision.who} "
                f"at {decision.at:%Y-%m-%d %H:%M:%S} UTC; it is {call.status} now"
            )
        super().__init__(message)
        self.call, self.decision = call, decision


class DigestMismatch(JournalError):
    """The answer names another digest than the pending call has: look again at what is pending."""
