"""What the tests of the journal share."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Generator
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, create_engine

from isolith.journal import Call, Journal, Lease, NewCall, Order

LASTS = timedelta(seconds=30)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **parts: float) -> None:
        self.now += timedelta(**parts)


@contextlib.contextmanager
def engine_of(url: str) -> Generator[Engine]:
    """The database itself."""
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        yield engine
    finally:
        engine.dispose()


def tampered(url: str, *statements: str) -> None:
    """What somebody with access to the database does behind the journal's back."""
    with engine_of(url) as engine, engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


async def created(journal: Journal, script: str = "1 + 1", seed: bytes = b"", **parts: str) -> Lease:
    """A running execution, and the lease of it."""
    order = Order(uuid.uuid4().hex, script, seed=seed, **parts)  # type: ignore[arg-type]
    return await journal.executions.create(order, "host/1", LASTS)


async def asked(journal: Journal, lease: Lease, number: int = 1, **parts: object) -> Call:
    """A call that waits for a person."""
    call = NewCall(number, "crm", "delete", f'{{"id":{number}}}')
    return await journal.calls.ask(lease, call, reason="policy", **parts)  # type: ignore[arg-type]


async def started(journal: Journal, lease: Lease, number: int = 1, **parts: object) -> Call:
    """A call that is about to be made."""
    new = NewCall(number, "crm", "add", f'{{"id":{number}}}', **parts)  # type: ignore[arg-type]
    (call,) = await journal.calls.start(lease, [new])
    return call
