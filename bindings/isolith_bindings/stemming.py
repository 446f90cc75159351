"""The stem of an English word: what `schedule`, `schedules` and `scheduling` have in common, which is no word.

Porter's algorithm as his paper gives it ("An algorithm for suffix stripping", Program 14, 1980), with the departures
of its author's own later version (`bli` for `abli`, and `logi`); SQLite's `porter` tokenizer follows it as well.
"""

from __future__ import annotations

import re
from functools import lru_cache

# A word as vowels and consonants: `y` is a vowel behind a consonant. The measure of the paper is the number of `vc`.
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous",
    "ive", "ize", "sion", "tion",
)  # fmt: skip
_MIN, _MAX = 3, 64
_VC = re.compile("v+c+")


def stem(word: str) -> str:
    """The stem of one word in lower case. What is not of the letters a to z, or very short or long, is its own stem."""
    # These are not kept: a script may search for any number of words of any length.
    return _stem(word) if _MIN <= len(word) <= _MAX and word.isascii() and word.isalpha() else word


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    word = _plural(word)
    word = _past(word)
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP_2)
    word = _replace(word, _STEP_3)
    word = _drop(word)
    return _tidy(word)


def _forms(word: str) -> str:
    forms = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and forms.endswith("c"))
        forms += "v" if vowel else "c"
    return forms


def _measure(word: str) -> int:
    return len(_VC.findall(_forms(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _forms(word)


def _ends_short(word: str) -> bool:
    """Consonant, vowel, consonant, the last no `w`, `x` or `y`: what lost an `e` (`hop` of `hoping`)."""
    return _forms(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _forms(word)[-1] == "c"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = "ed" if word.endswith("ed") else "ing" if word.endswith("ing") else ""
    kept = word[: -len(ending)] if ending else ""
    if not kept or not _has_vowel(kept):
        return word
    if kept.endswith(("at", "bl", "iz")):
        return f"{kept}e"
    if _doubled(kept) and kept[-1] not in "lsz":
        return kept[:-1]
    return f"{kept}e" if _measure(kept) == 1 and _ends_short(kept) else kept


def _replace(word: str, endings: dict[str, str]) -> str:
    """The longest ending that fits is the one that counts, whether it may be replaced or not."""
    for size in range(min(7, len(word) - 1), 1, -1):
        ending = word[-size:]
        if ending in endings:
            kept = word[:-size]
            return kept + endings[ending] if _measure(kept) > 0 else word
    return word


def _drop(word: str) -> str:
    for size in range(5, 1, -1):
        ending = word[-size:]
        if ending in _STEP_4 and size < len(word):
            # Of `sion` and `tion` only `ion` goes.
            kept = word[:-3] if ending in {"sion", "tion"} else word[:-size]
            return kept if _measure(kept) > 1 else word
    return word


def _tidy(word: str) -> str:
    if word[-1] == "e":
        kept = word[:-1]
        measure = _measure(kept)
        if measure > 1 or (measure == 1 and not _ends_short(kept)):
            word = kept
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
