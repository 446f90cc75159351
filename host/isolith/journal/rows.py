"""Rows as what the journal's callers see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from isolith.journal.model import (
    Artifact,
    Call,
    Decision,
    Delivery,
    Execution,
    Grant,
    Hibernation,
    LogLine,
    Order,
    Pass,
    Snippet,
)
from isolith.journal.times import from_micros, maybe_from_micros

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    # A row of a table whose columns `schema` types; what is read is handed to the dataclass by name.
    Row = Mapping[str, Any]

_CALL_TIMES = ("started_at", "ended_at", "expires_at")


def order_of(row: Row) -> Order:
    """Of table `orders`."""
    return Order(**{**row, "seed": bytes(row["seed"])})


def execution_of(row: Row) -> Execution:
    """Of table `executions` with `pending` and the lease's `owner` beside it."""
    return Execution(
        execution_id=row["execution_id"],
        status=row["status"],
        principal=row["principal"],
        session=row["session"],
        created_at=from_micros(row["created_at"]),
        updated_at=from_micros(row["updated_at"]),
        ended_at=maybe_from_micros(row["ended_at"]),
        reason=row["reason"],
        rollback=row["rollback"],
        pending=row["pending"],
        owner=row["owner"],
    )


def call_of(row: Row) -> Call:
    """Of table `calls`."""
    values = {name: value for name, value in row.items() if name != "outcome_handle"}
    values |= {name: maybe_from_micros(row[name]) for name in _CALL_TIMES}
    values |= {name: bool(row[name]) for name in ("repeatable", "revertible")}
    return Call(**{**values, "created_at": from_micros(row["created_at"])})


def pass_of(row: Row) -> Pass:
    """Of table `passes`."""
    return Pass(
        number=row["number"],
        how=row["how"],
        started_at=from_micros(row["started_at"]),
        ended_at=maybe_from_micros(row["ended_at"]),
        ending=row["ending"],
        usage=row["usage"],
    )


def delivery_of(row: Row) -> Delivery:
    """Of table `deliveries`."""
    calls = tuple(cast("list[int]", json.loads(row["calls"])))
    return Delivery(row["number"], row["pass_number"], calls, row["clock"], from_micros(row["at"]))


def log_of(row: Row) -> LogLine:
    """Of table `logs`."""
    return LogLine(
        number=row["number"],
        pass_number=row["pass_number"],
        level=row["level"],
        message=row["message"],
        attrs=row["attrs"],
        line=row["line"],
        at=from_micros(row["at"]),
    )


def decision_of(row: Row) -> Decision:
    """Of table `decisions`."""
    return Decision(**{**row, "at": from_micros(row["at"]), "spent_at": maybe_from_micros(row["spent_at"])})


def grant_of(row: Row) -> Grant:
    """Of table `grants`."""
    return Grant(**{**row, "created_at": from_micros(row["created_at"]), "expires_at": from_micros(row["expires_at"])})


def artifact_of(row: Row) -> Artifact:
    """Of table `artifacts`, without its content."""
    names = ("handle", "execution_id", "mime", "name", "size", "sha256")
    return Artifact(**{name: row[name] for name in names}, at=from_micros(row["at"]))


def hibernation_of(row: Row) -> Hibernation:
    """Of table `hibernations`."""
    return Hibernation(**{**row, "blob": bytes(row["blob"]), "at": from_micros(row["at"])})


def snippet_of(row: Row) -> Snippet:
    """Of table `snippets`."""
    times = {"proposed_at": from_micros(row["proposed_at"]), "reviewed_at": maybe_from_micros(row["reviewed_at"])}
    return Snippet(**{**row, **times})
