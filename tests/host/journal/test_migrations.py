"""An older journal opens, a newer one is refused, and nobody migrates twice."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, MetaData, Table, inspect, text
from tests.host.journal.support import LASTS, created, engine_of, started, tampered

from isolith.errors import UsageError
from isolith.journal import Journal, JournalUnavailable, NewerJournal, schema
from isolith.journal.chain import digest_of_row
from isolith.journal.dialects import connect, keep_a_log
from isolith.journal.migrations import MIGRATIONS, migrate
from isolith.journal.queries import all_rows

pytestmark = pytest.mark.anyio

OF_VERSION_1 = (
    "INSERT INTO heads VALUES ('', 1, 'fa', 0, NULL, NULL, 0, NULL)",
    "INSERT INTO heads VALUES ('e1', 2, 'fb', 300, 'running', 'host/0', 1, 1)",
    "INSERT INTO executions VALUES ('e1', 'running', 'u1', NULL, 1, 1, NULL, NULL, NULL, NULL)",
    "INSERT INTO calls VALUES ('e1', 1, 'crm', 'add', '{}', 'd', 0, 1, 'started', NULL, NULL, 0, 0, 1, 1, NULL, NULL, NULL, NULL, 1, 0, NULL, NULL, NULL, NULL)",
)


def at_version(url: str, version: int, *statements: str) -> None:
    dialect = connect(url)
    with dialect.writing(hard=True) as connection:
        assert migrate(connection, dialect, MIGRATIONS[:version]) == version
        for statement in statements:
            connection.execute(text(statement))
    dialect.dispose()


def shape(connection: Connection) -> dict[str, object]:
    """Tables with their columns, keys and indexes."""
    look = inspect(connection)
    return {
        name: (
            sorted((c["name"], str(c["type"]), c["nullable"]) for c in look.get_columns(name)),
            look.get_pk_constraint(name)["constrained_columns"],
            sorted(str(constraint["column_names"]) for constraint in look.get_unique_constraints(name)),
            sorted(
                (str(i["name"]), str(i["column_names"]))
                for i in look.get_indexes(name)
                if not i.get("duplicates_constraint")
            ),
        )
        for name in look.get_table_names()
    }


async def test_migrated_is_what_the_tables_say(url: str) -> None:
    async with await Journal.open(url):
        pass
    with engine_of(url) as engine, engine.begin() as connection:
        migrated = shape(connection)
        for name in migrated:
            connection.execute(text(f'DROP TABLE "{name}"'))
        schema.metadata.create_all(connection)
        assert migrated == shape(connection)


async def test_an_older_journal_opens(url: str) -> None:
    at_version(url, 1, *OF_VERSION_1)
    async with await Journal.open(url) as journal:
        (execution,) = await journal.executions.find()
        assert (execution.execution_id, execution.principal) == ("e1", "u1")
        assert await journal.leases.abandoned() == ["e1"]
        lease = await journal.leases.acquire("e1", "host/1", LASTS)
        assert [call.status for call in await journal.calls.lose(lease)] == ["unknown"]
        assert (await journal.calls.arrive_late("e1", 1, "1")).late == "1"


async def test_digests_of_older_rows_stay_true(url: str) -> None:
    async with await Journal.open(url) as journal:
        await started(journal, await created(journal))
        with engine_of(url) as engine, engine.begin() as connection:
            connection.execute(text("ALTER TABLE calls ADD COLUMN later TEXT"))
            table = Table("calls", MetaData(), autoload_with=connection)
            (row,) = all_rows(connection, table.select())
        assert row["later"] is None
        changes = [change for record in await journal.records.of(row["execution_id"]) for change in record.changes()]
        assert digest_of_row(row) == changes[-1].digest


async def test_a_newer_journal_is_refused_and_left_alone(url: str) -> None:
    at_version(url, len(MIGRATIONS))
    tampered(url, "UPDATE meta SET value = '99'")
    with pytest.raises(NewerJournal, match=f"of version 99 and this Isolith knows {len(MIGRATIONS)}: upgrade"):
        await Journal.open(url)
    with engine_of(url) as engine, engine.begin() as connection:
        assert connection.execute(text("SELECT value FROM meta")).scalar_one() == "99"


async def test_a_migration_that_fails_leaves_what_was(url: str) -> None:
    at_version(url, 1)
    dialect = connect(url)
    broken = (*MIGRATIONS[:1], ("CREATE TABLE half (a INTEGER)", "ALTER TABLE no_such_table ADD COLUMN a TEXT"))

    def run() -> None:
        with dialect.writing(hard=True) as connection:
            migrate(connection, dialect, broken)

    with pytest.raises(dialect.failures):
        run()
    with dialect.writing(hard=True) as connection:
        assert migrate(connection, dialect, MIGRATIONS) == len(MIGRATIONS) - 1
    dialect.dispose()
    with engine_of(url) as engine:
        assert "half" not in inspect(engine).get_table_names()


async def test_hosts_that_open_it_at_once(url: str) -> None:
    journals = await asyncio.gather(*[Journal.open(url) for _ in range(5)])
    for journal in journals:
        await created(journal)
    assert len(await journals[0].executions.find()) == 5
    assert not (await journals[0].records.verify()).findings
    for journal in journals:
        await journal.close()


def test_one_that_is_refused_while_another_makes_the_file_asks_again(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    other, late = (sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False) for _ in range(2))
    with closing(other), closing(late):
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE new (row)")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            late.execute("PRAGMA journal_mode=WAL")
        leaves = threading.Timer(0.1, other.execute, ["COMMIT"])
        leaves.start()
        keep_a_log(late.execute)
        leaves.join()
        assert late.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def test_a_file_of_any_name(tmp_path: Path) -> None:
    path = tmp_path / "a b#c%20é?x=1" / "journal.db"
    async with await Journal.open(f"sqlite:///{path}") as journal:
        await created(journal)
    assert path.exists()


async def test_a_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "journal.db"
    async with await Journal.open(f"sqlite:///{path}") as journal:
        await created(journal)
        modes = {found.name: oct(found.stat().st_mode & 0o777) for found in path.parent.iterdir()}
        assert modes == dict.fromkeys(["journal.db", "journal.db-wal", "journal.db-shm"], "0o600")
    assert os.listdir(path.parent) == ["journal.db"]  # noqa: PTH208 - closed: the log is folded in
    path.chmod(0o644)
    async with await Journal.open(f"sqlite:///{path}"):
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("journal.db", "is none: write sqlite:///FILE"),
        ("sqlite://", "lives in a file"),
        ("sqlite:///:memory:", "lives in a file"),
        ("mysql://user:hunter2@host/db", "not in mysql"),
        ("sqlite:////dev/null", "is not a file"),
    ],
)
async def test_what_is_no_journal(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        await Journal.open(url)
    assert "hunter2" not in str(caught.value)


async def test_a_server_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(UsageError, match=r"pip install 'isolith\[postgres\]'"):
        await Journal.open("postgresql://u:hunter2@host/db")


async def test_what_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to be looked at as one " * 100)
    with pytest.raises(JournalUnavailable, match="file is not a database"):
        await Journal.open(f"sqlite:///{path}")
    with pytest.raises(JournalUnavailable):
        await Journal.open("postgresql://u:hunter2@/db?host=/nowhere")


async def test_closed_is_closed(url: str) -> None:
    journal = await Journal.open(url)
    lease = await created(journal)
    await journal.close()
    await journal.close()
    with pytest.raises(JournalUnavailable, match="closed"):
        await started(journal, lease)
    with pytest.raises(JournalUnavailable, match="closed"):
        await journal.executions.find()


BEFORE_CANCELLATIONS_WERE_CHAINED = (
    "ALTER TABLE cancellations DROP COLUMN ended_at",
    "UPDATE meta SET value = '7'",
    "INSERT INTO cancellations (execution_id, who, at) SELECT execution_id, 'ada', 1000000 FROM executions",
)


async def test_cancellations_of_an_older_journal_are_chained_when_it_is_opened(url: str) -> None:
    async with await Journal.open(url) as journal:
        name = (await created(journal)).execution_id
        gone = (await created(journal)).execution_id
    tampered(url, *BEFORE_CANCELLATIONS_WERE_CHAINED, f"DELETE FROM cancellations WHERE execution_id = '{gone}'")
    for _ in range(2):
        async with await Journal.open(url) as journal:
            assert not (await journal.records.verify()).findings
            assert await journal.cancellations.asked({name, gone}) == {name}
            found = await journal.cancellations.of(name)
            assert found is not None
            assert (found.who, found.at.timestamp(), found.ended_at) == ("ada", 1, None)
            assert [one.what for one in await journal.records.of(name)] == ["ordered", "created", "cancellation found"]
    tampered(url, "UPDATE cancellations SET who = 'eve'")
    async with await Journal.open(url) as journal:
        (finding,) = (await journal.records.verify()).findings
        assert finding.message == f"cancellations {name} was changed behind the journal's back"
        await journal.cancellations.clear(name)
