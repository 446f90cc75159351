"""The names of a run's connectors and methods: every spelling that tells them apart, and the nearest ones."""

from __future__ import annotations

import difflib

_MAX_NAME = 100


def fold(name: str) -> str:
    """What all spellings of a name that a model is likely to try have in common."""
    return "".join(character for character in name.casefold() if character.isalnum())


def nearest(name: str, names: list[str]) -> list[str]:
    """Up to three names that look like this one, best first."""
    folded = {fold(known): known for known in names}
    close = difflib.get_close_matches(fold(name[:_MAX_NAME]), list(folded), 3, 0.6)
    return [folded[match] for match in close]


class Names:
    """The methods of one connector under every spelling. `aliases` maps an original name to the Python one.

    `open`: there may be others by the time of a call, so that a name which is not known is for the host to judge.
    """

    def __init__(self, methods: list[str], aliases: dict[str, str], *, open: bool = False) -> None:  # noqa: A002 - a word
        self.methods = methods
        self.open = open
        self.exact = {**{method: method for method in methods}, **aliases}
        self.folded: dict[str, str] = {}
        for method in self.exact:
            known = self.folded.setdefault(fold(method), self.exact[method])
            if known != self.exact[method]:
                self.folded[fold(method)] = ""  # two methods share it: only exact spellings tell them apart

    def resolve(self, name: str) -> str | None:
        """The method's Python name, or None."""
        return self.exact.get(name) or self.folded.get(fold(name)) or None

    def asked(self, name: str) -> str | None:
        """What the host is asked for by this name; None where it is certain that there is none."""
        return self.resolve(name) or (name if self.open else None)

    def has_prefix(self, prefix: str) -> bool:
        """Whether names go on behind this one, as in `repos.issues.list`."""
        folded = fold(prefix)
        return any(name.startswith(folded) and name != folded for name in self.folded)
