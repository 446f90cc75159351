"""Every chained table, attacked in every way that there is: what somebody did behind the journal's back is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from sqlalchemy import Connection, Table, select
from tests.host.journal.support import LASTS, Clock, asked, created, engine_of
from tests.host.journal.test_records import CHAINED, filled

from isolith.journal import Answer, Journal, schema
from isolith.journal.door_tables import events
from isolith.journal.events import Told
from isolith.journal.executions import STANDS
from isolith.journal.queries import Row, all_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith.journal.statuses import ExecutionStatus

pytestmark = pytest.mark.anyio


def key_of(table: Table, row: Row) -> Row:
    return {column.name: row[column.name] for column in table.primary_key.columns}


def at(table: Table, key: Row) -> list[object]:
    return [table.c[name] == value for name, value in key.items()]


def changed(connection: Connection, table: Table) -> None:
    """One value of the last row."""
    row = rows_of(connection, table)[-1]
    name = next(name for name, value in row.items() if isinstance(value, int) and name not in key_of(table, row))
    done = connection.execute(table.update().where(*at(table, key_of(table, row))).values({name: row[name] + 1}))  # type: ignore[arg-type]
    assert done.rowcount == 1


def deleted(connection: Connection, table: Table) -> None:
    """The last row."""
    row = rows_of(connection, table)[-1]
    assert connection.execute(table.delete().where(*at(table, key_of(table, row)))).rowcount == 1  # type: ignore[arg-type]


def inserted(connection: Connection, table: Table) -> None:
    """A copy of the last row under another key."""
    row = dict(rows_of(connection, table)[-1])
    name = [*key_of(table, row)][-1]
    row[name] = row[name] + 7 if isinstance(row[name], int) else f"{row[name]}-2"
    if table is schema.calls:
        row["occurrence"] += 7
    connection.execute(table.insert(), row)


def reordered(connection: Connection, table: Table) -> None:
    """What two rows say, the one in the place of the other."""
    *others, last = rows_of(connection, table)
    first = next(row for row in others if row.get("number") == last.get("number"))
    keys = key_of(table, first), key_of(table, last)
    swapped = {**last, **keys[0]}, {**first, **keys[1]}
    assert swapped != (first, last)
    for key in keys:
        connection.execute(table.delete().where(*at(table, key)))  # type: ignore[arg-type]
    connection.execute(table.insert(), [*swapped])


def cut_off(connection: Connection, table: Table) -> None:
    """The last row, the record that wrote it and all that follow, with the head set back to the one before."""
    row = rows_of(connection, table)[-1]
    records, heads = schema.records, schema.heads
    stream = row["execution_id"] if table in schema.OF_AN_EXECUTION else ""
    chain = all_rows(connection, select(records).where(records.c.stream == stream).order_by(records.c.seq))
    named = f'["{table.name}",{",".join(f"{chr(34)}{value}{chr(34)}" for value in key_of(table, row).values())}]'
    wrote = next(record for record in chain if named in record["body"])
    deleted(connection, table)
    connection.execute(records.delete().where(records.c.stream == stream, records.c.seq >= wrote["seq"]))
    back = {"seq": wrote["seq"] - 1, "hash": wrote["previous"]}
    connection.execute(heads.update().where(heads.c.stream == stream).values(back))


def rows_of(connection: Connection, table: Table) -> list[Row]:
    """In the order of what is made first: of executions, the other columns tell."""
    rows = all_rows(connection, select(table))
    return sorted(rows, key=lambda row: [str(row.get(name)) for name in ("at", "created_at", "started_at", "number")])


ATTACKS: list[Callable[[Connection, Table], None]] = [changed, deleted, inserted, reordered, cut_off]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("table", CHAINED, ids=lambda table: table.name)
async def test_it_is_found_in_every_table(
    journal: Journal, url: str, clock: Clock, table: Table, attack: Callable[[Connection, Table], None]
) -> None:
    for script in ("1", "2"):
        lease = await filled(journal, script)
        await journal.executions.move(lease, "completed")
        clock.advance(minutes=1)
    kept = (await journal.records.verify()).head
    assert not (await journal.records.verify(heads=[kept])).findings
    with engine_of(url) as engine, engine.begin() as connection:
        attack(connection, table)
    assert (await journal.records.verify(heads=[kept])).findings
    if table in schema.OF_AN_EXECUTION or attack is not cut_off:
        assert (await journal.records.verify()).findings  # nor is a head needed that was kept elsewhere


def told_otherwise(connection: Connection, seq: int) -> None:
    connection.execute(events.update().where(events.c.seq == seq).values(body='{"message": "nothing was paid"}'))


def told_no_more(connection: Connection, seq: int) -> None:
    connection.execute(events.delete().where(events.c.seq == seq))


def told_as_well(connection: Connection, seq: int) -> None:
    """Another in its place, and all that follow one later."""
    rows = [row for row in all_rows(connection, select(events)) if row["seq"] >= seq]
    connection.execute(events.delete().where(events.c.seq >= seq))
    connection.execute(events.insert(), [rows[0], *[{**row, "seq": row["seq"] + 1} for row in rows]])


@pytest.mark.parametrize("attack", [told_otherwise, told_no_more, told_as_well], ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("seq", range(1, 8))
async def test_what_was_told_by_a_pause_or_an_end_is_not_told_otherwise(
    journal: Journal, url: str, clock: Clock, attack: Callable[[Connection, int], None], seq: int
) -> None:
    lease = await created(journal)
    execution_id = lease.execution_id
    await journal.events.append(execution_id, [Told("log", clock.now, '{"message": "a"}')], lease.fence)
    call = await asked(journal, lease, 1)
    await journal.executions.move(lease, "paused")
    await journal.approvals.decide(Answer(execution_id, 1, call.digest, "approve", "bob"))
    lease = await journal.leases.acquire(execution_id, "host/2", LASTS)
    await journal.executions.move(lease, "running")
    await journal.calls.begin(lease, 1)
    await journal.calls.end(lease, 1, "completed", outcome="1")
    await journal.events.append(execution_id, [Told("log", clock.now, '{"message": "b"}')], lease.fence)
    await journal.executions.move(lease, "completed")
    told = [event.name for event in await journal.events.after(execution_id, 0)]
    assert told == ["status", "log", "outcome", "decided", "status", "log", "outcome"]
    assert not (await journal.records.verify()).findings
    with engine_of(url) as engine, engine.begin() as connection:
        attack(connection, seq)
    messages = [found.message for found in (await journal.records.verify()).findings]
    more = attack is told_as_well  # where it copies the last of a part, that part is as it was
    wrong = {"1 to 3": seq < 3 if more else seq <= 3, "4 to 7": seq < 7 if more else seq > 3}
    assert messages == [f"events {part} are not as they were told" for part, is_so in wrong.items() if is_so]


async def test_what_is_told_after_the_last_end_is_in_no_chain_yet(journal: Journal, clock: Clock) -> None:
    lease = await created(journal)
    await journal.executions.move(lease, "completed")
    await journal.events.append(lease.execution_id, [Told("log", clock.now, "{}")], lease.fence)
    assert not (await journal.records.verify()).findings


def of_stream(connection: Connection, stream: str) -> dict[Table, list[Row]]:
    """All rows of an execution: in the tables, its chain, and its head."""
    columns = {table: table.c.execution_id for table in schema.OF_AN_EXECUTION}
    columns |= {table: table.c.stream for table in (schema.records, schema.heads)}
    return {table: all_rows(connection, select(table).where(column == stream)) for table, column in columns.items()}


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled", "paused", "rolled_back"])
async def test_an_execution_is_not_set_back_to_what_it_was(journal: Journal, url: str, end: str) -> None:
    """Everything of it exactly as it once was, which no record of its own contradicts: the journal's own chain does."""
    lease = await filled(journal)
    if end == "paused":
        await journal.calls.begin(lease, 1)
        await asked(journal, lease, 3)
    if end == "rolled_back":
        await journal.executions.move(lease, "completed")
        lease = await journal.leases.acquire(lease.execution_id, "host/2", LASTS)
    with engine_of(url) as engine, engine.begin() as connection:
        before = of_stream(connection, lease.execution_id)
    if end == "rolled_back":
        await journal.executions.roll_back(lease, "done")
    else:
        await journal.executions.move(lease, cast("ExecutionStatus", end))
    assert not (await journal.records.verify()).findings
    with engine_of(url) as engine, engine.begin() as connection:
        for table, rows in of_stream(connection, lease.execution_id).items():
            for row in rows:
                connection.execute(table.delete().where(*at(table, key_of(table, row))))  # type: ignore[arg-type]
            if before[table]:
                connection.execute(table.insert(), before[table])
    messages = {found.message for found in (await journal.records.verify()).findings}
    assert messages == {"the record is missing: its hash was noted elsewhere"}


async def test_where_an_execution_stood_is_in_the_journal_s_own_chain(journal: Journal) -> None:
    lease = await filled(journal)
    await journal.executions.move(lease, "completed")
    head = await journal.records.head(lease.execution_id)
    last = (await journal.records.of())[-1]
    assert last.what == "execution completed"
    assert [(change.row, change.digest) for change in last.changes()] == [
        ((STANDS, lease.execution_id), f"{head.seq}:{head.hash}")
    ]
    lease = await journal.leases.acquire(lease.execution_id, "host/2", LASTS)
    await journal.executions.roll_back(lease, "under_way")
    assert not (await journal.records.verify()).findings  # it may go on from there
