"""The names of a run's connectors and methods: every spelling that tells them apart, and the nearest ones."""

from __future__ import annotations

import difflib
import json
import sys
from functools import cached_property

from isolith_runtime.guest.absent import REFUSED_MODULES

_MAX_NAME = 100
_MAX_LISTED = 20
_SEPARATORS = {place: None for place in range(128) if not chr(place).isalnum()}


def fold(name: str) -> str:
    """What all spellings of a name that a model is likely to try have in common."""
    if name.isascii():
        return name.lower().translate(_SEPARATORS)
    return "".join(character for character in name.casefold() if character.isalnum())


def nearest(name: str, names: list[str]) -> list[str]:
    """Up to three names that look like this one, best first."""
    folded = {fold(known): known for known in names}
    close = difflib.get_close_matches(fold(name[:_MAX_NAME]), list(folded), 3, 0.6)
    return [folded[match] for match in close]


def is_namesake(connector: str) -> bool:
    """Whether a connector is called like a module that a script could import."""
    return connector in sys.stdlib_module_names and connector not in REFUSED_MODULES


class Names:
    """The methods of one connector under every spelling; read when a script first looks for one.

    `methods` are Python names with a space between; `aliases` is a JSON object of other spellings and the Python names
    they stand for. `open`: there may be others by the time of a call, so that a name which is not known is for the
    host to judge.
    """

    def __init__(self, methods: str, aliases: str = "{}", *, open: bool = False) -> None:  # noqa: A002 - a word
        self._methods, self._aliases = f" {methods} ", aliases
        self.open = open

    @cached_property
    def methods(self) -> list[str]:
        """The Python names."""
        return self._methods.split()

    @cached_property
    def exact(self) -> dict[str, str]:
        """The Python name by each spelling that is granted."""
        return {**dict(zip(self.methods, self.methods, strict=True)), **json.loads(self._aliases)}

    @cached_property
    def folded(self) -> dict[str, str]:
        """The Python name by folded spelling; empty where several share it: only exact spellings tell them apart."""
        folded: dict[str, str] = {}
        for spelling, method in self.exact.items():
            key = fold(spelling)
            if folded.setdefault(key, method) != method:
                folded[key] = ""
        return folded

    def resolve(self, name: str) -> str | None:
        """The method's Python name, or None."""
        if self._is_method(name):
            return name
        return self.exact.get(name) or self.folded.get(fold(name)) or None

    def asked(self, name: str) -> str | None:
        """What the host is asked for by this name; None where it is certain that there is none."""
        return self.resolve(name) or (name if self.open else None)

    def leads(self, name: str) -> bool:
        """Whether this is a method, or the beginning of a dotted name, as far as is known."""
        return self._is_method(name) or self.has_prefix(name) or self.asked(name) is not None

    def has_prefix(self, prefix: str) -> bool:
        """Whether names go on behind this one, as in `repos.issues.list`."""
        if f" {prefix}." in self._methods:
            return True
        folded = fold(prefix)
        return any(name.startswith(folded) and name != folded for name in self.folded)

    def spells(self, name: str) -> bool:
        """Whether a method is written in exactly this way, or a dotted name begins so."""
        return self._is_method(name) or f" {name}." in self._methods or name in self.exact

    def near(self, connector: str, name: str, *, imported: bool = False) -> str:
        """What to write in place of a name that leads nowhere; `imported`: nor does it in the module of that name."""
        close = nearest(name, self.methods)
        if close:
            return f"did you mean {' or '.join(f'{connector}.{method}' for method in close)}?"
        listed = f"its methods: {', '.join(sorted(self.methods)[:_MAX_LISTED]) or 'none'}"
        if imported or not is_namesake(connector):
            return listed
        return f"here `{connector}` is a connector; write `import {connector}` for the module; {listed}"

    def _is_method(self, name: str) -> bool:
        """Whether this is a Python name itself: nothing is made of thousands of names to find one."""
        return f" {name} " in self._methods and " " not in name
