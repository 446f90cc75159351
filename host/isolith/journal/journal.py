"""The journal: everything that must outlive a process, in one database."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from isolith.journal import chain, schema
from isolith.journal.approvals import Approvals
from isolith.journal.calls import Calls
from isolith.journal.cancellations import Cancellations, adopt
from isolith.journal.contents import Artifacts, Hibernations
from isolith.journal.dialects import Dialect, connect
from isolith.journal.events import Events
from isolith.journal.executions import Executions
from isolith.journal.export import lines
from isolith.journal.grants import Grants
from isolith.journal.leases import Leases
from isolith.journal.limits import Pruned, Retention
from isolith.journal.migrations import CANCELLATIONS_CHAINED, MIGRATIONS, migrate
from isolith.journal.records import Records
from isolith.journal.requests import Requests
from isolith.journal.retention import prune
from isolith.journal.snippets import Snippets
from isolith.journal.store import Store, unavailable
from isolith.journal.story import Story
from isolith.journal.tokens import Tokens
from isolith.journal.transaction import JOURNAL, Settings, Transaction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from types import TracebackType

    from sqlalchemy import Connection


class Journal:
    """One journal, in parts by what they keep. Open it once in a process, share it, close it.

    Every method is one transaction. What it returned is committed: it outlives the process. See `dialects` for what
    outlives the power.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.executions = Executions(store)
        self.leases = Leases(store)
        self.calls = Calls(store)
        self.approvals = Approvals(store)
        self.grants = Grants(store)
        self.story = Story(store)
        self.artifacts = Artifacts(store)
        self.hibernations = Hibernations(store)
        self.snippets = Snippets(store)
        self.records = Records(store)
        self.events = Events(store)
        self.cancellations = Cancellations(store)
        self.requests = Requests(store)
        self.tokens = Tokens(store)

    @classmethod
    async def open(cls, url: str, settings: Settings | None = None) -> Self:
        """Open or make the journal at `sqlite:///FILE` or `postgresql://…`, and migrate it to this version.

        Raises UsageError for a URL that is none, NewerJournal, JournalUnavailable.
        """
        settings = settings or Settings()
        dialect = await asyncio.get_running_loop().run_in_executor(None, _open, url, settings)
        return cls(Store(dialect, settings))

    async def prune(self, retention: Retention | None = None) -> Pruned:
        """Delete what is past the retention. Call it now and then; several hosts may."""
        return await prune(self.store, retention or Retention())

    def export(self, execution_ids: Sequence[str] | None = None, *, contents: bool = False) -> AsyncIterator[str]:
        """JSON lines of these executions, or of all; see `isolith.journal.export`. Raises UnknownEntry."""
        return lines(self.store, execution_ids, contents=contents)

    async def close(self) -> None:
        """Commit what was handed over, and let the database go. Idempotent."""
        await self.store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()


def _open(url: str, settings: Settings) -> Dialect:
    dialect = connect(url)
    try:
        with dialect.writing(hard=True) as connection:
            version = len(MIGRATIONS) - migrate(connection, dialect)
            _begin_chain(connection)
            if version < CANCELLATIONS_CHAINED:
                transaction = Transaction(connection, dialect, settings)
                adopt(transaction)
                transaction.flush()
    except dialect.failures as error:
        dialect.dispose()
        raise unavailable(error) from None
    except BaseException:
        dialect.dispose()
        raise
    return dialect


def _begin_chain(connection: Connection) -> None:
    """The journal's own chain, in a journal that has none yet."""
    heads = schema.heads
    if connection.execute(heads.select().where(heads.c.stream == JOURNAL)).one_or_none() is None:
        head = {"stream": JOURNAL, "seq": 0, "hash": chain.START, "bytes": 0, "fence": 0}
        connection.execute(heads.insert(), head)
