"""What must outlive a process: executions, calls and their outcomes, decisions, snippets. In SQLite or Postgres.

    async with await Journal.open("sqlite:///journal.db") as journal:
        lease = await journal.executions.create(Order(...), owner="host/1", lasts=timedelta(seconds=30))
        (call,) = await journal.calls.start(lease, [NewCall(1, "crm", "list_contacts", "{}")])
        call = await journal.calls.end(lease, 1, "completed", outcome="[]")

SQL is written here and nowhere else.
"""

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
from isolith.journal.executions import Filter
from isolith.journal.journal import Journal
from isolith.journal.model import (
    Answer,
    Artifact,
    Call,
    Caps,
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
    NewSnippet,
    Order,
    Pass,
    Pruned,
    Retention,
    Snippet,
)
from isolith.journal.records import Verification
from isolith.journal.transaction import Settings

__all__ = [
    "AlreadyDecided",
    "Answer",
    "Artifact",
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
