"""The database under the journal: one thread that writes, in groups, and a few that read.

Every operation is a function of a `Transaction`, run on the writer's thread. What waits while a commit is under way is
committed together: one transaction, one flush to the disk. Operations are committed in the order they were handed over.
An operation either counts whole or not at all: where one of a group fails after it wrote, the group is rolled back and
each is run again by itself, so operations must be functions of what they read and of nothing else.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from isolith.journal.errors import DuplicateEntry, JournalError, JournalUnavailable
from isolith.journal.transaction import Settings, Transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from isolith.journal.dialects import Dialect

T = TypeVar("T")

MAX_GROUP = 256
"""Operations in one commit."""

_ATTEMPTS = 5


@dataclass(eq=False, slots=True)
class _Job(Generic[T]):
    work: Callable[[Transaction], T]
    hard: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[T]
    value: T | None = None
    error: BaseException | None = None


class Store:
    """A database with its threads. Used from any event loop; closed once."""

    def __init__(self, dialect: Dialect, settings: Settings) -> None:
        self.dialect = dialect
        self._settings = settings
        self._jobs: queue.SimpleQueue[_Job[object] | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(dialect.readers, "isolith-journal-reader")
        self._closed = False
        self._gate = threading.Lock()
        self._writer = threading.Thread(target=self._write, name="isolith-journal-writer", daemon=True)
        self._writer.start()

    @property
    def settings(self) -> Settings:
        """What every transaction goes by."""
        return self._settings

    def write(self, work: Callable[[Transaction], T], *, hard: bool = False) -> asyncio.Future[T]:
        """Hand an operation over, at once; await the future for its commit.

        `hard`: not done before it is on the disk, with all that was committed before it. Otherwise it outlives the
        process, and may be lost with the power. Raises JournalUnavailable when the journal is closed.
        """
        loop = asyncio.get_running_loop()
        job: _Job[T] = _Job(work, hard, loop, loop.create_future())
        with self._gate:
            if self._closed:
                raise JournalUnavailable("the journal is closed")
            self._jobs.put(job)  # type: ignore[arg-type]
        return job.future

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads, in one transaction that sees one state."""
        if self._closed:
            raise JournalUnavailable("the journal is closed")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, work)

    async def compact(self) -> None:
        """Give space back where the database does not by itself. Nothing is promised."""
        await asyncio.get_running_loop().run_in_executor(self._readers, self.dialect.compact)

    async def close(self) -> None:
        """Commit what was handed over, and end the threads. Idempotent."""
        with self._gate:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        await asyncio.get_running_loop().run_in_executor(None, self._join)

    def _join(self) -> None:
        self._writer.join()
        self._readers.shutdown()
        self.dialect.dispose()

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            with self.dialect.reading() as connection:
                return work(connection)
        except self.dialect.failures as error:
            raise unavailable(error) from None

    # on the writer's thread

    def _write(self) -> None:
        open_ = True
        while open_:
            group, open_ = self._next_group()
            if group:
                self._run(group)
                _tell(group)

    def _next_group(self) -> tuple[list[_Job[object]], bool]:
        group: list[_Job[object]] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) >= MAX_GROUP or self._jobs.empty():
                return group, True
            job = self._jobs.get()
        return group, False

    def _run(self, group: list[_Job[object]]) -> None:
        if len(group) > 1 and self._together(group):
            return
        for job in group:
            job.value = job.error = None
            self._alone(job)

    def _together(self, group: list[_Job[object]]) -> bool:
        """Run and commit them as one; False when something failed before the commit, so that none counts."""
        committing = False
        try:
            with self.dialect.writing(hard=any(job.hard for job in group)) as connection:
                transaction = Transaction(connection, self.dialect, self._settings)
                for job in group:
                    self._attempt(job, transaction)
                transaction.flush()
                committing = True
        except Exception as error:  # noqa: BLE001 - each is run again, and told its own
            if committing:  # nobody knows whether it counts: to run it again might count twice
                for job in group:
                    job.error = unavailable(error)
            return committing
        return True

    def _attempt(self, job: _Job[object], transaction: Transaction) -> None:
        written = transaction.written
        try:
            job.value = job.work(transaction)
        except JournalError as error:
            if transaction.written != written:
                raise
            job.error = error  # it looked, and wrote nothing: the others need not suffer

    def _alone(self, job: _Job[object]) -> None:
        for attempt in range(_ATTEMPTS):
            committing = False
            try:
                with self.dialect.writing(hard=job.hard) as connection:
                    transaction = Transaction(connection, self.dialect, self._settings)
                    job.value = job.work(transaction)
                    transaction.flush()
                    committing = True
            except self.dialect.failures as error:
                passing = self.dialect.is_passing(error, committing=committing)
                if passing and attempt + 1 < _ATTEMPTS:
                    continue
                job.error = unavailable(error)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told to whoever waits
                job.error = error
            return


def unavailable(error: Exception) -> JournalError:
    """What the database said, without the statement and its parameters: those may hold anything."""
    said = getattr(error, "orig", None) or error
    if any(kind.__name__ == "IntegrityError" for kind in type(said).__mro__):  # so named in every driver
        return DuplicateEntry("the journal has an entry of this identity already; nothing was written")
    return JournalUnavailable(
        f"the journal's database failed: {(str(said).strip() or type(said).__name__).splitlines()[0][:300]}"
    )


def _tell(group: list[_Job[object]]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[_Job[object]]] = {}
    for job in group:
        loops.setdefault(job.loop, []).append(job)
    for loop, jobs in loops.items():
        try:
            loop.call_soon_threadsafe(_resolve, jobs)
        except RuntimeError:
            continue  # its loop is closed: nobody waits


def _resolve(jobs: list[_Job[object]]) -> None:
    for job in jobs:
        if job.future.done():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.value)
