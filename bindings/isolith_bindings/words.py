"""Words of a text or a name, in any script, as search compares them."""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
# Written without blanks between words: found by every two characters that follow each other.
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f]{2,}")


def words(text: str) -> list[str]:
    """The words of a text or a name, in order: `listContacts` is `list`, `contacts`; accents and case are dropped."""
    if not text.isascii():
        text = _plain(text)
    return _WORDS.findall(_CAMEL.sub(" ", text).casefold())


def _plain(text: str) -> str:
    normal = unicodedata.normalize("NFKD", text)
    # Accents belong to no word; the vowel signs of other scripts do, and would cut theirs.
    kept = "".join(
        "" if unicodedata.combining(character) or unicodedata.category(character) == "Mc" else character
        for character in normal
    )
    return _UNSPACED.sub(_pairs, unicodedata.normalize("NFKC", kept))


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    pairs = [text[at : at + 2] for at in range(len(text) - 1)]
    return f" {' '.join(pairs)} "
