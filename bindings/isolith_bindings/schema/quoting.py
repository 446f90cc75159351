"""A stranger's words inside Python text: cleaned, cut, marked, and unable to leave the place they were put in.

`> ` before a line says that the server wrote it. It is data for whoever reads it, never an instruction.
"""

from __future__ import annotations

import html
import re
import unicodedata

MARK = "> "

_CUT = " ... (cut)"
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_JOINERS = {"\u200c", "\u200d"}
"""Of scripts that need them, and of emoji; every other format character hides or reorders text."""
_TAG = re.compile(r"#(?=\s*(?:type|pyright|mypy|ty|pyre|noqa|ruff|pylint|fmt)\b)", re.IGNORECASE)
"""A comment that would speak to a type checker or a linter."""


# What frames a conversation or a document for a model: tags, special tokens, fences, and our own mark.
_FRAMES = (
    (re.compile(r"(?<!\w)<(?=[A-Za-z][\w-]*[\s/>])|<(?=[/|!?])"), "\u2039"),
    (re.compile(r"`{3,}|~{3,}"), "'''"),
    (re.compile(r"\[(/?INST|asks a person)\]", re.IGNORECASE), r"(\1)"),
)


def unframed(text: str) -> str:
    """The text without what could pass for the frame around it: `<system>`, a fence of Markdown, `[asks a person]`."""
    for frame, instead in _FRAMES:
        text = frame.sub(instead, text)
    return text


_IS_MARKED_UP = re.compile(r"\s*<(?:p|div|span|h[1-6]|ul|ol|table|section|article)[\s>]", re.IGNORECASE)
_BLOCK = re.compile(r"</?(?:p|div|h[1-6]|ul|ol|table|section|article|pre|blockquote)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_LINE = re.compile(r"<(?:br|hr|li|tr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_INLINE = re.compile(
    r"</?(?:a|abbr|b|code|dd|dl|dt|em|i|img|kbd|li|small|span|strong|sub|sup|tbody|td|th|thead|tr|tt|u|var)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_GAPS = re.compile(r"\n\s*\n")
_MAX_MARKED_UP = 100_000


def unmarked(text: str) -> str:
    """The words of a description that is HTML as a whole, its paragraphs apart; any other text is left as it is.

    What a text says of HTML, in the midst of its words, it means.
    """
    if "<" not in text or _IS_MARKED_UP.match(text) is None:
        return text
    plain = _INLINE.sub("", _LINE.sub("\n", _BLOCK.sub("\n\n", text[:_MAX_MARKED_UP])))
    return _GAPS.sub("\n\n", html.unescape(plain)).strip()


def clean(text: str, limit: int) -> str:
    """The text without what is invisible or a frame, its lines kept, at most `limit` characters and a note of a cut."""
    whole = len(text) <= limit * 2
    kept = unframed("".join(_character(character) for character in text[: limit * 2]))
    lines = [line.rstrip() for line in kept.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    shown = "\n".join(lines)
    return shown if whole and len(shown) <= limit else shown[: max(0, limit - len(_CUT))].rstrip() + _CUT


def one_line(text: str, limit: int) -> str:
    """The same on one line, for a comment."""
    return clean(" ".join(text[: limit * 4].split()), limit)


def comment(text: str) -> str:
    """Text behind `#`. It has to be one line already."""
    return "# " + _TAG.sub("", text)


def docstring(lines: list[str], indent: str) -> list[str]:
    """Lines as a docstring. Empty for no lines."""
    if not lines:
        return []
    safe = [line.replace('"""', "'''") for line in lines]
    quote = 'r"""' if any("\\" in line for line in safe) else '"""'
    if len(safe) == 1 and safe[0][-1:] not in {'"', "\\"}:
        return [f'{indent}{quote}{safe[0]}"""']
    # The end stands alone: no quote or backslash of theirs comes before it.
    return [f"{indent}{quote}{safe[0]}", *(f"{indent}{line}".rstrip() for line in safe[1:]), f'{indent}"""']


def quoted(text: str, *, theirs: bool) -> list[str]:
    """The lines of a text, each marked where it is a stranger's."""
    return [f"{MARK if theirs else ''}{line}".rstrip() for line in text.split("\n")] if text else []


def _character(character: str) -> str:
    if character == "\n":
        return character
    if character in "\t\r\v\f\x85\u2028\u2029":
        return "\n" if character in "\x85\u2028\u2029" else " "
    return "" if unicodedata.category(character) in _INVISIBLE and character not in _JOINERS else character
