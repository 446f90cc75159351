"""The tables, as they are at the newest migration. A test holds the two to each other.

Rules: times are microseconds since the epoch; no floats and no booleans, so that a row has one digest in every
database; a column that a migration adds is nullable, so that digests of older rows stay true. `secret` in a column's
info: free text, redacted on the way in.
"""

from __future__ import annotations

import functools
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()


def _key(name: str, kind: type[String | Integer] = Integer) -> Column[object]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def _free(name: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, Text, nullable=nullable, info={"secret": True})


def _plain(name: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, String, nullable=nullable)


def _number(name: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, BigInteger, nullable=nullable)


meta: Final = Table("meta", metadata, _key("name", String), _plain("value", nullable=False))
"""The number of the newest migration. Not chained."""

heads: Final = Table(
    "heads",
    metadata,
    _key("stream", String),
    _number("seq", nullable=False),
    _plain("hash", nullable=False),
    _number("bytes", nullable=False),
    _plain("status"),
    _plain("owner"),
    _number("fence", nullable=False),
    _number("until"),
)
"""One row for each chain: where it ends, what it holds, its execution's status, and who works on it. The lock of its
execution. Not chained, but compared.
"""

records: Final = Table(
    "records",
    metadata,
    _key("stream", String),
    _key("seq"),
    _number("at", nullable=False),
    _plain("what", nullable=False),
    Column("body", Text, nullable=False),
    _plain("previous", nullable=False),
    _plain("hash", nullable=False),
)
"""The chain: each record names the rows that an operation wrote with their digests, and the record before it."""

orders: Final = Table(
    "orders",
    metadata,
    _key("execution_id", String),
    _free("script", nullable=False),
    _free("input", nullable=False),
    _plain("principal"),
    _plain("session"),
    _plain("budgets", nullable=False),
    _plain("catalogue_digest", nullable=False),
    _plain("image_digest", nullable=False),
    _plain("snippets", nullable=False),
    _free("origin", nullable=False),
    Column("seed", LargeBinary, nullable=False),
    _number("started_ns", nullable=False),
    _free("result_schema"),
)

executions: Final = Table(
    "executions",
    metadata,
    _key("execution_id", String),
    _plain("status", nullable=False),
    _plain("principal"),
    _plain("session"),
    _number("created_at", nullable=False),
    _number("updated_at", nullable=False),
    _number("ended_at"),
    _free("reason"),
    _plain("rollback"),
    _free("outcome"),
    Index("executions_by_status", "status", "updated_at"),
    Index("executions_by_time", "created_at"),
)

passes: Final = Table(
    "passes",
    metadata,
    _key("execution_id", String),
    _key("number"),
    _plain("how", nullable=False),
    _number("started_at", nullable=False),
    _number("ended_at"),
    _free("ending"),
    _plain("usage"),
)

calls: Final = Table(
    "calls",
    metadata,
    _key("execution_id", String),
    _key("number"),
    _plain("connector", nullable=False),
    _plain("method", nullable=False),
    _free("arguments", nullable=False),
    _plain("digest", nullable=False),
    _number("occurrence", nullable=False),
    _number("pass_number", nullable=False),
    _plain("status", nullable=False),
    _number("line"),
    _plain("idempotency_key"),
    _number("repeatable", nullable=False),
    _number("revertible", nullable=False),
    _number("created_at", nullable=False),
    _number("started_at"),
    _number("ended_at"),
    _free("outcome"),
    _plain("outcome_handle"),
    _free("error"),
    _number("attempts", nullable=False),
    _number("asked", nullable=False),
    _free("reason"),
    _free("effect"),
    _number("expires_at"),
    _free("edited_arguments"),
    _free("late"),
    _plain("on_rejection"),
    _free("question"),
    _plain("policy"),
    UniqueConstraint("execution_id", "digest", "occurrence", name="calls_identity"),
    Index("calls_by_status", "status", "expires_at"),
)

deliveries: Final = Table(
    "deliveries",
    metadata,
    _key("execution_id", String),
    _key("number"),
    _number("pass_number", nullable=False),
    _plain("calls", nullable=False),
    _plain("clock"),
    _number("at", nullable=False),
)

logs: Final = Table(
    "logs",
    metadata,
    _key("execution_id", String),
    _key("number"),
    _number("pass_number", nullable=False),
    _plain("level", nullable=False),
    _free("message", nullable=False),
    _free("attrs", nullable=False),
    _number("line"),
    _number("at", nullable=False),
)

decisions: Final = Table(
    "decisions",
    metadata,
    _key("execution_id", String),
    _key("number"),
    _key("round"),
    _plain("digest", nullable=False),
    _plain("verdict", nullable=False),
    _plain("who", nullable=False),
    _number("at", nullable=False),
    _free("arguments"),
    _free("reason"),
    _plain("grant_id"),
    _number("spent_at"),
    _plain("policy"),
)

grants: Final = Table(
    "grants",
    metadata,
    _key("grant_id", String),
    _plain("connector", nullable=False),
    _plain("method", nullable=False),
    _plain("who", nullable=False),
    _plain("principal"),
    _plain("execution_id"),
    _free("reason"),
    _number("uses_left", nullable=False),
    _number("created_at", nullable=False),
    _number("expires_at", nullable=False),
    _plain("revoked_by"),
)

artifacts: Final = Table(
    "artifacts",
    metadata,
    _key("handle", String),
    _plain("execution_id", nullable=False),
    _plain("purpose", nullable=False),
    _plain("mime", nullable=False),
    _free("name"),
    _number("size", nullable=False),
    _plain("sha256", nullable=False),
    _number("at", nullable=False),
    Column("content", LargeBinary, nullable=False),
    Index("artifacts_by_execution", "execution_id"),
)

hibernations: Final = Table(
    "hibernations",
    metadata,
    _key("execution_id", String),
    _number("pass_number", nullable=False),
    _plain("image_digest", nullable=False),
    _number("at", nullable=False),
    Column("blob", LargeBinary, nullable=False),
)

snippets: Final = Table(
    "snippets",
    metadata,
    _key("name", String),
    _key("version"),
    _plain("state", nullable=False),
    _free("description", nullable=False),
    _free("code", nullable=False),
    _plain("content_hash", nullable=False),
    _plain("input_schema", nullable=False),
    _plain("methods", nullable=False),
    _plain("image", nullable=False),
    _plain("execution_id"),
    _free("tests", nullable=False),
    _plain("proposed_by", nullable=False),
    _number("proposed_at", nullable=False),
    _plain("reviewed_by"),
    _number("reviewed_at"),
    _free("reason"),
    _number("tool"),
)
"""`tool`: 1 where it is a tool of its own for MCP clients, else null."""

tokens: Final = Table(
    "tokens",
    metadata,
    _key("token_id", String),
    _plain("digest", nullable=False),
    _plain("principal", nullable=False),
    _plain("scopes", nullable=False),
    _plain("made_by", nullable=False),
    _number("created_at", nullable=False),
    _number("expires_at"),
    _number("revoked_at"),
    _plain("revoked_by"),
)
"""Bearer tokens, by the SHA-256 of their secrets. Chained: nobody adds one unseen."""

cancellations: Final = Table(
    "cancellations",
    metadata,
    _key("execution_id", String),
    _plain("who", nullable=False),
    _number("at", nullable=False),
    _number("ended_at"),
)
"""Runs that somebody asked to end, for the host that works on them to see, and kept. `ended_at`: it was heeded, or is
to be gone on with all the same."""

OF_AN_EXECUTION: Final = (
    *(orders, executions, passes, calls, deliveries, logs, decisions, cancellations, artifacts, hibernations),
)
"""Chained in the stream of their `execution_id`."""

FIRST_RECORDS: Final = 2
"""Records that the creation of an execution makes; the journal's own chain has the hash of the last of them."""

OF_NONE: Final = (snippets, grants, tokens)
"""Chained in the stream of the journal itself, `""`."""


@functools.cache
def secret_columns(table: Table) -> frozenset[str]:
    """Those of free text."""
    return frozenset(column.name for column in table.columns if column.info.get("secret"))


@functools.cache
def key_columns(table: Table) -> tuple[str, ...]:
    """Those of the primary key, in order."""
    return tuple(column.name for column in table.primary_key.columns)
