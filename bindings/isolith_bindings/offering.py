"""What a connector offers to scripts: its methods without the denied, and all spellings of their names.

Every run asks for it, so it is kept for as long as the connector has the same methods.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from isolith_bindings import names
from isolith_bindings.connector import offered
from isolith_bindings.policy import ungoverned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.connector import Connector, Method

_SEPARATORS = re.compile(r"[\W_]+")


class Offering:
    """Of one connector, as it is now."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector.name
        self.methods: Mapping[str, Method] = offered(connector)
        """By Python name."""
        self.asks = any(method.policy == "ask" for method in self.methods.values())
        """Whether there is one for which a person is asked, whatever its arguments."""

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Other spellings, each with the Python name it stands for: see `names.aliases`."""
        return names.aliases(self._connector, {name: method.original for name, method in self.methods.items()})

    @cached_property
    def exact(self) -> Mapping[str, str]:
        """The Python name by each spelling that is granted, its own first."""
        return {**{name: name for name in self.methods}, **self.aliases}

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The Python name by folded spelling; empty for that of several methods, which only exact ones tell apart."""
        folded: dict[str, str] = {}
        for spelling, name in self.exact.items():
            key = guest_fold(spelling)
            if folded.setdefault(key, name) != name:
                folded[key] = ""
        return folded

    @cached_property
    def granted(self) -> dict[str, object]:
        """The names as the guest takes them: in as few strings as can be, for it reads them when a script looks."""
        aliases = {"aliases": json.dumps(self.aliases)} if self.aliases else {}
        return {"methods": " ".join(self.methods), **aliases}


def guest_fold(name: str) -> str:
    """As the guest folds: what all spellings of a name have in common."""
    if name.isascii():
        return names.fold(name)
    return _SEPARATORS.sub("", name.casefold())


_kept: WeakKeyDictionary[Connector, tuple[list[object], Offering]] = WeakKeyDictionary()


def offering(connector: Connector) -> Offering:
    """What a connector offers now: the same object as before, while its methods are the same."""
    methods = ungoverned(connector).methods
    now: list[object] = [*methods, *methods.values()]
    try:
        before, kept = _kept.get(connector, (None, None))
        if kept is None or before != now:
            kept = Offering(connector)
            _kept[connector] = now, kept
    except TypeError:  # somebody's own class, of which nothing can be kept
        return Offering(connector)
    return kept
