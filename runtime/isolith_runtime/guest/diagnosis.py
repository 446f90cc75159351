"""An exception of the script as a diagnostic: kind, message, the user's line and column, a hint.

Only frames of the script are shown. The kinds a guest may claim are those the script itself causes; which budget
ended a run is decided outside.
"""

from __future__ import annotations

import traceback
from types import TracebackType

from isolith_runtime.guest.capabilities import SCRIPT
from isolith_runtime.guest.codec import NoDataForm, TooLarge
from isolith_runtime.guest.hints import hint_for
from isolith_runtime.guest.toolerror import ToolError

_MAX_TEXT = 4000
_MAX_FRAMES = 8
_MAX_PARTS = 5


class Deadlock(Exception):
    """The script waits for something that can never happen."""


def diagnose(error: BaseException, source: list[str]) -> dict[str, object]:
    """The diagnostic of an uncaught exception, as plain JSON parts."""
    line, column = _place(error)
    return {
        "kind": _kind(error),
        "message": _message(error),
        "line": line,
        "column": column,
        "source_line": source[line - 1].rstrip()[:500] if line and line <= len(source) else None,
        "hint": _hint(error),
        "tool": error.tool if isinstance(error, ToolError) and error.tool else None,
        "retriable": isinstance(error, ToolError) and error.retriable,
        "traceback": _frames(error, source),
    }


def _kind(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return error.kind
    for cause, kind in _KINDS:
        if isinstance(error, cause):
            return kind
    return "exception"


_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (KeyboardInterrupt, "interrupted"),
    (RecursionError, "recursion"),
    (MemoryError, "memory_exceeded"),
    (Deadlock, "deadlock"),
    (TooLarge, "output_exceeded"),
)


def _message(error: BaseException) -> str:
    if isinstance(error, (ToolError, Deadlock, NoDataForm)):
        return _text(error)
    if isinstance(error, TooLarge):
        return "the value is too large to leave: it has millions of items, or shares parts that multiply"
    if isinstance(error, BaseExceptionGroup):
        parts = "; ".join(_message(part) for part in error.exceptions[:_MAX_PARTS])
        more = len(error.exceptions) - _MAX_PARTS
        return f"{len(error.exceptions)} errors: {parts}{f'; and {more} more' if more > 0 else ''}"[:_MAX_TEXT]
    text = _text(error)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and cause is not error:
        message += f" (after {type(cause).__name__}: {_text(cause)[:300]})"
    return message[:_MAX_TEXT]


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        return "(its text cannot be shown: __str__ failed)"
    notes = [note for note in getattr(error, "__notes__", ()) if isinstance(note, str)]
    return "\n".join([text, *notes])[:_MAX_TEXT].encode("utf-8", "backslashreplace").decode()


def _hint(error: BaseException) -> str | None:
    if isinstance(error, ToolError) and error.hint:
        return error.hint
    try:
        return hint_for(error)
    except Exception:
        return None


def _place(error: BaseException) -> tuple[int | None, int | None]:
    if isinstance(error, SyntaxError) and error.filename == SCRIPT:
        return error.lineno, error.offset
    if isinstance(error, BaseExceptionGroup) and error.exceptions:
        inner = _place(error.exceptions[0])
        if inner[0]:
            return inner
    frames = _script_frames(error.__traceback__)
    if not frames:
        return None, None
    frame, line = frames[-1]
    return line, _column(frame)


def _script_frames(tb: TracebackType | None) -> list[tuple[TracebackType, int]]:
    found = []
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == SCRIPT and tb.tb_lineno:
            found.append((tb, tb.tb_lineno))
        tb = tb.tb_next
    return found


def _column(tb: TracebackType) -> int | None:
    positions = list(tb.tb_frame.f_code.co_positions())
    index = tb.tb_lasti // 2
    column = positions[index][2] if index < len(positions) else None
    return None if column is None else column + 1


def _frames(error: BaseException, source: list[str]) -> str:
    """The script's own frames, innermost last; the middle of a long recursion left out."""
    lines = []
    for tb, line in _shortened(_script_frames(error.__traceback__)):
        name = tb.tb_frame.f_code.co_name
        where = "" if name.startswith(("<module>", "__isolith")) else f" in {name}"
        text = source[line - 1].strip()[:200] if line <= len(source) else ""
        lines.append(f"line {line}{where}: {text}")
    return "\n".join(lines)


def _shortened(frames: list[tuple[TracebackType, int]]) -> list[tuple[TracebackType, int]]:
    return frames if len(frames) <= _MAX_FRAMES else frames[: _MAX_FRAMES // 2] + frames[-_MAX_FRAMES // 2 :]


def interrupted_line(error: BaseException) -> int | None:
    """The script's line that was running when a limit interrupted it."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == SCRIPT), None)
