"""Pieces of what is no Python, most of them JavaScript, in a script that is Python otherwise: what to write. Pure.

Asked only of the line that Python could not read, for most of these could stand in a string or a comment elsewhere.
"""

from __future__ import annotations

import re

LONGEST = 300
"""Characters of a line that are looked at."""

_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|#.*""")
_FRAGMENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"=>\s*-?\d", "write `>=` instead of `=>`"),
        (r"=>", "a function is `lambda x: ...`, and a list of results is `[f(x) for x in rows]`"),
        (r"^\s*(const|let|var)\s", "a name needs no `const`, `let` or `var`: write `x = 1`"),
        (r"&&", "write `and` instead of `&&`"),
        (r"\|\|", "write `or` instead of `||`"),
        (r"[=!]==", "write `==` instead of `===`, `!=` instead of `!==`"),
        (r"\?\?", "write `x if x is not None else y` instead of `x ?? y`"),
        (r"\?\.", "write `x and x['key']`, or `x.get('key')`, instead of `x?.key`"),
        (r"\+\+|--\s*;?$", "write `x += 1` instead of `x++`"),
        (r"`", 'text with values in it is an f-string: f"{x} rows", not `${x} rows`'),
        (r"\bnew\s+[A-Za-z_]\w*\s*\(", "an object is made without `new`: datetime.now(), not new Date()"),
        (r"\btypeof\s", "write `isinstance(x, str)` instead of `typeof x`"),
        (r"^\s*(//|/\*)", "a comment begins with `#`"),
        (
            r"^\s*(for|while|if|switch)\s*\(.*\{|^\s*\}|\belse\s*\{|\bfunction\b.*\{",
            "blocks have a colon and are indented: `if x == 1:`, `for row in rows:`, `def f(x):`",
        ),
        (r"(?<![=!<>])![\w(]", "write `not x` instead of `!x`"),
        (r"\?[^?:]*:", "write `a if condition else b` instead of `condition ? a : b`"),
    )
)
_NO_LANGUAGE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (
            r"^\s*(!|%{1,2})\s*[a-z]\w*(\s+[\w./-]|\s*$)",
            "leave out the lines that begin with `%` or `!`: there is no shell here, and nothing can be installed",
        ),
        (r"^\s*else\s+if\b.*:", "write `elif` instead of `else if`"),
        (
            r"^(?!\s*(//|/\*)).*[\u201c\u201d\u201e\u2018\u2019]",
            "write plain quotes, \" or ', instead of curly ones",
        ),
        (
            r"(?<!/)\\n(?!/)",
            "`\\n` stands here as two characters, where a line should end: the script was escaped twice",
        ),
    )
)
"""What stands in no other language of which to tell."""


def fragment_hint(text: str, line: int | None) -> str | None:
    """What to write instead of what stands in that line (from 1); None where nothing of it is known."""
    lines = text.split("\n")
    if line is None or not 0 < line <= len(lines):
        return None
    bare = _STRING.sub('""', lines[line - 1][:LONGEST])
    plain = next((hint for pattern, hint in _NO_LANGUAGE if pattern.search(bare)), None)
    if plain:
        return plain
    found = next((hint for pattern, hint in _FRAGMENTS if pattern.search(bare)), None)
    return found and f"this is Python, not JavaScript: {found}"
