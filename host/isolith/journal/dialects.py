"""The two databases, and all that differs between them.

What is promised (see host/README.md): what was committed outlives the process, always. A `hard` commit also outlives
the power, with all that was committed before it.

| | SQLite | Postgres |
|---|---|---|
| soft commit | WAL, `synchronous=NORMAL`: no flush | `synchronous_commit=off` |
| hard commit | `synchronous=FULL`: the log is flushed | `synchronous_commit=on` |
| one writer at a time | `BEGIN IMMEDIATE` | the row of the execution in `heads`, `FOR UPDATE` |
| time | the machine's clock | the server's clock, one for all hosts |
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sqlite3
import stat
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from isolith.errors import UsageError
from isolith.journal.errors import JournalError
from isolith.journal.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection

_BUSY_MS = 30_000
_AGAIN_S = 0.01
_PASSING = {"40001", "40P01", "55P03"}
"""Postgres: serialization failure, deadlock, lock not available. The transaction may be tried again."""

_LOST = ("08", "57P")
"""Postgres: connection exceptions, and a server that goes down."""

_MIGRATION_LOCK = 0x1501_174A
"""Any number, the same in every Isolith."""


class Dialect(Protocol):
    """What the rest of the journal asks of a database."""

    readers: int
    blob: str
    """Its type for bytes, in the migrations."""
    statements: Statements
    failures: tuple[type[Exception], ...]
    """What it raises when it cannot."""

    def writing(self, *, hard: bool) -> AbstractContextManager[Connection]:
        """A transaction that writes; committed at the end of the block."""
        ...

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of the database."""
        ...

    def now(self, connection: Connection) -> int:
        """Microseconds since the epoch, by the clock that all who share the database share."""
        ...

    def lock_for_migration(self, connection: Connection) -> None:
        """Wait until nobody else migrates; held to the end of the transaction."""
        ...

    def is_passing(self, error: Exception, *, committing: bool) -> bool:
        """Whether the same transaction may succeed when it is tried again, and certainly did not succeed before."""
        ...

    def compact(self) -> None:
        """Give space back to the disk, or try."""
        ...

    def dispose(self) -> None:
        """Close the connections."""
        ...


def keep_a_log(execute: Callable[[str], object]) -> None:
    """WAL mode. Of two that switch a new file at once SQLite refuses one without waiting, which then finds it done."""
    until = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_AGAIN_S)
        else:
            return


class SQLite:
    """One file in WAL mode, on a disk of this machine (no network's); several processes may share it."""

    readers = 2
    blob = "BLOB"

    def __init__(self, path: Path) -> None:
        _make_private(path)
        self._engine = create_engine(
            URL.create("sqlite", database=str(path)), poolclass=QueuePool, pool_size=self.readers + 1
        )
        event.listen(self._engine, "connect", self._prepare)
        event.listen(self._engine, "begin", self._begin)
        self._writer = _Writer(self._engine, sqlite_begin="IMMEDIATE")
        self.statements = Statements(SQLiteDialect_pysqlite(paramstyle="named"))
        self.failures: tuple[type[Exception], ...] = (SQLAlchemyError, sqlite3.Error)

    @staticmethod
    def _prepare(connection: DBAPIConnection, _record: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
        keep_a_log(cursor.execute)
        for pragma in (f"busy_timeout={_BUSY_MS}", "synchronous=NORMAL", "trusted_schema=OFF"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @staticmethod
    def _begin(connection: Connection) -> None:
        mode = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")

    @contextmanager
    def writing(self, *, hard: bool) -> Generator[Connection]:
        """The flush is a setting of the connection, and can only be changed outside of a transaction."""
        connection = self._writer.connection()
        raw = connection.connection.dbapi_connection
        if raw is not None and connection.info.get("hard") is not hard:
            raw.cursor().execute(f"PRAGMA synchronous={'FULL' if hard else 'NORMAL'}")
            connection.info["hard"] = hard
        with self._writer.transaction(connection):
            yield connection

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """WAL: readers see the state at their first read, and wait for nobody."""
        with self._engine.connect() as connection, connection.begin():
            yield connection

    def now(self, connection: Connection) -> int:  # noqa: ARG002 - the other database has a clock
        """All processes are on this machine."""
        return time.time_ns() // 1000

    def lock_for_migration(self, connection: Connection) -> None:
        """`BEGIN IMMEDIATE` is that already."""

    def is_passing(self, error: Exception, *, committing: bool) -> bool:  # noqa: ARG002 - it waited `_BUSY_MS` itself
        """Never."""
        return False

    def compact(self) -> None:
        """Free pages go back in the next transaction; while somebody writes, another time."""
        with contextlib.suppress(SQLAlchemyError), self._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA incremental_vacuum").all()
            connection.commit()

    def dispose(self) -> None:
        """Close the connections; the last one folds the log into the file."""
        self._writer.close()
        self._engine.dispose()


class Postgres:
    """A server that several hosts may share. Needs the extra `isolith[postgres]`."""

    readers = 4
    blob = "BYTEA"

    def __init__(self, url: URL) -> None:
        self._engine: Engine = create_engine(
            url,
            pool_size=self.readers + 1,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "application_name": "isolith"},
        )
        self._writer = _Writer(self._engine)
        self.statements = Statements(self._engine.dialect)
        self.failures: tuple[type[Exception], ...] = (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error)

    @contextmanager
    def writing(self, *, hard: bool) -> Generator[Connection]:
        """READ COMMITTED: what matters is locked by the row in `heads`."""
        connection = self._writer.connection()
        with self._writer.transaction(connection):
            if not hard:
                connection.execute(_SOFT)
            yield connection

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """REPEATABLE READ, so that an export or a check sees one state."""
        connecting = self._engine.connect().execution_options(isolation_level="REPEATABLE READ")
        with connecting as connection, connection.begin():
            yield connection

    def now(self, connection: Connection) -> int:
        """The server's clock: leases of hosts whose clocks differ are compared by it."""
        return int(connection.execute(_NOW).scalar_one())

    def lock_for_migration(self, connection: Connection) -> None:
        """An advisory lock: there may be no table to lock yet."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

    def is_passing(self, error: Exception, *, committing: bool) -> bool:
        """Deadlocks between groups that lock several executions; and a connection that was lost before the commit."""
        said = getattr(error, "orig", None) or error
        state: str | None = getattr(said, "sqlstate", None)
        if state in _PASSING:
            return True
        lost = state is None or state.startswith(_LOST)
        return lost and not committing and isinstance(said, self._engine.dialect.loaded_dbapi.OperationalError)

    def compact(self) -> None:
        """The server does it."""

    def dispose(self) -> None:
        """Close the connections."""
        self._writer.close()
        self._engine.dispose()


class _Writer:
    """The one connection that writes, kept open; after a failure the next write gets a new one."""

    def __init__(self, engine: Engine, **options: object) -> None:
        self._engine = engine
        self._options = options
        self._open: Connection | None = None

    def connection(self) -> Connection:
        if self._open is None:
            self._open = self._engine.connect().execution_options(**self._options)
        return self._open

    @contextmanager
    def transaction(self, connection: Connection) -> Generator[None]:
        try:
            with connection.begin():
                yield
        except JournalError:
            raise  # of ours, and rolled back
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._open is not None:
            opened, self._open = self._open, None
            with contextlib.suppress(SQLAlchemyError):  # it is of no use any more
                opened.invalidate()
                opened.close()


_SOFT = text("SET LOCAL synchronous_commit = off")
_NOW = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")


def connect(url: str) -> Dialect:
    """The database that a URL names: `sqlite:///relative.db`, `sqlite:////absolute.db`, `postgresql://…`.

    A file's name is taken as it is written. Raises UsageError, without the URL's password, for any other.
    """
    file = url.removeprefix("sqlite:///")
    if file not in {url, "", ":memory:"}:
        return SQLite(Path(file))
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageError("the journal's URL is none: write sqlite:///FILE or postgresql://USER@HOST/DATABASE") from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        raise UsageError("a journal lives in a file, so that it outlives the process: write sqlite:///FILE")
    if backend in ("postgresql", "postgres"):
        return _postgres(parsed)
    raise UsageError(f"a journal is kept in SQLite or Postgres, not in {backend}")


def _postgres(url: URL) -> Postgres:
    if importlib.util.find_spec("psycopg") is None:
        raise UsageError("a journal in Postgres needs `pip install 'isolith[postgres]'`")
    return Postgres(url.set(drivername="postgresql+psycopg"))


def _make_private(path: Path) -> None:
    """Scripts, arguments and outcomes are in it: for nobody but the user. The log files take the file's mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except IsADirectoryError:
        raise UsageError(f"the journal `{path}` cannot be opened: it is a directory") from None
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"the journal `{path}` cannot be opened: what it is in is no directory") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the journal `{path}` cannot be opened: {reason}") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise UsageError(f"the journal {path} is not a file")
        if mode & 0o077 and os.name == "posix":
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
