"""The marks that stand for what is left out where a value is shown, and where they are found in what comes back."""

from __future__ import annotations

import re
from typing import cast

MORE_KEYS = "…"
"""The key of a mapping that says how many keys there are beside those shown."""
_MARK = re.compile(r"… (?:\d[\d,]* more items|\(\+\d[\d,]* characters\))\Z")
_KEYS = re.compile(r"\d[\d,]* more keys")


def more_items(number: int) -> str:
    """Behind the items of a list that are shown."""
    return f"… {number:,} more items"


def more_keys(number: int) -> str:
    """Beside the keys of a mapping that are shown."""
    return f"{number:,} more keys"


def more_characters(number: int) -> str:
    """Behind the beginning of a text."""
    return f"… (+{number:,} characters)"


def mark_in(value: object) -> str | None:
    """The first of these marks in data; None where there is none. Of a text only its end is one."""
    if isinstance(value, str):
        found = _MARK.search(value[-60:])
        return found[0] if found else None
    if isinstance(value, dict):
        items = cast("dict[object, object]", value)
        said = items.get(MORE_KEYS)
        if isinstance(said, str) and _KEYS.fullmatch(said):
            return said
        return next(filter(None, map(mark_in, items.values())), None)
    if isinstance(value, (list, tuple)):
        return next(filter(None, map(mark_in, cast("list[object]", value))), None)
    return None
