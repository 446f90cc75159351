"""The envelope: its keys, its exit codes, its schema."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import get_args

import jsonschema
import pytest
from pydantic import ValidationError

from isolith.budgets import Budgets
from isolith.outcome import (
    ArtifactRecord,
    CallRecord,
    Diagnostic,
    Kind,
    LogRecord,
    Outcome,
    PendingCall,
    Status,
    Usage,
    outcome_schema,
)

AT = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
PLAIN = Outcome(execution_id="e1", status="completed", value=[0, 1, 4], value_type="list[int]")
FAILED = Outcome(
    execution_id="e2",
    status="failed",
    error=Diagnostic(kind="exception", message="ZeroDivisionError: division by zero", line=3, column=5),
)
FULL = Outcome(
    execution_id="e3",
    status="paused",
    value={"total": Decimal("1.10"), "ids": {3, 1}, "big": 2**70, "whole": 2**60},
    value_type="dict[str, object]",
    warnings=(Diagnostic(kind="not_a_script", message="removed a fence", line=1, source_line="```"),),
    logs=(LogRecord(level="info", message="hi", attrs={"when": AT}, at=AT, seq=1),),
    calls=(
        CallRecord(call_id="1", connector="crm", method="list", status="completed", duration_ms=1.5, line=2),
        CallRecord(
            call_id="2",
            connector="crm",
            method="drop",
            status="failed",
            error=Diagnostic(kind="tool_error", message="no", tool="crm.drop", retriable=True),
        ),
    ),
    pending=(
        PendingCall(
            call_id="3", connector="crm", method="send", arguments={"at": AT}, digest="sha256:1", reason="policy"
        ),
    ),
    artifacts=(ArtifactRecord(handle="a1", mime="image/png", bytes=3, name="a.png"),),
    truncated=True,
    usage=Usage(cpu_ms=1.25, wall_ms=9, memory_bytes=1 << 25, calls=2, output_bytes=12, passes=1),
)


def test_the_keys_are_those_of_the_contract() -> None:
    document = FULL.to_json()
    assert list(document) == [
        "execution_id",
        "status",
        "value",
        "value_type",
        "error",
        "warnings",
        "logs",
        "calls",
        "pending",
        "artifacts",
        "truncated",
        "usage",
    ]
    assert set(Diagnostic.model_fields) == {
        "kind",
        "message",
        "line",
        "column",
        "source_line",
        "hint",
        "tool",
        "retriable",
        "error_id",
    }
    of_the_contract = ["cpu_ms", "wall_ms", "memory_bytes", "calls", "output_bytes", "passes"]
    assert list(Usage.model_fields)[: len(of_the_contract)] == of_the_contract


UNDER_OTHER_NAMES = {
    "memory_mb": "memory_bytes",
    "wall_s": "wall_ms",
    "call_s": "call_ms",
    "call_cap_s": "call_ms",
    "value_tokens": "value_bytes",  # and `truncated`: what a model is shown is cut, and not spent
}


def test_every_budget_is_seen_in_the_usage() -> None:
    assert {UNDER_OTHER_NAMES.get(name, name) for name in Budgets.model_fields} <= set(Usage.model_fields)


@pytest.mark.parametrize("outcome", [PLAIN, FAILED, FULL])
@pytest.mark.parametrize("safe_integers", [True, False])
def test_the_schema_holds_for_what_is_written(outcome: Outcome, safe_integers: bool) -> None:
    schema = outcome_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    document = outcome.to_json(safe_integers=safe_integers)
    jsonschema.validate(document, schema, format_checker=jsonschema.FormatChecker())
    assert json.loads(outcome.to_json_text(safe_integers=safe_integers)) == document


@pytest.mark.parametrize("damage", [{"status": "done"}, {"extra": 1}, {"usage": {}}, {"error": {"kind": "oops"}}])
def test_the_schema_refuses_another_envelope(damage: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(PLAIN.to_json() | damage, outcome_schema())


def test_a_document_is_read_back_into_the_same_envelope() -> None:
    assert Outcome.model_validate_json(PLAIN.to_json_text()) == PLAIN


def test_types_are_kept_in_python_and_written_by_rule_in_json() -> None:
    assert FULL.value == {"total": Decimal("1.10"), "ids": {3, 1}, "big": 2**70, "whole": 2**60}
    assert FULL.to_json()["value"] == {"total": "1.10", "ids": [1, 3], "big": 2**70, "whole": 2**60}
    assert FULL.to_json(safe_integers=True)["value"] == {
        "total": "1.10",
        "ids": [1, 3],
        "big": str(2**70),
        "whole": str(2**60),
    }
    assert FULL.to_json()["logs"] == [
        {
            "level": "info",
            "message": "hi",
            "attrs": {"when": "2026-01-02T03:04:05+00:00"},
            "at": "2026-01-02T03:04:05+00:00",
            "seq": 1,
        }
    ]


def test_the_value_is_the_object_that_was_given() -> None:
    value = [{"a": (1, 2)}]
    assert Outcome(execution_id="e", status="completed", value=value).value is value


BUDGETS = {"cpu_exceeded", "memory_exceeded", "wall_exceeded", "output_exceeded", "calls_exceeded"}


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_exit_code_of_a_failure(kind: Kind) -> None:
    outcome = Outcome(execution_id="e", status="failed", error=Diagnostic(kind=kind, message="m"))
    expected = 3 if kind in BUDGETS else {"invalid_input": 2, "internal": 5}.get(kind, 1)
    assert (outcome.exit_code, outcome.ok) == (expected, False)


@pytest.mark.parametrize("status", get_args(Status))
def test_the_exit_code_of_a_status(status: Status) -> None:
    outcome = Outcome(execution_id="e", status=status)
    assert (outcome.exit_code, outcome.ok) == ({"completed": 0, "paused": 4}.get(status, 1), status == "completed")


def test_an_envelope_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        PLAIN.status = "failed"  # pyright: ignore[reportAttributeAccessIssue]
