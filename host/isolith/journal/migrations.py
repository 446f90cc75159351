"""Numbered migrations: each brings a journal from the one before it. Never edited once released; a new one is added.

Text, not the tables of `schema`, which go on changing. A migration adds tables, indexes and nullable columns: a change
of rows would have to be chained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import inspect, text

from isolith.journal.door_tables import MIGRATION as _FRONT_DOORS
from isolith.journal.errors import NewerJournal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from isolith.journal.dialects import Dialect

Migration = tuple[str, ...]
"""Statements that both databases read; `{blob}` is the type for bytes."""

_TABLES: Migration = (
    """CREATE TABLE heads (stream VARCHAR NOT NULL, seq BIGINT NOT NULL, hash VARCHAR NOT NULL, bytes BIGINT NOT NULL,
    status VARCHAR, owner VARCHAR, fence BIGINT NOT NULL, until BIGINT, PRIMARY KEY (stream))""",
    """CREATE TABLE records (stream VARCHAR NOT NULL, seq INTEGER NOT NULL, at BIGINT NOT NULL, what VARCHAR NOT NULL,
    body TEXT NOT NULL, previous VARCHAR NOT NULL, hash VARCHAR NOT NULL, PRIMARY KEY (stream, seq))""",
    """CREATE TABLE orders (execution_id VARCHAR NOT NULL, script TEXT NOT NULL, input TEXT NOT NULL,
    principal VARCHAR, session VARCHAR, budgets VARCHAR NOT NULL, catalogue_digest VARCHAR NOT NULL,
    image_digest VARCHAR NOT NULL, snippets VARCHAR NOT NULL, origin TEXT NOT NULL, seed {blob} NOT NULL,
    started_ns BIGINT NOT NULL, PRIMARY KEY (execution_id))""",
    """CREATE TABLE executions (execution_id VARCHAR NOT NULL, status VARCHAR NOT NULL, principal VARCHAR,
    session VARCHAR, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, ended_at BIGINT, reason TEXT,
    "rollback" VARCHAR, outcome TEXT, PRIMARY KEY (execution_id))""",
    """CREATE TABLE passes (execution_id VARCHAR NOT NULL, number INTEGER NOT NULL, how VARCHAR NOT NULL,
    started_at BIGINT NOT NULL, ended_at BIGINT, ending TEXT, usage VARCHAR, PRIMARY KEY (execution_id, number))""",
    """CREATE TABLE calls (execution_id VARCHAR NOT NULL, number INTEGER NOT NULL, connector VARCHAR NOT NULL,
    method VARCHAR NOT NULL, arguments TEXT NOT NULL, digest VARCHAR NOT NULL, occurrence BIGINT NOT NULL,
    pass_number BIGINT NOT NULL, status VARCHAR NOT NULL, line BIGINT, idempotency_key VARCHAR,
    repeatable BIGINT NOT NULL, revertible BIGINT NOT NULL, created_at BIGINT NOT NULL, started_at BIGINT,
    ended_at BIGINT, outcome TEXT, outcome_handle VARCHAR, error TEXT, attempts BIGINT NOT NULL, asked BIGINT NOT NULL,
    reason TEXT, effect TEXT, expires_at BIGINT, edited_arguments TEXT, PRIMARY KEY (execution_id, number),
    CONSTRAINT calls_identity UNIQUE (execution_id, digest, occurrence))""",
    """CREATE TABLE deliveries (execution_id VARCHAR NOT NULL, number INTEGER NOT NULL, pass_number BIGINT NOT NULL,
    calls VARCHAR NOT NULL, clock VARCHAR, at BIGINT NOT NULL, PRIMARY KEY (execution_id, number))""",
    """CREATE TABLE logs (execution_id VARCHAR NOT NULL, number INTEGER NOT NULL, pass_number BIGINT NOT NULL,
    level VARCHAR NOT NULL, message TEXT NOT NULL, attrs TEXT NOT NULL, line BIGINT, at BIGINT NOT NULL,
    PRIMARY KEY (execution_id, number))""",
    """CREATE TABLE decisions (execution_id VARCHAR NOT NULL, number INTEGER NOT NULL, round INTEGER NOT NULL,
    digest VARCHAR NOT NULL, verdict VARCHAR NOT NULL, who VARCHAR NOT NULL, at BIGINT NOT NULL, arguments TEXT,
    reason TEXT, grant_id VARCHAR, spent_at BIGINT, PRIMARY KEY (execution_id, number, round))""",
    """CREATE TABLE grants (grant_id VARCHAR NOT NULL, connector VARCHAR NOT NULL, method VARCHAR NOT NULL,
    who VARCHAR NOT NULL, principal VARCHAR, execution_id VARCHAR, reason TEXT, uses_left BIGINT NOT NULL,
    created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, revoked_by VARCHAR, PRIMARY KEY (grant_id))""",
    """CREATE TABLE artifacts (handle VARCHAR NOT NULL, execution_id VARCHAR NOT NULL, purpose VARCHAR NOT NULL,
    mime VARCHAR NOT NULL, name TEXT, size BIGINT NOT NULL, sha256 VARCHAR NOT NULL, at BIGINT NOT NULL,
    content {blob} NOT NULL, PRIMARY KEY (handle))""",
    """CREATE TABLE hibernations (execution_id VARCHAR NOT NULL, pass_number BIGINT NOT NULL,
    image_digest VARCHAR NOT NULL, at BIGINT NOT NULL, blob {blob} NOT NULL, PRIMARY KEY (execution_id))""",
    """CREATE TABLE snippets (name VARCHAR NOT NULL, version INTEGER NOT NULL, state VARCHAR NOT NULL,
    description TEXT NOT NULL, code TEXT NOT NULL, content_hash VARCHAR NOT NULL, input_schema VARCHAR NOT NULL,
    methods VARCHAR NOT NULL, image VARCHAR NOT NULL, execution_id VARCHAR, tests TEXT NOT NULL,
    proposed_by VARCHAR NOT NULL, proposed_at BIGINT NOT NULL, reviewed_by VARCHAR, reviewed_at BIGINT, reason TEXT,
    PRIMARY KEY (name, version))""",
)

_LATE_CALLS_AND_INDEXES: Migration = (
    "ALTER TABLE calls ADD COLUMN late TEXT",
    "CREATE INDEX executions_by_status ON executions (status, updated_at)",
    "CREATE INDEX executions_by_time ON executions (created_at)",
    "CREATE INDEX calls_by_status ON calls (status, expires_at)",
    "CREATE INDEX artifacts_by_execution ON artifacts (execution_id)",
)

_WHAT_IS_ASKED_OF_THE_END: Migration = (
    "ALTER TABLE calls ADD COLUMN on_rejection VARCHAR",
    "ALTER TABLE orders ADD COLUMN result_schema TEXT",
)

_QUESTIONS: Migration = ("ALTER TABLE calls ADD COLUMN question TEXT",)

_SNIPPETS_AS_TOOLS: Migration = ("ALTER TABLE snippets ADD COLUMN tool BIGINT",)

_WHICH_POLICY_ASKED: Migration = (
    "ALTER TABLE calls ADD COLUMN policy VARCHAR",
    "ALTER TABLE decisions ADD COLUMN policy VARCHAR",
)

_CANCELLATIONS_ARE_KEPT: Migration = ("ALTER TABLE cancellations ADD COLUMN ended_at BIGINT",)

MIGRATIONS: Final[tuple[Migration, ...]] = (
    _TABLES,
    _LATE_CALLS_AND_INDEXES,
    _WHAT_IS_ASKED_OF_THE_END,
    _FRONT_DOORS,
    _QUESTIONS,
    _SNIPPETS_AS_TOOLS,
    _WHICH_POLICY_ASKED,
    _CANCELLATIONS_ARE_KEPT,
)
CANCELLATIONS_CHAINED: Final = 8
"""From this migration on cancellations are chained: those of an older journal are when it is opened."""


def migrate(connection: Connection, dialect: Dialect, migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring a journal, or an empty database, to the newest migration; gives how many were applied.

    One transaction: a journal is never half migrated. Raises NewerJournal and changes nothing.
    """
    dialect.lock_for_migration(connection)
    if not inspect(connection).has_table("meta"):
        connection.exec_driver_sql(
            "CREATE TABLE meta (name VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY (name))"
        )
        connection.execute(text("INSERT INTO meta (name, value) VALUES ('version', '0')"))
    version = int(connection.execute(text("SELECT value FROM meta WHERE name = 'version'")).scalar_one())
    if version > len(migrations):
        raise NewerJournal(
            f"this journal is of version {version} and this Isolith knows {len(migrations)}: "
            "upgrade Isolith, or name another journal"
        )
    for statements in migrations[version:]:
        for statement in statements:
            connection.exec_driver_sql(statement.replace("{blob}", dialect.blob))
    if version < len(migrations):  # else nothing is written: a journal on a disk that is full can be read
        connection.execute(
            text("UPDATE meta SET value = :version WHERE name = 'version'"), {"version": str(len(migrations))}
        )
    return len(migrations) - version
