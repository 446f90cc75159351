"""The connectors and methods that a spelling leads to, as the guest resolves it.

An index is made for the connectors that a script names and no others.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith_bindings import names
from isolith_bindings.connector import Connector, Method, offered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VARIANTS = ("raw", "pages")
_MAX_NAME = 100
_MAX_LISTED = 20
_MAX_COMPARED = 3000
"""Names that one misspelt name is compared with at most."""


@dataclass(frozen=True)
class Missing:
    """There is no such thing: what the run says of it."""

    message: str
    hint: str
    tool: str


@dataclass
class Index:
    """The methods of one connector, under every spelling."""

    name: str
    methods: Mapping[str, Method]
    exact: dict[str, str] = field(default_factory=dict[str, str])
    folded: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.exact = {name: name for name in self.methods}
        self.exact.update((method.original, name) for name, method in self.methods.items())
        for spelling, name in self.exact.items():
            key = _fold(spelling)
            if self.folded.setdefault(key, name) != name:
                self.folded[key] = ""  # of several methods: only exact spellings tell them apart

    def resolve(self, path: str) -> str | None:
        """The Python name of the method that a spelling means."""
        return self.exact.get(path) or self.folded.get(_fold(path)) or None

    def is_ambiguous(self, path: str) -> bool:
        """Whether several methods are spelt like this."""
        return path not in self.exact and self.folded.get(_fold(path)) == ""

    def has_prefix(self, path: str) -> bool:
        """Whether names go on behind this one, as in `repos.issues.list`."""
        prefix = _fold(path)
        return any(spelling.startswith(prefix) and spelling != prefix for spelling in self.folded)

    def missing(self, path: str) -> Missing:
        """What the run says of a method that is not there."""
        close = _nearest(path, self.methods)
        if close:
            hint = f"did you mean {_either(f'{self.name}.{name}' for name in close)}?"
        else:
            hint = f"its methods: {', '.join(sorted(self.methods)[:_MAX_LISTED]) or 'none'}"
        return Missing(f"{self.name} has no method {path!r}", hint, f"{self.name}.{path}")


class Toolbox:
    """What a run offers: connectors by name, each indexed when it is first looked at."""

    def __init__(self, connectors: Mapping[str, Connector]) -> None:
        self.connectors = connectors
        self._indexes: dict[str, Index] = {}

    def index(self, connector: str) -> Index:
        """The methods of a connector, without the denied."""
        if connector not in self._indexes:
            self._indexes[connector] = Index(connector, offered(self.connectors[connector]))
        return self._indexes[connector]

    def find(self, name: str) -> str | None:
        """The connector that a spelling means."""
        if name in self.connectors:
            return name
        alike = [known for known in self.connectors if _fold(known) == _fold(name)]
        return alike[0] if len(alike) == 1 else None

    def missing(self, name: str) -> Missing:
        """What the run says of a connector that is not there."""
        close = _nearest(name, self.connectors)
        if close:
            hint = f"did you mean {_either(close)}?"
        else:
            known = ", ".join(sorted(self.connectors)[:_MAX_LISTED])
            hint = f"there are: {known}" if known else "this run has no connectors"
        return Missing(f"there is no connector {name!r} in this run", hint, name)


def _fold(name: str) -> str:
    """As the guest folds: what all spellings of a name have in common."""
    return "".join(character for character in name.casefold() if character.isalnum())


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    wanted = _fold(name[:_MAX_NAME])
    folded = {_fold(candidate): candidate for candidate in known}
    near = sorted(folded, key=lambda key: abs(len(key) - len(wanted)))[:_MAX_COMPARED]
    close = difflib.get_close_matches(wanted, near, 3, 0.6)
    found = [folded[match] for match in close]
    return found or names.nearest(name[:_MAX_NAME], list(folded.values())[:_MAX_COMPARED])


def _either(paths: Iterable[str]) -> str:
    return " or ".join(paths)
