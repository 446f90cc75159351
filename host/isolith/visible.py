"""What a script, a server or a caller wrote is shown, never obeyed: control characters come out as their escapes.

So does what nobody sees: it would make two addresses look alike, or say to a model what no person reads.
"""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_JOINERS, _VARIANTS = "\u200c\u200d", "\ufe00-\ufe0f"
_NEEDING = "\xa9\xae\u0300-\U0010ffff"
# Emoji and many scripts need these two, after a character of their own and one at a time.
_CONTROL = re.compile(
    f"[{_HIDDEN}]|(?<![{_NEEDING}])[{_JOINERS}{_VARIANTS}](?!\u20e3)"
    f"|(?<=[{_JOINERS}])[{_JOINERS}]|(?<=[{_VARIANTS}])[{_VARIANTS}]"
)

_COMMAND = re.compile(r"^([^\S\n]*):(?=:[\w-][^\n]*::)|#(?=#(?:vso|teamcity)?\[)", re.MULTILINE)
"""What the log of a CI service obeys: `::add-mask::`, `##[group]`, `##vso[...]`."""


def visible(text: str) -> str:
    """`text` with each control character but tab and line feed as its escape, and with no command for a CI service."""
    shown = _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
    return _COMMAND.sub(lambda match: f"{match[1] or ''}\\x{ord(match[0][-1]):x}", shown)


def visible_in_json(text: str) -> str:
    """The same, with escapes that JSON has: what was a JSON document still is, and says the same."""
    return _CONTROL.sub(lambda match: _in_json(match[0]), text)


def _in_json(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


# Greek, Cyrillic, Armenian, Cherokee, Coptic, full width, and the alphabets of mathematics.
_ALIKE = (
    "\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13fd\u2c80-\u2cff\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7cb"
)
_MIXED = re.compile(f"[A-Za-z](?=[{_ALIKE}])|[{_ALIKE}](?=[A-Za-z])")
_LETTER_ALIKE = re.compile(f"[{_ALIKE}]")
_MOST_MIXED = 3
_MOST_LOOKED_AT = 1_000
"""The same word may be there a million times, and is told of once."""
_MOST_OF_A_WORD = 40


def mixed_words(text: str) -> list[str]:
    """The first few words in which letters of another alphabet stand among Latin ones, each with what such a letter is.

    Two addresses look alike by them: a person is told, and looks twice.
    """
    if text.isascii():  # which is known, however long it is
        return []
    found: dict[str, str] = {}
    looked, at = 0, 0
    while len(found) < _MOST_MIXED and looked < _MOST_LOOKED_AT and (match := _MIXED.search(text, at)):
        start, end = _word(text, match.start())
        letter = _LETTER_ALIKE.search(text, start, end)
        found[text[start:end]] = unicodedata.name(letter[0], "another letter") if letter else "another letter"
        looked, at = looked + 1, max(end, match.end())
    return [f"`{word}` has {letter}" for word, letter in found.items()]


def _word(text: str, at: int) -> tuple[int, int]:
    """Where the letters around a place begin and end, cut to what is shown."""
    start = end = at
    while start > max(0, at - _MOST_OF_A_WORD) and text[start - 1].isalpha():
        start -= 1
    while end < min(len(text), at + _MOST_OF_A_WORD) and text[end].isalpha():
        end += 1
    return start, end
