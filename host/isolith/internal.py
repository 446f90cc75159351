"""An error that nobody foresaw: the host's log gets what resolves it, everyone else gets its id."""

from __future__ import annotations

import contextlib
import traceback
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from isolith.journal.errors import JournalUnavailable, LeaseLost
from isolith.outcome import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from isolith.outcome import CallRecord

_log = structlog.get_logger("isolith")
_FRAMES = 12
_UNAVAILABLE = Diagnostic(
    kind="tool_unavailable",
    message="the journal cannot be used just now, and nothing goes on without it: what was done by then is in it",
    hint="once it can be, `isolith executions retry` goes on from there; the host's log has what its database said",
    retriable=True,
)


def internal_error(error: BaseException, **context: str) -> Diagnostic:
    """Log `error` under a new id and return the diagnostic that carries the id and nothing else of it.

    Logged are the exception's class and where it came from, not its text: that may hold data or a secret.
    Where another host has the run by now, nothing failed: what is still written here is refused, as it has to be. Nor
    is it a bug where the journal cannot be written: the log is told what its database said.
    """
    if isinstance(error, LeaseLost):
        return Diagnostic(kind="cancelled", message="another host has this run now", hint="ask for it by its id")
    if isinstance(error, JournalUnavailable):
        with contextlib.suppress(Exception):
            _log.error("the journal cannot be used", said=str(error), **context)
        return _UNAVAILABLE
    error_id = uuid.uuid4().hex[:12]
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    where = [f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}" for frame in reversed(frames)]
    with contextlib.suppress(Exception):  # a log that cannot be written must not cost the answer
        _log.error("internal error", error_id=error_id, error=type(error).__qualname__, where=where, **context)
    return Diagnostic(
        kind="internal",
        message="Isolith itself failed: a bug of ours, not of the script",
        hint=f"report it with what the host's log says about error {error_id}",
        error_id=error_id,
    )


def identified(error: Diagnostic | None, calls: Callable[[], Sequence[CallRecord]]) -> Diagnostic | None:
    """How a run failed, with the id where it was by an internal error of a call: the script was told its text alone."""
    if error is None or error.kind != "internal" or error.error_id is not None:
        return error
    failed = (call.error for call in calls() if call.error is not None and call.error.hint == error.hint)
    return error.model_copy(update={"error_id": next((each.error_id for each in failed), None)})
