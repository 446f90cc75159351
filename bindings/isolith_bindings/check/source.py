"""From hostile text to a tree, within bounds, or to nothing: the guest is the authority for what is Python.

CPython's parser bounds its own depth (brackets 200, blocks 100, its stack 6,000 levels) and answers a deeper text with
an exception, on a stack of 1 MiB or more: 512 KiB were seen to be too little on 3.11 to 3.13. What it does not bound is
time and memory, which grow with the number of tokens: 128,000 of them are 120 MB and half a second. A text that holds
more than a script of a thousand lines is not looked at.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass

MAX_CHARACTERS = 128 * 1024
MAX_TOKENS = 10_000
"""At about 7 microseconds and 1 KB each at most."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_GUEST_VERSION = (3, 14)


@dataclass(frozen=True)
class NotParsed:
    """What the parser of this Python says of a text. `certain`: that of the guest's says so too."""

    message: str
    line: int
    column: int
    certain: bool


def parse(text: str) -> ast.Module | NotParsed | None:
    """The tree of a script, or why there is none; None where it is too large, too deep, or no text."""
    if len(text) > MAX_CHARACTERS or "\0" in text or _tokens(text) > MAX_TOKENS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape in a string, for one
            return ast.parse(text)
    except SyntaxError as error:
        certain = sys.version_info[:2] == _GUEST_VERSION
        return NotParsed(error.msg, max(1, error.lineno or 1), max(1, error.offset or 1), certain)
    except (RecursionError, MemoryError, ValueError, OverflowError):
        return None  # too deep, or half of a character: the guest will say


def _tokens(text: str) -> int:
    """How many tokens a text can have at most; strings count as what stands in them."""
    return sum(1 for _ in _TOKEN.finditer(text))
