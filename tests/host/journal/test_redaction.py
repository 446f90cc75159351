"""A secret that the host knows is nowhere in the database, whatever way it came."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import inspect, select
from tests.host.journal.support import LASTS, engine_of

from isolith.journal import (
    Answer,
    Caps,
    Delivery,
    Journal,
    LogLine,
    NewCall,
    NewGrant,
    NewSnippet,
    Order,
    Settings,
    schema,
)
from isolith.journal.digests import digest_of_call
from isolith.journal.events import Told
from isolith.journal.tokens import NewToken

pytestmark = pytest.mark.anyio

CANARY = "sk-canary-7f3a"
TEXT = f'"Bearer {CANARY}"'


def redact(text: str) -> str:
    return text.replace(CANARY, "[secret]")


async def test_no_way_leads_in(url: str) -> None:
    settings = Settings(Caps(inline=100), redact)
    async with await Journal.open(url, settings) as journal:
        order = Order("e1", f"x = {TEXT}", TEXT, origin=TEXT)
        lease = await journal.executions.create(order, "host/1", LASTS)
        await journal.story.begin_pass(lease, "start")
        new = NewCall(1, "crm", "add", TEXT)
        call = await journal.calls.ask(lease, new, reason=TEXT, effect=TEXT)
        assert call.digest == digest_of_call("crm", "add", redact(TEXT))
        await journal.approvals.decide(Answer("e1", 1, call.digest, "approve", "bob", TEXT, TEXT))
        await journal.calls.begin(lease, 1)
        ended = await journal.calls.end(lease, 1, "completed", outcome=TEXT)
        assert ended.outcome == '"Bearer [secret]"'
        for number, outcome in ((2, TEXT + " " * 200), (3, None)):
            await journal.calls.start(lease, [NewCall(number, "crm", "add", TEXT, number)])
            got = await journal.calls.end(
                lease, number, "failed" if outcome is None else "completed", outcome=outcome, error=TEXT
            )
            assert CANARY not in repr(got)
        await journal.calls.start(lease, [NewCall(4, "crm", "add", TEXT, 4)])
        await journal.calls.end(lease, 4, "cancelled")
        await journal.calls.arrive_late("e1", 4, TEXT)
        await journal.story.deliver(lease, Delivery(1, 1, (1,), None))
        await journal.story.log(lease, [LogLine(1, 1, "info", TEXT, TEXT)])
        await journal.story.end_pass(lease, 1, TEXT)
        await journal.artifacts.keep(lease, b"", mime="", name=TEXT)
        await journal.grants.give(NewGrant("crm", "*", "bob", 1, timedelta(hours=1), reason=TEXT))
        await journal.tokens.add(NewToken("t1", "ab", "ada", ("execute",), "bob"))
        await journal.tokens.used("t1")
        await journal.events.append("e1", [Told("log", datetime.now(UTC), TEXT)], lease.fence)
        await journal.cancellations.ask("e1", "bob")
        await journal.requests.claim("ada", "k", "d", "e1")
        snippet = await journal.snippets.propose(NewSnippet("s", TEXT, TEXT, "{}", "{}", "3", "bob", tests=TEXT))
        await journal.snippets.review("s", 1, "approved", who="bob", content_hash=snippet.content_hash, reason=TEXT)
        await journal.executions.move(lease, "failed", outcome=TEXT, reason=TEXT)
        assert not (await journal.records.verify()).findings
        assert CANARY not in "".join([line async for line in journal.export(contents=True)])
    with engine_of(url) as engine, engine.begin() as connection:
        for name in inspect(engine).get_table_names():
            rows = connection.execute(select(schema.metadata.tables[name])).all()
            assert rows or name == "hibernations"
            assert CANARY not in repr(rows), name
            assert CANARY.encode() not in b"".join(cell for row in rows for cell in row if isinstance(cell, bytes)), (
                name
            )


def test_every_column_of_free_text_is_marked() -> None:
    """The rest is what the host itself makes: names, digests, numbers, its own settings."""
    plain = {
        f"{table.name}.{column.name}"
        for table in (*schema.OF_AN_EXECUTION, *schema.OF_NONE)
        for column in table.columns
        if column.type.python_type is str and column.name not in schema.secret_columns(table)
    }
    own = {"execution_id", "principal", "session", "connector", "method", "who", "digest", "status", "mime", "handle"}
    assert {name for name in plain if name.partition(".")[2] not in own} == {
        "orders.budgets", "orders.catalogue_digest", "orders.image_digest", "orders.snippets",
        "executions.rollback", "passes.how", "passes.usage", "calls.idempotency_key", "calls.outcome_handle", "calls.on_rejection", "calls.policy",
        "deliveries.calls", "deliveries.clock", "logs.level", "decisions.verdict", "decisions.grant_id", "decisions.policy",
        "artifacts.purpose", "artifacts.sha256", "hibernations.image_digest",
        "snippets.name", "snippets.state", "snippets.content_hash", "snippets.input_schema", "snippets.methods",
        "snippets.image", "snippets.proposed_by", "snippets.reviewed_by", "grants.grant_id", "grants.revoked_by",
        "tokens.token_id", "tokens.scopes", "tokens.made_by", "tokens.revoked_by",
    }  # fmt: skip
