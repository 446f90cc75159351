"""JSON text of others, read as deep on every Python.

From 3.12 on `json` reads tens of thousands of levels, and whatever then walks the value has a thousand frames for it.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH: Final = 208
"""Levels: enough for what a guest writes (`MAX_TEXT_DEPTH` of its codec), few enough to walk at four frames each."""

_NOT_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_STRING = re.compile(rb'"[^"]*+"')
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord('"'): 0}


def loads(
    text: str | bytes,
    *,
    parse_int: Callable[[str], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:  # noqa: ANN401 - as of `json.loads`
    """As `json.loads`. Raises ValueError for what is no JSON, RecursionError for what is nested past `MAX_DEPTH`."""
    check(text)
    return json.loads(text, parse_int=parse_int, parse_constant=parse_constant, object_pairs_hook=object_pairs_hook)


def check(text: str | bytes) -> None:
    """Raises RecursionError for what is nested past `MAX_DEPTH`."""
    if is_deep(text):
        raise RecursionError(f"it is nested deeper than {MAX_DEPTH} levels")


def is_deep(text: str | bytes) -> bool:
    """Whether it is nested past `MAX_DEPTH`, as far as it is JSON. Costs less than to read it."""
    if isinstance(text, bytes):
        encoding = json.detect_encoding(text)
        if not encoding.startswith("utf-8"):
            text = text.decode(encoding, "replace")
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if content.count(b"[") + content.count(b"{") <= MAX_DEPTH:
        return False  # at most so many are open together
    levels = accumulate(map(_STEP.__getitem__, _brackets(content)))
    return any(level > MAX_DEPTH for level in levels)


def _brackets(content: bytes) -> bytes:
    """Those that are not inside of strings."""
    marks = content.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NOT_MARKS)
    # Two quotes side by side are an empty string, or two strings that may as well be one.
    return _STRING.sub(b"", marks.replace(b'""', b""))
