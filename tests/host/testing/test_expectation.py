"""What is expected of a script, and in what an outcome differs from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import Diagnostic, Outcome, UsageError
from isolith.outcome import CallRecord
from isolith.testing.expectation import Expectation, differences, expected_of, read_expectation

if TYPE_CHECKING:
    from pathlib import Path

FAILED = Outcome(
    execution_id="e",
    status="failed",
    error=Diagnostic(kind="exception", message="ValueError: no", line=2, source_line="x"),
)
DONE = Outcome(
    execution_id="e",
    status="completed",
    value={"a": [1, 2.5, None]},
    calls=(CallRecord(call_id="1", connector="crm", method="revenue", status="completed"),),
)


def of(**told: object) -> Expectation:
    return Expectation.model_validate(told)


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        (of(), DONE),
        (of(status="completed", value={"a": [1, 2.5, None]}), DONE),
        (of(calls=["crm.revenue"], pending=[], error=None), DONE),
        (of(status="failed"), FAILED),
        (of(status="failed", error={"kind": "exception"}), FAILED),
        (of(status="failed", error={"kind": "exception", "line": 2, "message": "no"}), FAILED),
    ],
)
def test_as_expected(expected: Expectation, outcome: Outcome) -> None:
    assert differences(expected, outcome) == []


@pytest.mark.parametrize(
    ("expected", "outcome", "said"),
    [
        (of(), FAILED, "status: expected completed, was failed: exception: ValueError: no"),
        (of(status="failed"), DONE, "status: expected failed, was completed"),
        (of(value=None), DONE, "value:"),
        (of(value={"a": [1, 2.5]}), DONE, "-"),
        (of(value=1), DONE.model_copy(update={"value": True}), "value: expected 1, was true"),
        (of(value=1), DONE.model_copy(update={"value": 2, "truncated": True}), "too large to be compared"),
        (of(calls=[]), DONE, "+crm.revenue"),
        (of(status="failed", error=None), FAILED, "error: expected none, was exception"),
        (of(error={"kind": "syntax"}), DONE, "error: expected syntax, was none"),
        (of(status="failed", error={"kind": "syntax"}), FAILED, "error.kind: expected syntax, was exception"),
        (of(status="failed", error={"kind": "exception", "line": 3}), FAILED, "error.line: expected 3, was 2"),
        (
            of(status="failed", error={"kind": "exception", "message": "yes"}),
            FAILED,
            "error.message: expected to find 'yes'",
        ),
    ],
)
def test_what_differs_is_said(expected: Expectation, outcome: Outcome, said: str) -> None:
    (found,) = differences(expected, outcome)
    assert said in found


def test_a_long_difference_is_cut() -> None:
    (found,) = differences(of(value=list(range(1_000))), DONE.model_copy(update={"value": list(range(1_000, 2_000))}))
    assert len(found.splitlines()) < 50
    assert "more lines" in found


def test_what_is_written_is_what_is_expected_then(tmp_path: Path) -> None:
    for outcome in (DONE, FAILED):
        assert differences(of(**expected_of(outcome, {"in": 1})), outcome) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.expect.json", "{", "is not JSON"),
        ("a.expect.json", "[]", "no table"),
        ("a.expect.json", '{"state": "completed"}', "state"),
        ("a.expect.json", '{"status": "done"}', "status"),
        ("a.expect.toml", "status = ", "is not TOML"),
        ("a.expect.toml", '[error]\nkind = "exception"\nline = 0', "error.line"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_expectation(tmp_path / name)
    assert name in str(caught.value)
