"""The catalogue as text of a bounded size: what a model sees of its tools before it asks for more.

Every connector is named with its purpose, its health and the number of its tools. What is left of the budget goes to
signatures: first those that are pinned, then in rounds one for each connector, the shortest first, until nothing more
fits. The same connectors give the same text. The budget holds for the whole of it; where not even the connectors fit,
less is said of each, and then of fewer of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isolith_bindings import tokens
from isolith_bindings.connector import Connector, Method, offered
from isolith_bindings.health import READY, Health, health
from isolith_bindings.provenance import is_native
from isolith_bindings.rendering import first_paragraph
from isolith_bindings.schema.quoting import MARK, unframed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isolith_bindings.tokens import Count

DEFAULT_BUDGET = 2_000
"""Tokens."""
MAX_DESCRIPTION = 120
"""Characters of what is said of a method, or of the purpose of a connector."""
# Characters that a token can have; a text that is longer than so many for each is not counted.
_MAX_TOKEN = 128
_DEFINITION = re.compile(r"^async def [^\W\d][\w.]*\((?:\*, )?")
_BLANKS = re.compile(r"\s+")
_WELL = frozenset({"connected", "idle"})


@dataclass(frozen=True)
class Listed:
    """One connector. `lines`: of each method what may be shown, by name, the shortest first.

    `purpose` and what is said in `lines` are marked where they are a stranger's words.
    """

    name: str
    purpose: str
    health: Health
    lines: Mapping[str, str] = field(repr=False)

    def head(self, shown: int | None, *, purpose: bool = True) -> str:
        """Its own line. `shown`: how many methods follow it, None for all."""
        tools = f"{len(self.lines):,} tool{'' if len(self.lines) == 1 else 's'}"
        part = "" if shown is None else f", {shown or 'none'} shown"
        said = f": {self.purpose}" if purpose and self.purpose else ""
        return f"{self.name} ({tools}{part}, {self.health}){said}\n"


@dataclass(frozen=True)
class Listing:
    """The text, and what is in it. `tokens`: of the whole text, never above the budget. `shown`: paths, in order.

    `complete`: every method of every connector is shown. `unnamed`: connectors for which there was no room at all.
    """

    text: str
    tokens: int
    complete: bool
    shown: tuple[str, ...]
    total: int
    unnamed: int
    connectors: tuple[Listed, ...] = field(repr=False)


def list_all(
    connectors: Iterable[Connector],
    budget: int = DEFAULT_BUDGET,
    *,
    pinned: Iterable[str] = (),
    count: Count = tokens.count,
) -> Listing:
    """The catalogue within `budget` tokens, as `count` counts them. `pinned`: paths to be shown before all others."""
    listed = tuple(sorted((_listed(connector) for connector in connectors), key=lambda each: each.name))
    total = sum(len(each.lines) for each in listed)
    filling = _Filling(listed, budget, count)
    if filling.complete() or filling.begin():
        filling.pin(pinned)
        filling.fill()
        text, shown = filling.text(), filling.paths()
        return Listing(text, count(text), len(shown) == total, shown, total, 0, listed)
    heads = _heads(listed, budget, count)
    return Listing(
        heads.text, heads.tokens, complete=False, shown=(), total=total, unnamed=heads.unnamed, connectors=listed
    )


def line(connector: str, method: Method, *, native: bool = False) -> str:
    """One method: how it is called, and the beginning of what is said of it, marked unless it is `native`."""
    signature = _BLANKS.sub(" ", method.signature).strip()
    call, found = _DEFINITION.subn(f"{connector}.{method.name}(", signature)
    said = _said(method.description, native=native)
    asks = " [asks a person]" if method.policy == "ask" else ""
    return f"  {call if found else f'{connector}.{method.name}: {signature}'}{asks}{f'  # {said}' if said else ''}\n"


def _listed(connector: Connector) -> Listed:
    native = is_native(connector)
    lines = {name: line(connector.name, method, native=native) for name, method in offered(connector).items()}
    ordered = sorted(lines.items(), key=lambda pair: (len(pair[1]), pair[0]))
    return Listed(connector.name, _said(connector.description, native=native), _plain(health(connector)), dict(ordered))


def _plain(found: Health) -> Health:
    """As a model needs it: what a call starts is as ready as what runs, and a listing is the same for both."""
    state = READY if found.state in _WELL else found.state
    return Health(_cut(state), _cut(found.reason) if found.reason else None)


def _said(text: str, *, native: bool) -> str:
    words = _cut(first_paragraph(text))
    return words if native or not words else f"{MARK}{words}"


def _cut(text: str) -> str:
    # What cannot be seen could make a text read as another.
    plain = "".join(character if character.isprintable() else " " for character in text[: 10 * MAX_DESCRIPTION])
    plain = unframed(_BLANKS.sub(" ", plain).strip())
    return plain if len(plain) <= MAX_DESCRIPTION else f"{plain[: MAX_DESCRIPTION - 1].rstrip()}…"


# ---------------------------------------------------------------------------------------------- the connectors


@dataclass(frozen=True)
class _Heads:
    text: str
    tokens: int
    unnamed: int = 0


def _heads(listed: tuple[Listed, ...], budget: int, count: Count) -> _Heads:
    """The most that can be said of the connectors within the budget, where their purposes do not fit."""
    without_purpose = "".join(each.head(None, purpose=False) for each in listed)
    names = ", ".join(f"{each.name} ({len(each.lines):,})" for each in listed)
    total = sum(len(each.lines) for each in listed)
    for text in (f"{_first_line(listed, total, 0)}{without_purpose}", f"Connectors and their tools: {names}\n"):
        spent = count(text)
        if spent <= budget:
            return _Heads(text, spent)
    return _fewer(listed, budget, count)


def _fewer(listed: tuple[Listed, ...], budget: int, count: Count) -> _Heads:
    """As many names as fit: all, else by halves, for the text grows with their number; else how many there are."""
    every = len(listed)
    low, high, best = 1, every - 1, _heads_of(listed, every, count)
    if best.tokens <= budget:
        return best
    best = _heads_of(listed, 0, count)
    while low <= high:
        some = (low + high) // 2
        heads = _heads_of(listed, some, count)
        if heads.tokens <= budget:
            low, best = some + 1, heads
        else:
            high = some - 1
    return best if best.tokens <= budget else _Heads("", 0, every)


def _heads_of(listed: tuple[Listed, ...], some: int, count: Count) -> _Heads:
    """The names of the first, and how many others there are."""
    others = len(listed) - some
    names = [each.name for each in listed[:some]]
    rest = [f"and {others:,} more"] if others else []
    text = f"Connectors: {', '.join(names + rest)}\n" if some else f"{others:,} connector{'s' * (others != 1)}\n"
    return _Heads(text, count(text), others)


def _first_line(listed: tuple[Listed, ...], total: int, shown: int) -> str:
    if not listed:
        return "There are no connectors.\n"
    if shown == total:
        return f"All {total:,} tools:\n" if total != 1 else "The only tool:\n"
    return f'{shown:,} of {total:,} tools; search("words") finds the others:\n'


# ---------------------------------------------------------------------------------------------- the signatures


class _Filling:
    """Signatures, added one by one for as long as the whole text stays within the budget.

    Between two counts of the whole text its lines are counted alone, or the time would grow with the square of it.
    """

    def __init__(self, listed: tuple[Listed, ...], budget: int, count: Count) -> None:
        self._listed, self._budget, self._count = listed, budget, count
        self._shown: dict[str, dict[str, None]] = {}
        self._total, self._number = sum(len(each.lines) for each in listed), 0
        self._room = 0
        self._added: list[Listed] = []
        """To which connectors something was added since the whole was counted, in that order."""

    def complete(self) -> bool:
        """Whether everything fits, which is then shown."""
        self._shown = {each.name: dict.fromkeys(each.lines) for each in self._listed}
        self._number = self._total
        text = self.text()
        return len(text) <= self._budget * _MAX_TOKEN and self._count(text) <= self._budget

    def begin(self) -> bool:
        """Show nothing yet. Whether the connectors fit with their purposes."""
        self._shown = {each.name: {} for each in self._listed}
        self._number = 0
        self._room = self._budget - self._count(self.text())
        return self._room >= 0

    def pin(self, paths: Iterable[str]) -> None:
        """Add the pinned ones that there are and that fit, in their order."""
        known = {each.name: each for each in self._listed}
        for path in dict.fromkeys(paths):
            connector, _, name = path.partition(".")
            if connector in known and name in known[connector].lines:
                self._add(known[connector], name)
        self._settle()

    def fill(self) -> None:
        """In rounds, the next of each connector; one whose next does not fit drops out."""
        waiting = [(each, iter(each.lines)) for each in self._listed]
        while waiting:
            waiting = [(each, names) for each, names in waiting if self._add_next(each, names)]
        self._settle()

    def _add_next(self, connector: Listed, names: Iterator[str]) -> bool:
        shown = self._shown[connector.name]
        name = next((name for name in names if name not in shown), None)
        return name is not None and self._add(connector, name)

    def _add(self, connector: Listed, name: str) -> bool:
        """Add one, unless the text would be too long."""
        if name in self._shown[connector.name]:
            return False
        cost = self._count(connector.lines[name]) - self._framing(connector)
        self._show(connector, name)
        cost += self._framing(connector)
        if cost > self._room and self._added:
            self._take_away(connector)
            self._settle()
            self._show(connector, name)
        if cost > self._room:
            self._take_away(connector)
            return False
        self._room -= cost
        self._added.append(connector)
        return True

    def _show(self, connector: Listed, name: str) -> None:
        self._shown[connector.name][name] = None
        self._number += 1

    def _take_away(self, connector: Listed) -> None:
        self._shown[connector.name].popitem()
        self._number -= 1

    def _framing(self, connector: Listed) -> int:
        """What the two lines cost that change with each signature."""
        return self._count(self._first_line()) + self._count(self._head(connector))

    def _settle(self) -> None:
        """Count the whole text. Lines that cost more together than alone are taken away again, the last first."""
        self._room = self._budget - self._count(self.text())
        while self._room < 0 and self._added:
            self._take_away(self._added.pop())
            self._room = self._budget - self._count(self.text())
        self._added.clear()

    def text(self) -> str:
        """What there is so far."""
        lines = [self._first_line()]
        for each in self._listed:
            lines.append(self._head(each))
            lines += [each.lines[name] for name in self._shown[each.name]]
        return "".join(lines)

    def _first_line(self) -> str:
        return _first_line(self._listed, self._total, self._number)

    def _head(self, connector: Listed) -> str:
        shown = len(self._shown[connector.name])
        return connector.head(None if shown == len(connector.lines) else shown)

    def paths(self) -> tuple[str, ...]:
        """What is shown, as it stands in the text."""
        return tuple(f"{each.name}.{name}" for each in self._listed for name in self._shown[each.name])
