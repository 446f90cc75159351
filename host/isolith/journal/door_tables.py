"""The tables of the front doors: what happened, as it is told; what was asked for under which key; who came when.

Not chained row by row: these are no record of what was done, which the tables of `schema` are; `tokens` and
`cancellations` are among those. Why not, table by table, is in the host's README.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table, Text

from isolith.journal.schema import metadata

events: Final = Table(
    "events",
    metadata,
    Column("execution_id", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("name", String, nullable=False),
    Column("body", Text, nullable=False, info={"secret": True}),
)
"""What an execution told those who followed it. `body` is a JSON object."""

requests: Final = Table(
    "requests",
    metadata,
    Column("principal", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("digest", String, nullable=False),
    Column("execution_id", String, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("requests_by_time", "at"),
)
"""Idempotency keys. The digest is of what was asked for."""

token_uses: Final = Table(
    "token_uses", metadata, Column("token_id", String, primary_key=True), Column("used_at", BigInteger, nullable=False)
)
"""When a token was used last."""

OF_AN_EXECUTION: Final = (events,)
"""They go with their execution."""

MIGRATION: Final = (
    """CREATE TABLE events (execution_id VARCHAR NOT NULL, seq INTEGER NOT NULL, at BIGINT NOT NULL,
    name VARCHAR NOT NULL, body TEXT NOT NULL, PRIMARY KEY (execution_id, seq))""",
    """CREATE TABLE cancellations (execution_id VARCHAR NOT NULL, who VARCHAR NOT NULL, at BIGINT NOT NULL,
    PRIMARY KEY (execution_id))""",
    """CREATE TABLE requests (principal VARCHAR NOT NULL, key VARCHAR NOT NULL, digest VARCHAR NOT NULL,
    execution_id VARCHAR NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (principal, key))""",
    "CREATE INDEX requests_by_time ON requests (at)",
    """CREATE TABLE tokens (token_id VARCHAR NOT NULL, digest VARCHAR NOT NULL, principal VARCHAR NOT NULL,
    scopes VARCHAR NOT NULL, made_by VARCHAR NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, revoked_at BIGINT,
    revoked_by VARCHAR, PRIMARY KEY (token_id))""",
    "CREATE TABLE token_uses (token_id VARCHAR NOT NULL, used_at BIGINT NOT NULL, PRIMARY KEY (token_id))",
)
