"""What a script, a server or a caller wrote is shown, never obeyed: control characters come out as their escapes."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


_COMMAND = re.compile(r"^([^\S\n]*):(?=:[\w-][^\n]*::)|#(?=#(?:vso|teamcity)?\[)", re.MULTILINE)
"""What the log of a CI service obeys: `::add-mask::`, `##[group]`, `##vso[...]`."""


def visible(text: str) -> str:
    """`text` with each control character but tab and line feed as its escape, and with no command for a CI service."""
    shown = _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    return _COMMAND.sub(lambda match: f"{match[1] or ''}\\x{ord(match[0][-1]):x}", shown)


def visible_in_json(text: str) -> str:
    """The same, with escapes that JSON has: what was a JSON document still is, and says the same."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
