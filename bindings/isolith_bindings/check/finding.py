"""What the check finds, and where: in the words that the run itself would use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import ast

FindingKind = Literal["syntax", "unknown_tool", "invalid_arguments", "exception", "check"]
"""How the run would end at this place; `check` where it would not end there."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `line` and `column` count characters from 1.

    `certain`: a run that gets to its end cannot pass here. `tool` is `connector.method`.
    """

    kind: FindingKind
    message: str
    line: int
    column: int
    hint: str | None = None
    tool: str | None = None
    certain: bool = False


@dataclass
class Draft:
    """A finding while the pass goes on: a failed call becomes certain where it is awaited."""

    kind: FindingKind
    message: str
    node: ast.expr | ast.stmt
    hint: str | None = None
    tool: str | None = None
    order: int | None = None
    """When it became certain, counted in the order of execution; None while it may not happen."""


class Places:
    """From the parser's places, in bytes of UTF-8, to a reader's, in characters."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")

    def of(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Line and column, from 1, where CPython says that an expression failed."""
        line, offset = _failing(node)
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        before = offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
        return line, before + 1


def _failing(node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
    """Of an attribute that stands on a later line than its object, CPython names the line of the attribute."""
    function: ast.AST = getattr(node, "func", node)
    name = getattr(function, "attr", None)
    line, end, column = node.lineno, getattr(function, "end_lineno", None), getattr(function, "end_col_offset", None)
    if isinstance(name, str) and end is not None and column is not None and end != line:
        return end, max(0, column - len(name.encode()))
    return line, node.col_offset
