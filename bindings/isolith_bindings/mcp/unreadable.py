"""An answer that is nested deeper than the SDK reads: who waits for it is told so, before the deadline."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError

_TOKEN: Final = re.compile(rb'("(?:[^"\\]|\\.)*+")\s*+(:?)|[\[\]{}]')
_ID: Final = re.compile(rb"\s*+([0-9]{1,18})\s*+[,}]")
_MOST: Final = 1_000_000
"""Strings and brackets that are looked at: a fraction of a second."""


def failure_of(message: bytes, error: ValueError) -> JSONRPCError | None:
    """What stands in place of an answer that is nested too deeply; None for what is no answer, or no JSON."""
    if "recursion limit exceeded" not in str(error):
        return None
    number = _answered(message)
    if number is None:
        return None
    told = ErrorData(code=INTERNAL_ERROR, message="its answer is nested too deeply to be read")
    return JSONRPCError(jsonrpc="2.0", id=number, error=told)


def _answered(message: bytes) -> int | None:
    """The number of the request that it answers: those of ours are integers."""
    depth, number = 0, None
    for token in islice(_TOKEN.finditer(message), _MOST):
        name, colon = token.groups()
        if name is None:
            depth += 1 if token[0] in b"[{" else -1
        elif depth == 1 and colon and name == b'"method"':
            return None  # a request, or a notification
        elif depth == 1 and colon and name == b'"id"':
            found = _ID.match(message, token.end())
            number = int(found[1]) if found else None
    return number
