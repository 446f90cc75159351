"""Where a text carries fenced code. Pure, and linear in the text: each line is looked at twice at most."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^`~]*)$")
_INFO = re.compile(r"[\s{.]*([\w+#-]*)")
_QUOTE = re.compile(r"""\\.|\"\"\"|'''|"|'|\#""")
_PYTHON = frozenset({"py", "ipython", "tool_code", "repl", "code"})


@dataclass(frozen=True, slots=True)
class Block:
    """Fenced code: the lines from `first` up to, not including, `last`, counted from 0; never closed, up to the end."""

    language: str
    first: int
    last: int
    closed: bool

    @property
    def is_python(self) -> bool:
        """Whether the fence says so; tags that models put on code for an interpreter count."""
        return self.language.startswith("python") or self.language in _PYTHON


def fenced_blocks(lines: list[str]) -> list[Block]:
    """The fenced blocks of a text. A fence inside a triple-quoted string of Python is text, not a fence."""
    blocks, broken = _scan(lines, 0, heed_strings=True)
    if broken is not None:
        # A string that never ends: the code is broken, its fence need not be.
        blocks += _scan(lines, broken, heed_strings=False)[0]
    return blocks


def string_after(line: str, inside: str) -> str:
    """Which triple quote is open at the end of a line of Python, if one of those was open (`inside`) at its start."""
    quote = inside
    for match in _QUOTE.finditer(line):
        mark = match[0]
        if mark[0] == "\\":
            continue
        if not quote:
            if mark == "#":
                break
            quote = mark
        elif quote == mark or (len(quote) == 1 and mark[0] == quote):
            quote = ""
    return quote if len(quote) > 1 else ""


@dataclass(frozen=True, slots=True)
class _Fence:
    marks: str
    language: str
    line: int

    def closes(self, other: _Fence) -> bool:
        return not self.language and self.marks.startswith(other.marks)


def _scan(lines: list[str], start: int, *, heed_strings: bool) -> tuple[list[Block], int | None]:
    """The blocks from line `start` on, and the fence of the one that ends inside a string, if there is one."""
    blocks: list[Block] = []
    opened: _Fence | None = None
    quote = ""
    for number in range(start, len(lines)):
        fence = None if quote else _fence(lines[number], number)
        if fence and opened is None:
            opened = fence
        elif fence and opened and fence.closes(opened):
            blocks.append(Block(opened.language, opened.line + 1, number, closed=True))
            opened = None
        elif heed_strings:
            quote = string_after(lines[number], quote)
    if opened and quote:
        return blocks, opened.line
    if opened:
        blocks.append(Block(opened.language, opened.line + 1, len(lines), closed=False))
    return blocks, None


def _fence(line: str, number: int) -> _Fence | None:
    match = _FENCE.match(line)
    if match is None:
        return None
    info = _INFO.match(match[2])
    block = Block(info[1].lower() if info else "", number, number, closed=False)
    # Backticks are never Python; `~~~x` is, so tildes have to say that they fence Python, or nothing.
    if match[1][0] == "~" and block.language and not block.is_python:
        return None
    return _Fence(match[1], block.language, number)
