"""A value that is too large for its reader, cut by its shape: fewer items, shorter texts, and what was left out said.

No more is walked than could be shown, so the work is bounded by what the reader gets and not by what a script built.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import cast

from isolith.json_form import to_json_text
from isolith_bindings.cuts import MORE_KEYS, more_characters, more_items, more_keys
from isolith_bindings.tokens import fits

PARTS_PER_TOKEN = 4
"""Parts of a value that are walked for each token: brackets and commas share tokens, but no more of them than this."""
_STEPS = ((400, 4000), (120, 1200), (40, 400), (14, 160), (6, 60), (3, 30), (1, 12))
_MAX_DEPTH = 12


def shorten(value: object, max_tokens: int) -> object:
    """The fullest cut of `value` whose JSON text fits in `max_tokens` tokens."""
    room = max_tokens * PARTS_PER_TOKEN
    for items, text in _STEPS:
        try:
            cut = _Cutting(items, text, room).cut(value, _MAX_DEPTH)
        except _NoRoom:
            continue
        if fits(to_json_text(cut), max_tokens):
            return cut
    for said in (f"<{type(value).__name__}, too large to show>", "…"):
        if fits(to_json_text(said), max_tokens):
            return said
    return None  # one token, and nothing is less


class _NoRoom(Exception):
    """More items than would fit, whatever they are."""


class _Cutting:
    """One attempt: at most `items` of each container, `text` of each text, and `room` parts in all."""

    def __init__(self, items: int, text: int, room: int) -> None:
        self._items, self._text, self._left = items, text, room

    def cut(self, value: object, depth: int) -> object:
        self._left -= 1  # a part takes a character at least
        if self._left < 0:
            raise _NoRoom
        if not isinstance(value, (Mapping, list, tuple, set, frozenset)):
            return _cut_atom(value, self._text)
        whole = cast("Collection[object]", value)
        left_out = len(whole) - self._items
        if depth == 0:
            return f"<{type(whole).__name__} of {len(whole):,} items>"
        if isinstance(value, Mapping):
            pairs = islice(cast("Mapping[object, object]", value).items(), self._items)
            kept = {key: self.cut(item, depth - 1) for key, item in pairs}
            return kept if left_out <= 0 else {**kept, MORE_KEYS: more_keys(left_out)}
        shown = [self.cut(item, depth - 1) for item in islice(whole, self._items)]
        return shown if left_out <= 0 else [*shown, more_items(left_out)]


def _cut_atom(value: object, text: int) -> object:
    if isinstance(value, str) and len(value) > text:
        return f"{value[:text]}{more_characters(len(value) - text)}"
    if isinstance(value, (bytes, bytearray)) and len(value) > text:
        return f"<{len(value):,} bytes>"
    if isinstance(value, int) and value.bit_length() > text * 4:
        return f"<integer of {value.bit_length():,} bits>"
    return value
