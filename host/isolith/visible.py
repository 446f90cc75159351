"""What a script, a server or a caller wrote is shown, never obeyed: control characters come out as their escapes."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with each control character, other than tab and line feed, as its escape."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def visible_in_json(text: str) -> str:
    """The same, with escapes that JSON has: what was a JSON document still is, and says the same."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
