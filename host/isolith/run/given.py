"""The input of a run as it crosses into the guest, and how large what a guest gives is as it crosses."""

from __future__ import annotations

import sys

from isolith.outcome import Diagnostic
from isolith_runtime.guest import codec

MOST_GIVEN = 20 * 1024 * 1024
"""Bytes of an input, or of the arguments of a call, whatever its budget: a journal takes no more."""


class Unfit(Exception):
    """No run can begin with what was given."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(kind="invalid_input", message=message, hint=hint)


def size_of(given: object, max_bytes: int) -> int:
    """Its bytes as it crosses. Raises Unfit for an input that cannot, or that is larger than its budget."""
    try:
        size = len(codec.to_text(codec.encode(given)))
    except (codec.NoDataForm, codec.TooLarge, RecursionError) as error:
        reason = str(error).replace("the value at $", "`input`") or "`input` has too many items"
        raise Unfit(reason, "give data: dicts, lists, text, numbers") from error
    if size > min(max_bytes, MOST_GIVEN):
        limit = f"`input_bytes` is {min(max_bytes, MOST_GIVEN):,}"
        raise Unfit(f"the input is {size:,} bytes; {limit}", "hand over less, or a connector")
    return size


def encoded_size(value: object) -> int:
    """Bytes of a guest's value as it crosses; more than any budget where it holds more than any value may."""
    try:
        return len(codec.dumps(value).encode())
    except codec.TooLarge:
        return sys.maxsize
