"""Rows as what the journal's callers see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

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
)
from isolith.journal.snippet_model import Snippet
from isolith.journal.times import from_micros

if TYPE_CHECKING:
    from isolith.journal.queries import Row


def order_of(row: Row) -> Order:
    """Of table `orders`."""
    return Order(**row)


def execution_of(row: Row) -> Execution:
    """Of table `executions` with `pending` and the lease beside it."""
    return Execution(**_timed(row, "created_at", "updated_at", "ended_at", "leased_until"))


def call_of(row: Row) -> Call:
    """Of table `calls`."""
    values = _timed(row, "created_at", "started_at", "ended_at", "expires_at")
    del values["outcome_handle"]
    for name in ("repeatable", "revertible"):
        values[name] = bool(values[name])
    values["on_rejection"] = values["on_rejection"] or "raise"
    return Call(**values)


def pass_of(row: Row) -> Pass:
    """Of table `passes`."""
    values = _timed(row, "started_at", "ended_at")
    del values["execution_id"]
    return Pass(**values)


def delivery_of(row: Row) -> Delivery:
    """Of table `deliveries`."""
    values = _timed(row, "at")
    del values["execution_id"]
    values["calls"] = tuple(json.loads(values["calls"]))
    return Delivery(**values)


def log_of(row: Row) -> LogLine:
    """Of table `logs`."""
    values = _timed(row, "at")
    del values["execution_id"]
    return LogLine(**values)


def decision_of(row: Row) -> Decision:
    """Of table `decisions`."""
    return Decision(**_timed(row, "at", "spent_at"))


def grant_of(row: Row) -> Grant:
    """Of table `grants`."""
    return Grant(**_timed(row, "created_at", "expires_at"))


def artifact_of(row: Row) -> Artifact:
    """Of table `artifacts`; its content is left out."""
    values = _timed(row, "at")
    return Artifact(**{name: value for name, value in values.items() if name not in {"purpose", "content"}})


def hibernation_of(row: Row) -> Hibernation:
    """Of table `hibernations`."""
    return Hibernation(**_timed(row, "at"))


def snippet_of(row: Row) -> Snippet:
    """Of table `snippets`."""
    values = _timed(row, "proposed_at", "reviewed_at")
    return Snippet(**{**values, "tool": values["tool"] == 1})


def _timed(row: Row, *names: str) -> Row:
    """A copy with these columns as times."""
    values = dict(row)
    for name in names:
        if values[name] is not None:
            values[name] = from_micros(values[name])
    return values
