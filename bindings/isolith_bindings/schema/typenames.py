"""Names for declared types: from what a document calls them to class names, each once."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

MAX_LENGTH = 48
PRELUDE = frozenset(
    {"Any", "Artifact", "Literal", "Never", "NotRequired", "TypedDict", "Unpack"}
    | {"Decimal", "UUID", "date", "datetime", "time", "timedelta"}
)
"""What stubs use themselves."""

_WORDS = re.compile(r"[^\W_]+")
_RESERVED = PRELUDE | frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"Rejected", "ToolError"}


class TypeNames:
    """The names of one stub."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self.renamed = False
        """Whether a type is not called as it is where it comes from: what names it there names another here."""
        self._schemas: dict[str, list[tuple[object, str]]] = {}

    def take(self, name: str) -> None:
        """Reserve a name, that of the method itself for one."""
        self._taken.add(name)

    def known(self, text: str, schema: object) -> str | None:
        """The name of a type that was declared for the same text and an equal schema, as in another document."""
        return next((name for other, name in self._schemas.get(text, ()) if other == schema), None)

    def claim(self, text: str, schema: object = None) -> str:
        """A name of its own that is like the text."""
        base = class_name(text)
        name, number = base, 2
        while name in self._taken or name in _RESERVED:
            name, number = f"{base[: MAX_LENGTH - 4]}{number}", number + 1
            self.renamed = True
        self._taken.add(name)
        if schema is not None:
            self._schemas.setdefault(text, []).append((schema, name))
        return name


def class_name(text: str) -> str:
    """`list-issues result` as `ListIssuesResult`; what has no letters as `Data`."""
    normal = unicodedata.normalize("NFKC", text[:500])
    words = (word[:1].upper() + word[1:] for word in _WORDS.findall(normal))
    name = "".join(character for character in "".join(words) if f"a{character}".isidentifier())
    # NFKC of an identifier can be another text, and Python compares the normal form.
    name = unicodedata.normalize("NFKC", name).lstrip("0123456789")[:MAX_LENGTH]
    return name if name.isidentifier() and name == unicodedata.normalize("NFKC", name) else f"Data{_ascii(name)}"


def singular(text: str) -> str:
    """`issues` as `issue`, for one item of a list; what is no plural gets `Item` behind it."""
    if text.endswith("ies") and len(text) > 4:
        return f"{text[:-3]}y"
    if text.endswith("s") and not text.endswith(("ss", "us", "is")) and len(text) > 3:
        return text[:-1]
    return f"{text}Item"


def _ascii(text: str) -> str:
    return "".join(character for character in text if character.isascii() and character.isalnum())
