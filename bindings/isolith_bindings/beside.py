"""Arguments of a call that are looked through beside the event loop, because they are many.

A script may give a megabyte of numbers, two hundred times; to check and to write them takes a second or two each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

MUCH = 5_000
"""Values that are looked through in the event loop, in some fifteen milliseconds."""


async def beside_where_much(arguments: Mapping[str, object], look: Callable[[], T]) -> T:
    """What `look` gives, on a thread where there are many arguments."""
    return await asyncio.to_thread(look) if is_much(arguments) else look()


def is_much(arguments: Mapping[str, object]) -> bool:
    """Whether so many values are in there; no more of them are counted."""
    left, waiting = MUCH, [cast("object", arguments)]
    while waiting and left > 0:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += cast("Mapping[object, object]", value).values()
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += cast("Iterable[object]", value)
        left -= 1
    return left <= 0
