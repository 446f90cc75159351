"""An exception of the script as a diagnostic: kind, message, the user's line and column, a hint.

Only frames of the script are shown. The kinds a guest may claim are those the script itself causes; which budget
ended a run is decided outside.
"""

from __future__ import annotations

from itertools import islice
from types import CodeType, TracebackType

from isolith_runtime.guest.codec import NoDataForm, TooLarge
from isolith_runtime.guest.hints import hint_for
from isolith_runtime.guest.toolerror import ToolError
from isolith_runtime.guest.where import SCRIPT

_MAX_TEXT = 4000
_MAX_FRAMES = 8
_MAX_PARTS = 5
_MAX_CAUSE = 300
_MAX_CAUSES = 3


class Deadlock(Exception):
    """The script waits for something that can never happen."""


def diagnose(error: BaseException, source: list[str]) -> dict[str, object]:
    """The diagnostic of an uncaught exception, as plain JSON parts; in short, where it defies being looked at."""
    try:
        return _in_full(error, source)
    except BaseException as worse:
        return in_short(worse if isinstance(worse, KeyboardInterrupt) else error)


def in_short(error: BaseException) -> dict[str, object]:
    """The diagnostic that asks nothing of an exception, since a script may have made it of anything."""
    lines = [line for _, line in _script_frames(error.__traceback__)]
    return {
        "kind": next((kind for cause, kind in _KINDS if isinstance(error, cause)), "exception"),
        "message": f"{type(error).__name__}, which cannot be shown",
        "line": lines[-1] if lines else None,
        "column": None,
        "source_line": None,
        "hint": None,
        "tool": None,
        "retriable": False,
        "traceback": "",
    }


def _in_full(error: BaseException, source: list[str]) -> dict[str, object]:
    line, column = _place(error, source)
    leaves = _leaves(error)
    failed = next((leaf for leaf in leaves if isinstance(leaf, ToolError)), None)
    return {
        "kind": _kind(error),
        "message": _message(error),
        "line": line,
        "column": column,
        "source_line": source[line - 1].rstrip()[:500] if line and line <= len(source) else None,
        "hint": next(filter(None, (_hint(leaf, source) for leaf in leaves)), None),
        "tool": failed.tool or None if failed else None,
        "retriable": all(isinstance(leaf, ToolError) and leaf.retriable for leaf in leaves),
        "traceback": _frames(error, source),
    }


def _leaves(error: BaseException) -> list[BaseException]:
    """The exceptions in a group, itself where it is none."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for part in error.exceptions[:_MAX_PARTS] for leaf in _leaves(part)]


def _kind(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        kinds = set(map(_kind, _leaves(error)))  # one cause in a TaskGroup is still that cause
        return kinds.pop() if len(kinds) == 1 else "exception"
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
        return _text(error) or "the value has millions of items, or shares parts that multiply"
    if isinstance(error, BaseExceptionGroup):
        parts = "; ".join(_part(part) for part in error.exceptions[:_MAX_PARTS])
        more = len(error.exceptions) - _MAX_PARTS
        named = f"{type(error).__name__}: {error.message}"[:_MAX_CAUSE]
        return f"{named}: {parts}{f'; and {more} more' if more > 0 else ''}"[:_MAX_TEXT]
    message = _named(error)
    for cause in _causes(error):
        text = _text(cause)
        if not (text and text in message):
            message += f" (after {_named(cause)[:_MAX_CAUSE]})"
    return message[:_MAX_TEXT]


def _causes(error: BaseException) -> list[BaseException]:
    """What led to it, latest first: the first few, for the one that began it is what has to be mended."""
    chain = [error]
    while len(chain) <= _MAX_CAUSES:
        last = chain[-1]
        cause = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if cause is None or any(cause is known for known in chain):
            break
        chain.append(cause)
    return chain[1:]


def _part(error: BaseException) -> str:
    return f"{error.tool}: {_text(error)}" if isinstance(error, ToolError) else _message(error)


def _named(error: BaseException) -> str:
    text = _text(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        return "(its text cannot be shown: __str__ failed)"
    notes = [note for note in getattr(error, "__notes__", ()) if isinstance(note, str)]
    return "\n".join([text, *notes])[:_MAX_TEXT].encode("utf-8", "backslashreplace").decode()


def _hint(error: BaseException, source: list[str]) -> str | None:
    if isinstance(error, ToolError) and error.hint:
        return error.hint
    try:
        line = _place(error, source)[0]
        return hint_for(error, source[line - 1] if line and line <= len(source) else "")
    except Exception:
        return None


def _place(error: BaseException, source: list[str]) -> tuple[int | None, int | None]:
    if isinstance(error, SyntaxError) and error.filename == SCRIPT:
        return error.lineno, error.offset
    if isinstance(error, BaseExceptionGroup):
        inner = _place(error.exceptions[0], source)
        if inner[0]:
            return inner
    if isinstance(error, ToolError) and error.place and error.place[2]:
        code, instruction, line = error.place  # where the call was made, which may not be where it was awaited
        return line, _column(code, instruction, line, source)
    frames = _script_frames(error.__traceback__)
    if not frames and error.__cause__ is not None:  # a StopIteration comes out of the machinery as a RuntimeError
        frames = _script_frames(error.__cause__.__traceback__)
    if not frames:
        return None, None
    tb, line = frames[-1]
    return line, _column(tb.tb_frame.f_code, tb.tb_lasti, line, source)


def _script_frames(tb: TracebackType | None) -> list[tuple[TracebackType, int]]:
    found = []
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == SCRIPT and tb.tb_lineno:
            found.append((tb, tb.tb_lineno))
        tb = tb.tb_next
    return found


def _column(code: CodeType, instruction: int, line: int, source: list[str]) -> int | None:
    """The column in characters, from 1; the compiler counts bytes of UTF-8."""
    _, _, column, _ = next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    if column is None:
        return None
    text = source[line - 1] if line <= len(source) else ""
    return (column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))) + 1


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


def short(error: BaseException) -> str:
    """An exception in at most 1,000 characters."""
    return _message(error)[:1000]


def line_of(error: BaseException) -> int | None:
    """The script's line that raised it, if one did."""
    return _place(error, [])[0]
