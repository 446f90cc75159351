r"""Regular expressions that a server wrote, in bounded time.

JSON Schema's are those of ECMA-262. They are translated for the `regex` package, whose `timeout` ends a match that
backtracks for ever; nothing passes that means something to `regex` alone (recursion, fuzzy matches, inline flags).
What cannot be translated or does not end in time is not checked: the server does that itself.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PATTERN = 1_000
"""Characters of a pattern."""
MAX_TEXT = 100_000
"""Characters of a text that is matched."""
MAX_SECONDS = 0.1
"""For all patterns of one value together."""

_MAX_REPEAT = 10_000
_ESCAPES = {"d": "[0-9]", "D": "[^0-9]", "w": "[A-Za-z0-9_]", "W": "[^A-Za-z0-9_]", "b": r"\b", "B": r"\B"}
_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_NOT_SPACE = (
    r"\x00-\x08\x0e-\x1f!-\x9f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff"
    r"\u3001-\ufefe\uff00-\U0010ffff"
)
_IN_CLASS = {
    "d": "0-9",
    "D": r"\x00-/:-\U0010ffff",
    "w": "A-Za-z0-9_",
    "W": r"\x00-/:-@\[-\^`{-\U0010ffff",
    "s": _SPACE,
    "S": _NOT_SPACE,
    "b": r"\x08",
}
_CONTROLS = {"t": r"\t", "n": r"\n", "v": r"\v", "f": r"\f", "r": r"\r", "0": r"\x00"}
_TOKEN = regex.compile(
    r"""(?P<escape>\\(?:[pP]\{\w+(?:=\w+)?\}|u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<\w+>|[1-9][0-9]?|.))
    |(?P<group>\((?!\?)|\(\?(?:[:=!]|<[=!]|<[A-Za-z_]\w*>))
    |(?P<repeat>\{(?P<low>[0-9]+)(?:,(?P<high>[0-9]*))?\}\??)
    |(?P<class>\[\^?)
    |(?P<other>.)""",
    regex.VERBOSE | regex.DOTALL,
)


class Untranslatable(ValueError):
    """A pattern that is not ECMA-262's, or one that is too long."""


class Patterns:
    """The patterns of one schema, each compiled once."""

    def __init__(self) -> None:
        self._compiled: dict[str, regex.Pattern[str] | None] = {}

    def matches(self, pattern: str, text: str, clock: Clock) -> bool | None:
        """Whether the pattern is found anywhere in the text; None where that cannot be said."""
        compiled = self._compiled[pattern] if pattern in self._compiled else self._compile(pattern)
        if compiled is None or len(text) > MAX_TEXT or clock.left <= 0:
            return None
        try:
            with clock:
                return compiled.search(text, timeout=clock.left) is not None
        except TimeoutError:
            return None

    def _compile(self, pattern: str) -> regex.Pattern[str] | None:
        try:
            compiled = regex.compile(translate(pattern), regex.VERSION0)
        except (Untranslatable, regex.error, RecursionError, OverflowError):
            compiled = None
        self._compiled[pattern] = compiled
        return compiled


class Clock:
    """How long the patterns of one value may still be matched, in seconds of CPU. Runs within `with`.

    By the clock on the wall a busy machine would leave patterns undecided that take it no time.
    """

    def __init__(self, seconds: float = MAX_SECONDS) -> None:
        self.left = seconds
        self._since = 0.0

    def __enter__(self) -> None:
        self._since = time.thread_time()

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        # `regex` counts with a coarser clock: a match that it gave up has used up all there was.
        self.left = 0.0 if raised is TimeoutError else self.left - (time.thread_time() - self._since)


def translate(pattern: str) -> str:
    """The pattern for `regex`. Raises Untranslatable."""
    if len(pattern) > MAX_PATTERN:
        raise Untranslatable(f"a pattern of {len(pattern):,} characters; {MAX_PATTERN:,} are read")
    parts: list[str] = []
    tokens = iter(list(_TOKEN.finditer(pattern)))
    for token in tokens:
        match token.lastgroup:
            case "escape":
                parts.append(_escape(token["escape"]))
            case "class":
                parts.append(_class(token["class"], tokens))
            case "repeat":
                parts.append(_repeat(token))
            case "group":
                parts.append(token[0])
            case _:
                parts.append(_plain(token[0]))
    return "".join(parts)


def _plain(text: str) -> str:
    if text == "$":
        return r"\Z"
    if text == ".":
        return r"[^\n\r\u2028\u2029]"
    if text in {"{", "}", "]"} or text.isspace() or text == "#":
        return "\\" + text
    if text == "(":  # one that opens no group of theirs: `(?R)`, `(?i)`
        raise Untranslatable("a group that is not of ECMA-262")
    return text


def _repeat(token: regex.Match[str]) -> str:
    if max(int(token["low"]), int(token["high"] or 0)) > _MAX_REPEAT:
        raise Untranslatable(f"a repetition of more than {_MAX_REPEAT:,}")
    return token[0]


def _escape(text: str, *, in_class: bool = False) -> str:  # noqa: PLR0911 - one kind of escape a line
    kind = text[1]
    if kind in {"p", "P"} and len(text) > 2:
        return text
    if kind in {"u", "x"} and len(text) > 2:
        return _character(text[2:].strip("{}"))
    if kind == "c" and len(text) == 3:
        return _character(format(ord(text[2]) % 32, "x"))
    if kind in _CONTROLS:
        return _CONTROLS[kind]
    if in_class:
        return _IN_CLASS.get(kind) or _literal(kind)
    if kind == "s":
        return f"[{_SPACE}]"
    if kind == "S":
        return f"[^{_SPACE}]"
    if kind in _ESCAPES:
        return _ESCAPES[kind]
    if text[1:].isdigit() or text.startswith("\\k<"):
        return f"(?P={text[3:-1]})" if kind == "k" else text
    return _literal(kind)


def _character(digits: str) -> str:
    code = int(digits, 16)
    if code > 0x10FFFF:
        raise Untranslatable("a character beyond Unicode")
    return f"\\U{code:08x}"


def _literal(character: str) -> str:
    """An escaped character that stands for itself. Letters are ECMA-262's to define, and these it does not."""
    if character.isascii() and character.isalnum():
        raise Untranslatable(f"`\\{character}` is not of ECMA-262")
    return regex.escape(character, special_only=False) if character.isascii() else character


def _class(opening: str, tokens: Iterator[regex.Match[str]]) -> str:
    parts: list[str] = []
    for token in tokens:
        text = token[0]
        if text == "]":
            # `[]` fits nothing and `[^]` anything, where `regex` would read on.
            return opening + "".join(parts) + "]" if parts else (r"(?!)" if opening == "[" else r"(?:.|\n)")
        if token.lastgroup == "escape":
            parts.append(_escape(text, in_class=True))
        else:
            parts.extend(
                "\\" + character if character in "[&|~#(){}" or character.isspace() else character for character in text
            )
    raise Untranslatable("a class without an end")
