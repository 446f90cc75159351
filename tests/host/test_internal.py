"""A bug of ours: logged under an id, without its text; answered with the id alone."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
import structlog
import structlog.testing

from isolith.internal import internal_error
from isolith.journal import JournalUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator


def error() -> Exception:
    try:
        raise LookupError("secret-4711")
    except LookupError as caught:
        return caught


def test_the_log_has_the_class_and_the_places_under_the_id() -> None:
    with structlog.testing.capture_logs() as logs:
        diagnostic = internal_error(error(), execution_id="e")
    [entry] = logs
    assert (entry["error_id"], entry["error"], entry["execution_id"]) == (diagnostic.error_id, "LookupError", "e")
    assert str(entry["where"][0]).startswith("test_internal.py:")
    assert "secret-4711" not in f"{logs} {diagnostic}"


def test_a_journal_that_cannot_be_written_is_no_bug_and_the_log_has_why() -> None:
    with structlog.testing.capture_logs() as logs:
        diagnostic = internal_error(JournalUnavailable("database or disk is full"), execution_id="e")
    assert (diagnostic.kind, diagnostic.retriable, diagnostic.error_id) == ("tool_unavailable", True, None)
    assert "disk" not in f"{diagnostic}"
    [entry] = logs
    assert (entry["said"], entry["execution_id"]) == ("database or disk is full", "e")


def test_two_have_two_ids() -> None:
    with structlog.testing.capture_logs():
        assert internal_error(error()).error_id != internal_error(error()).error_id


@pytest.fixture
def closed_log() -> Iterator[None]:
    closed = io.StringIO()
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(closed))
    closed.close()
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("closed_log")
def test_a_log_that_cannot_be_written_does_not_cost_the_answer() -> None:
    assert internal_error(error()).kind == "internal"
