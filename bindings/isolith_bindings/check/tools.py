"""The connectors and methods that a spelling leads to, as the guest resolves it.

An index is made for the connectors that a script names and no others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from isolith_bindings import names
from isolith_bindings.availability import may_change, why_absent
from isolith_bindings.check.surroundings import is_namesake
from isolith_bindings.closest import closest
from isolith_bindings.offering import Offering, guest_fold, offering

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith_bindings.connector import Connector, Method

VARIANTS = ("raw", "pages")
_MAX_NAME = 100
_MAX_LISTED = 20
_MAX_MEANT = 3
_MAX_NEAREST = 20
"""Misspelt names of one connector for which the nearest are looked for: each costs half a millisecond of a thousand."""


@dataclass(frozen=True)
class Missing:
    """There is no such thing: what the run says of it."""

    message: str
    hint: str
    tool: str
    certain: bool = True
    """Not where the connector may change under the script."""


@dataclass
class Index:
    """The methods of one connector, under every spelling."""

    name: str
    offering: Offering
    changing: bool = False
    """Whether there may be other methods by the time of a call: what is not known now is then not certainly wrong."""
    _said: dict[str, Missing] = field(default_factory=dict[str, Missing])

    @property
    def methods(self) -> Mapping[str, Method]:
        """By Python name, without the denied."""
        return self.offering.methods

    @property
    def exact(self) -> Mapping[str, str]:
        """The Python name by each spelling that is granted, its own first."""
        return self.offering.exact

    @property
    def folded(self) -> Mapping[str, str]:
        """The Python name by folded spelling; empty for that of several methods, which only exact ones tell apart."""
        return self.offering.folded

    def resolve(self, path: str) -> str | None:
        """The Python name of the method that a spelling means."""
        if path in self.methods:
            return path
        return self.exact.get(path) or self.folded.get(guest_fold(path)) or None

    def spells(self, path: str) -> bool:
        """Whether a method is written in exactly this way, or a dotted name begins so."""
        return path in self.exact or any(name.startswith(f"{path}.") for name in self.methods)

    def is_ambiguous(self, path: str) -> bool:
        """Whether several methods are spelt like this."""
        return path not in self.exact and self.folded.get(guest_fold(path)) == ""

    def has_prefix(self, path: str) -> bool:
        """Whether names go on behind this one, as in `repos.issues.list`."""
        prefix = guest_fold(path)
        return any(spelling.startswith(prefix) and spelling != prefix for spelling in self.folded)

    def missing(self, path: str) -> Missing:
        """What the run says of a method that is not there."""
        if path not in self._said:
            close = names.nearest(path, self.methods) if len(self._said) < _MAX_NEAREST else []
            self._said[path] = self._missing(path, close)
        return self._said[path]

    def _missing(self, path: str, close: list[str]) -> Missing:
        if close:
            hint = f"did you mean {_either(f'{self.name}.{name}' for name in close)}?"
        else:
            hint = f"its methods: {', '.join(sorted(self.methods)[:_MAX_LISTED]) or 'none'}"
            if is_namesake(self.name):
                hint = f"here `{self.name}` is a connector; write `import {self.name}` for the module; {hint}"
        message = f"{self.name} has no method {path!r}"
        return Missing(message, hint, f"{self.name}.{path}", certain=not self.changing)


class Toolbox:
    """What a run offers: connectors by name, each indexed when it is first looked at.

    `settled`: no connector that is there is going to change, for no run follows.
    """

    def __init__(self, connectors: Mapping[str, Connector], *, settled: bool = False) -> None:
        self.connectors = connectors
        self.settled = settled
        self._indexes: dict[str, Index] = {}

    def index(self, connector: str) -> Index:
        """The methods of a connector, without the denied."""
        if connector not in self._indexes:
            found = self.connectors[connector]
            self._indexes[connector] = Index(connector, offering(found), self._may_change(found))
        return self._indexes[connector]

    def _may_change(self, connector: Connector) -> bool:
        return why_absent(connector) is not None if self.settled else may_change(connector)

    def is_unknown(self, connector: str) -> bool:
        """Whether nothing can be told of its methods: its server has not said what it offers."""
        return why_absent(self.connectors[connector]) is not None

    def find(self, name: str) -> str | None:
        """The connector that a spelling means."""
        if name in self.connectors:
            return name
        alike = [known for known in self.connectors if guest_fold(known) == guest_fold(name)]
        return alike[0] if len(alike) == 1 else None

    def meant(self, name: str) -> list[str]:
        """What models mean by a name alone: `CRM`, `crm_list`, `mcp__crm__list`, `list`, `issues` of `issues.list`."""
        connector = self.find(name)
        if connector is not None:
            return [connector]
        for first, rest in names.paths(name[:_MAX_NAME], self.connectors):
            known = self.find(first) if rest else None
            method = self.index(known).resolve(rest) if known is not None else None
            if method is not None:
                return [f"{known}.{method}"]
        spellings = dict.fromkeys((name, names.from_class_name(name[:_MAX_NAME])))
        paths = (
            f"{known}.{name}" for known in self.connectors for name in spellings if name in self.index(known).methods
        )
        beginnings = (
            f"{known}.{name}"
            for known in self.connectors
            if any(path.startswith(f"{name}.") for path in self.index(known).methods)
        )
        return list(islice(chain(paths, beginnings), _MAX_MEANT))

    def missing(self, name: str) -> Missing:
        """What the run says of a connector that is not there."""
        close = self.meant(name) or _nearest(name, {guest_fold(known): known for known in self.connectors})
        if close:
            hint = f"did you mean {_either(close)}?"
        else:
            known = ", ".join(sorted(self.connectors)[:_MAX_LISTED])
            hint = f"there are: {known}" if known else "this run has no connectors"
        return Missing(f"there is no connector {name!r} in this run", hint, name)


def _nearest(name: str, folded: Mapping[str, str]) -> list[str]:
    """Up to three names that look like this one, as the run finds them."""
    likely = [key for key, candidate in folded.items() if candidate]
    return list(dict.fromkeys(folded[match] for match in closest(guest_fold(name[:_MAX_NAME]), likely, 3, 0.6)))


def _either(paths: Iterable[str]) -> str:
    return " or ".join(paths)
