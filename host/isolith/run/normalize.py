"""What models wrap around a script, taken off: fences and prose, indentation, byte order mark, carriage returns.

Text only and pure; what needs a parser happens in the guest, whose Python is not the host's. What is taken off
leaves blank lines, so a line number of the prepared text is one of the user's; a column is `column_offset` short.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.to_thread

from isolith.outcome import Diagnostic, Kind
from isolith.run.foreign import foreign_though_valid
from isolith.run.markdown import Block, fenced_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WHAT_A_SCRIPT_IS = (
    "a script is Python with top-level `await`; the value of its last expression is the result:"
    " `rows = await crm.list_contacts(limit=3)`, then `len(rows)`"
)
_ALONE = "send the script alone, without fences and prose around it"
_ONLY_COMMENTS = "the script holds nothing but comments, so it answers null"
_MOST_WARNINGS = 10
_LONGEST_LINE = 200
_LONG = 32 * 1024
"""Bytes of a script that is not worth a thread."""
_NEWLINE = re.compile(r"\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A script ready for the guest. `source` is the user's text as lines are counted in it."""

    text: str
    source: str
    warnings: tuple[Diagnostic, ...]
    margins: tuple[int, ...]

    def source_line(self, line: int) -> str | None:
        """The user's own line, from 1; None past the end."""
        lines = self.source.split("\n")
        return lines[line - 1] if 0 < line <= len(lines) else None

    def own_line(self, diagnostic: Diagnostic) -> Diagnostic:
        """The same, showing the line as the user wrote it."""
        shown = None if diagnostic.line is None else self.source_line(diagnostic.line)
        return diagnostic.model_copy(update={"source_line": shown and shown[:_LONGEST_LINE]})

    def column_offset(self, line: int) -> int:
        """How many columns were taken off in front of this line."""
        return self.margins[line - 1] if 0 < line <= len(self.margins) else 0


@dataclass(frozen=True, slots=True)
class Refused:
    """No script can be made of this; `invalid_input` or `not_a_script`."""

    diagnostic: Diagnostic


class _Unfit(Exception):
    def __init__(self, kind: Kind, message: str, hint: str, *, at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        line, column = at or (None, None)
        self.diagnostic = Diagnostic(kind=kind, message=message, hint=hint, line=line, column=column)


async def prepared(source: str | bytes, max_bytes: int) -> Prepared | Refused:
    """As `prepare`; what is long on a thread, because a megabyte of empty lines takes a second."""
    if len(source) <= _LONG:
        return prepare(source, max_bytes)
    return await anyio.to_thread.run_sync(prepare, source, max_bytes)


def prepare(source: str | bytes, max_bytes: int) -> Prepared | Refused:
    """The script in `source`, or why there is none. Each thing taken off is a warning of kind `not_a_script`."""
    try:
        text = _readable(source, max_bytes)
        lines = text.split("\n")
        kept, warnings = _unfence(lines)
    except _Unfit as unfit:
        return Refused(unfit.diagnostic)
    margins = _margins(lines, kept)
    out = [""] * len(lines)
    for number in (number for part in kept for number in part):
        out[number] = lines[number][margins[number] :]
    indented = next((number for number, margin in enumerate(margins) if margin), None)
    if indented is not None:
        warnings.append(
            _removed(lines, indented, f"removed {margins[indented]} columns of indentation", "start at column 1")
        )
    if all(not line or line.startswith("#") for line in map(str.strip, out)):
        # The guest's Python sees no statement there that it could say this of.
        warnings.append(Diagnostic(kind="check", message=_ONLY_COMMENTS, hint=WHAT_A_SCRIPT_IS))
    prepared = Prepared("\n".join(out), text, tuple(warnings), tuple(margins) if indented is not None else ())
    foreign = foreign_though_valid(prepared.text)
    return prepared if foreign is None else Refused(prepared.own_line(foreign))


def _readable(source: str | bytes, max_bytes: int) -> str:
    """Text with a line feed between lines, no mark in front, nothing in it that Python refuses to read."""
    surrogate = _SURROGATE.search(source) if isinstance(source, str) else None
    if surrogate:
        raise _Unfit(
            "invalid_input",
            f"the script holds {surrogate[0]!r}, half of a character",
            "send text that is valid Unicode",
            at=_position(source[: surrogate.start()]),
        )
    size = len(source) if isinstance(source, bytes) or len(source) > max_bytes else len(source.encode())
    if size > max_bytes:
        raise _Unfit(
            "invalid_input",
            f"the script is larger than its budget: `script_bytes` is {max_bytes:,}",
            "hand data over as `input`, not inside the script",
        )
    text = source if isinstance(source, str) else _decoded(source)
    text = _NEWLINE.sub("\n", text.removeprefix("\ufeff"))
    nul = text.find("\0")
    if nul >= 0:
        at = _position(text[:nul])
        raise _Unfit("invalid_input", "the script holds a NUL byte", "remove it: a script is text", at=at)
    if not text.strip():
        raise _Unfit("not_a_script", "the script is empty", WHAT_A_SCRIPT_IS)
    return text


def _decoded(source: bytes) -> str:
    if source[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise _Unfit("invalid_input", "the script is encoded as UTF-16", "save it as UTF-8")
    try:
        return source.decode()
    except UnicodeDecodeError as error:
        raise _Unfit(
            "invalid_input",
            f"the script is not UTF-8: byte {source[error.start]:#04x} is no part of a character",
            "save it as UTF-8",
            at=_position(source[: error.start].decode(errors="replace")),
        ) from None


def _position(before: str | bytes) -> tuple[int, int]:
    text = before if isinstance(before, str) else before.decode(errors="replace")
    lines = _NEWLINE.sub("\n", text).split("\n")
    return len(lines), len(lines[-1]) + 1


def _unfence(lines: list[str]) -> tuple[list[range], list[Diagnostic]]:
    """Which lines are script, and a warning for each part that is not."""
    blocks = fenced_blocks(lines)
    if not blocks:
        return [range(len(lines))], []
    filled = [block for block in blocks if any(line.strip() for line in lines[block.first : block.last])]
    chosen = [block for block in filled if block.is_python] or [block for block in filled if not block.language]
    kept = [range(block.first, block.last) for block in chosen]
    if not filled and not blocks[0].closed:
        # The last fence without the first: an earlier reader took that.
        kept = [range(blocks[0].first - 1)]
    if not any(lines[number].strip() for part in kept for number in part):
        raise _no_python(filled or blocks)
    return kept, _warnings(lines, kept)


def _no_python(blocks: list[Block]) -> _Unfit:
    block = blocks[0]
    what = f"tagged `{block.language}`" if block.language else "empty"
    message = f"there is no Python between the fences: the block at line {block.first} is {what}"
    return _Unfit("not_a_script", message, WHAT_A_SCRIPT_IS, at=(block.first, 1))


def _warnings(lines: list[str], kept: list[range]) -> list[Diagnostic]:
    gaps = list(_gaps(lines, kept))
    warnings = [
        _removed(lines, gap[0], f"removed {_lines(gap)} around the script", _ALONE) for gap in gaps[:_MOST_WARNINGS]
    ]
    more = gaps[_MOST_WARNINGS:]
    if more:
        warnings.append(_removed(lines, more[0][0], f"removed {len(more)} more parts between the blocks", _ALONE))
    return warnings


def _gaps(lines: list[str], kept: Iterable[range]) -> Iterator[range]:
    """The parts between what is kept, without blank lines at their ends, and without the blank ones."""
    start = 0
    for part in (*kept, range(len(lines), len(lines))):
        filled = [number for number in range(start, part.start) if lines[number].strip()]
        if filled:
            yield range(filled[0], filled[-1] + 1)
        start = part.stop


def _lines(gap: range) -> str:
    return f"line {gap[0] + 1}" if len(gap) == 1 else f"lines {gap[0] + 1} to {gap[-1] + 1}"


def _removed(lines: list[str], number: int, message: str, hint: str) -> Diagnostic:
    source_line = lines[number][:_LONGEST_LINE]
    return Diagnostic(kind="not_a_script", message=message, hint=hint, line=number + 1, source_line=source_line)


def _margins(lines: list[str], kept: Iterable[range]) -> list[int]:
    """For each line, how much of it is indentation that its whole block shares."""
    margins = [0] * len(lines)
    for part in kept:
        margin = _common_indent(line for line in lines[part.start : part.stop] if line.strip())
        for number in part:
            # A blank line may be shorter than the margin.
            margins[number] = min(margin, len(lines[number]))
    return margins


def _common_indent(lines: Iterable[str]) -> int:
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines]
    low, high = min(indents, default=""), max(indents, default="")
    return next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
