"""What a type checker says of a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True)
class Remark:
    """One thing, at a line and column, from 1, of the file it read."""

    line: int
    column: int
    message: str
    rule: str


def remark_of(told: dict[str, object], rule: str) -> Remark:
    """From JSON of the shape that editors read, where lines and columns begin with 0. Raises KeyError or TypeError."""
    start = cast("dict[str, dict[str, int]]", told["range"])["start"]
    message = str(told["message"]).partition("\n")[0]
    return Remark(start["line"] + 1, start["character"] + 1, message, str(told.get(rule, "")))
