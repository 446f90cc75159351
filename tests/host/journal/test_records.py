"""The chain: whatever is changed behind the journal's back is found."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from sqlalchemy import Connection, Table, inspect, select
from tests.host.journal.support import asked, created, engine_of, started, tampered

from isolith.journal import (
    Answer,
    Delivery,
    Head,
    Journal,
    Lease,
    LogLine,
    NewGrant,
    NewSnippet,
    Retention,
    Settings,
    schema,
)
from isolith.journal.queries import Row, all_rows
from isolith.journal.tokens import NewToken

pytestmark = pytest.mark.anyio

CHAINED = [*schema.OF_AN_EXECUTION, *schema.OF_NONE]
COLUMNS = [(table, column.name) for table in [*CHAINED, schema.records] for column in table.columns]


async def filled(journal: Journal, script: str = "1 + 1") -> Lease:
    """A journal with at least one row in every table."""
    await journal.snippets.propose(NewSnippet("s", "d", "1", "{}", "{}", "3", "ann"))
    await journal.grants.give(NewGrant("mail", "*", "ann", 1, timedelta(hours=1)))
    await journal.tokens.add(NewToken(uuid.uuid4().hex, "ab", "ann", ("execute",), "ann"))
    lease = await created(journal, principal="u1", script=script)
    await journal.story.begin_pass(lease, "start")
    call = await asked(journal, lease, 1)
    await journal.approvals.decide(Answer(lease.execution_id, 1, call.digest, "approve", "bob", reason="fine"))
    await started(journal, lease, 2)
    await journal.calls.end(lease, 2, "completed", outcome='"done"')
    await journal.story.deliver(lease, Delivery(1, 1, (2,), "[]"))
    await journal.story.log(lease, [LogLine(1, 1, "info", "hello")])
    await journal.artifacts.keep(lease, b"content", mime="text/plain")
    await journal.hibernations.put(lease, b"blob", image_digest="i", pass_number=1)
    await journal.cancellations.ask(lease.execution_id, "eve")
    return lease


async def test_what_nobody_touched_is_whole(journal: Journal, other: Journal) -> None:
    leases = [await filled(journal) for _ in range(2)]
    found = await other.records.verify()
    assert (found.findings, found.executions) == ((), 2)
    assert found.records == sum(
        [len(await other.records.of(stream)) for stream in ("", *[lease.execution_id for lease in leases])]
    )
    assert found.head == await other.records.head()
    one = await other.records.verify(leases[0].execution_id)
    assert (one.findings, one.executions) == ((), 1)


def another(value: object, kind: type) -> object:
    """A value that is not this one."""
    if kind is int:
        return value + 100 if isinstance(value, int) else 7
    return b"other" if kind is bytes else "other"


async def test_any_value_that_is_changed_is_found(journal: Journal, url: str) -> None:
    """Column by column: a change is found; undone, all is whole again."""
    await filled(journal)
    with engine_of(url) as engine:
        for table, column in COLUMNS:
            with engine.begin() as connection:
                query = select(table).order_by(*table.primary_key.columns).limit(1)
                row = all_rows(connection, query)[0]
                new = {**row, column: another(row[column], table.c[column].type.python_type)}
                replace_row(connection, table, row, new)
            assert (await journal.records.verify()).findings, f"{table.name}.{column}"
            with engine.begin() as connection:
                replace_row(connection, table, new, row)
    assert not (await journal.records.verify()).findings


def replace_row(connection: Connection, table: Table, old: Row, new: Row) -> None:
    key = [column == old[column.name] for column in table.primary_key.columns]
    assert connection.execute(table.update().where(*key).values(new)).rowcount == 1


ATTACKS = {
    "a head deleted": "DELETE FROM heads",
    "the end of a chain cut off": "DELETE FROM records WHERE seq = (SELECT max(seq) FROM records WHERE stream <> '') AND stream <> ''",
    "a link taken out": "DELETE FROM records WHERE seq = 3 AND stream <> ''",
    "a chain begun later": "DELETE FROM records WHERE seq = 1",
    "the head moved back": "UPDATE heads SET seq = seq - 1",
    "the status in the head changed": "UPDATE heads SET status = 'completed' WHERE stream <> ''",
    "a record that says nothing": "UPDATE records SET body = 'x' WHERE seq = 2",
    "a record that says otherwise": 'UPDATE records SET body = \'[[["calls","a","1"],"b"]]\' WHERE seq = 2',
    "a decision made up": "INSERT INTO decisions SELECT execution_id, number + 5, round, digest, verdict, who, at, arguments, reason, grant_id, spent_at, policy FROM decisions",
    "a token made up": "INSERT INTO tokens SELECT 'x', digest, principal, scopes, made_by, created_at, expires_at, revoked_at, revoked_by FROM tokens",
    "a grant made up": "INSERT INTO grants SELECT 'x', connector, method, who, principal, execution_id, reason, uses_left, created_at, expires_at, revoked_by FROM grants",
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_attacks_are_found(journal: Journal, url: str, attack: str) -> None:
    await filled(journal)
    tampered(url, ATTACKS[attack])
    assert (await journal.records.verify()).findings


@pytest.mark.parametrize("table", [table.name for table in CHAINED])
async def test_rows_that_are_deleted_are_missed(journal: Journal, url: str, table: str) -> None:
    await filled(journal)
    tampered(url, f"DELETE FROM {table}")
    findings = (await journal.records.verify()).findings
    assert any(table in finding.message and "deleted behind" in finding.message for finding in findings)


async def test_an_execution_that_goes_whole_is_missed(journal: Journal, url: str) -> None:
    lease = await filled(journal)
    streams = [f"DELETE FROM {table} WHERE stream = '{lease.execution_id}'" for table in ("records", "heads")]
    rows = [f"DELETE FROM {table.name} WHERE execution_id = '{lease.execution_id}'" for table in schema.OF_AN_EXECUTION]
    tampered(url, *streams, *rows)
    (finding,) = (await journal.records.verify()).findings
    assert finding.message == f"execution {lease.execution_id} was deleted behind the journal's back"


async def test_an_execution_that_is_copied_in_is_found(journal: Journal, url: str) -> None:
    lease = await filled(journal)
    new = f"UPDATE {{}} SET {{}} = 'forged' WHERE {{}} = '{lease.execution_id}'"
    tampered(
        url,
        *[new.format(table.name, "execution_id", "execution_id") for table in schema.OF_AN_EXECUTION],
        *[new.format(table, "stream", "stream") for table in ("records", "heads")],
    )
    messages = {finding.message for finding in (await journal.records.verify()).findings}
    assert "execution forged is there, and no record wrote it" in messages
    assert f"execution {lease.execution_id} was deleted behind the journal's back" in messages


async def test_a_chain_written_anew_is_found_by_a_head_kept_elsewhere(journal: Journal, url: str) -> None:
    """Without a key whoever writes the database can write a chain that is right in itself: here, by the journal."""
    lease = await filled(journal)
    kept = [await journal.records.head(), await journal.records.head(lease.execution_id)]
    assert not (await journal.records.verify(heads=kept)).findings
    await journal.close()
    with engine_of(url) as engine:
        names = inspect(engine).get_table_names()
    tampered(url, *[f"DROP TABLE {name}" for name in names])
    async with await Journal.open(url) as anew:
        await filled(anew)
        await filled(anew)
        assert not (await anew.records.verify()).findings
        findings = (await anew.records.verify(heads=kept[:1])).findings
        assert [finding.seq for finding in findings] == [kept[0].seq]
        assert "written anew" in findings[0].message or "missing" in findings[0].message
        beyond = Head("", 1000, "0" * 64)
        assert "missing" in (await anew.records.verify(heads=[beyond])).findings[0].message


async def test_without_the_key_no_chain_can_be_written(url: str) -> None:
    async with await Journal.open(url, Settings(key=b"k" * 32)) as journal:
        lease = await filled(journal)
        assert not (await journal.records.verify()).findings
    async with await Journal.open(url, Settings(key=b"forger")) as forger:
        await forger.snippets.propose(NewSnippet("s", "d", "1", "{}", "{}", "3", "eve"))
    async with await Journal.open(url, Settings(key=b"k" * 32)) as journal:
        findings = (await journal.records.verify()).findings
        assert [finding.message for finding in findings] == ["the record was changed, or written with another key"]
        assert not [finding for finding in findings if finding.stream == lease.execution_id]
        assert "k" * 32 not in repr(Settings(key=b"k" * 32))


async def test_what_retention_deletes_is_no_tampering(journal: Journal) -> None:
    lease = await filled(journal)
    before = await journal.records.head()
    await journal.executions.move(lease, "completed")
    await journal.prune(Retention(count=0))
    found = await journal.records.verify(heads=[before])
    assert (found.findings, found.executions) == ((), 0)


async def test_each_record_says_what_was_done(journal: Journal) -> None:
    lease = await filled(journal)
    assert [record.what for record in await journal.records.of(lease.execution_id)] == [
        "ordered",
        "created",
        "pass start",
        "call asked about",
        "decision approve",
        "call approved",
        "calls started",
        "call completed",
        "delivered",
        "logged",
        "artifact kept",
        "hibernated",
        "cancellation asked for",
    ]
