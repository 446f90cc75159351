"""What must outlive a process: executions, calls and their outcomes, decisions, snippets. In SQLite or Postgres.

    async with await Journal.open("sqlite:///journal.db") as journal:
        lease = await journal.executions.create(Order(...), owner="host/1", lasts=timedelta(seconds=30))
        (call,) = await journal.calls.start(lease, [NewCall(1, "crm", "list_contacts", "{}")])
        call = await journal.calls.end(lease, 1, "completed", outcome="[]")

SQL is written here and nowhere else.
"""

from typing import TYPE_CHECKING

from isolith.journal.errors import (
    AlreadyDecided,
    DigestMismatch,
    DuplicateEntry,
    JournalError,
    JournalUnavailable,
    Leased,
    LeaseLost,
    NewerJournal,
    TooLarge,
    UnknownEntry,
    WrongStatus,
)
from isolith.journal.limits import Caps, Pruned, Retention
from isolith.journal.model import (
    Answer,
    Artifact,
    AskedBy,
    Call,
    Decided,
    Decision,
    Delivery,
    Execution,
    Finding,
    Grant,
    Head,
    Hibernation,
    Lease,
    LogLine,
    NewCall,
    NewGrant,
    Order,
    Pass,
)
from isolith.journal.snippet_model import NewSnippet, Snippet

if TYPE_CHECKING:
    from isolith.journal.executions import Filter
    from isolith.journal.journal import Journal
    from isolith.journal.records import Verification
    from isolith.journal.transaction import Settings

__all__ = [
    "AlreadyDecided",
    "Answer",
    "Artifact",
    "AskedBy",
    "Call",
    "Caps",
    "Decided",
    "Decision",
    "Delivery",
    "DigestMismatch",
    "DuplicateEntry",
    "Execution",
    "Filter",
    "Finding",
    "Grant",
    "Head",
    "Hibernation",
    "Journal",
    "JournalError",
    "JournalUnavailable",
    "Lease",
    "LeaseLost",
    "Leased",
    "LogLine",
    "NewCall",
    "NewGrant",
    "NewSnippet",
    "NewerJournal",
    "Order",
    "Pass",
    "Pruned",
    "Retention",
    "Settings",
    "Snippet",
    "TooLarge",
    "UnknownEntry",
    "Verification",
    "WrongStatus",
]

_LATER = {
    "Filter": "isolith.journal.executions",
    "Journal": "isolith.journal.journal",
    "Settings": "isolith.journal.transaction",
    "Verification": "isolith.journal.records",
}
"""What is loaded when it is first named: the database toolkit behind it takes a third of a second."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _LATER:
            raise AttributeError(f"module 'isolith.journal' has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - for these alone

        return getattr(import_module(_LATER[name]), name)
