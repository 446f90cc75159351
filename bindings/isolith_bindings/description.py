"""What describe answers, and how its text is kept within a budget of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from isolith_bindings import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.connector import JsonSchema

Detail = Literal["summary", "signature", "full"]
"""`summary`: a line. `signature`: how to call it, and the types it names. `full`: all that is said, and JSON Schema."""

BUDGETS: dict[Detail, int] = {"summary": 1_000, "signature": 2_000, "full": 6_000}
"""Tokens of a text where nobody says how many."""
_CUT = "..."


@dataclass(frozen=True)
class Description:
    """What describe answers. `text` is for a model to read, the rest is the same as data.

    `signature` is None in a summary, the schemas in all but `full`; `schema` is that of a type, or of the input of a
    snippet. `members` are what is inside a connector, the connectors of the catalogue, or what was asked for at once;
    only those that the text has room for, of `total`. `observed`: what it returns was learnt from results.
    """

    path: str
    kind: Literal["catalog", "connector", "method", "type", "snippet", "several"]
    text: str
    description: str
    signature: str | None = None
    requires_approval: bool = False
    parameters: JsonSchema | None = None
    returns: JsonSchema | None = None
    schema: JsonSchema | bool | None = None
    observed: bool = False
    members: list[Description] = field(default_factory=list["Description"])
    total: int = 0


def cut(text: str, budget: int) -> str:
    """The beginning of a text that is within the budget, whole lines where it can be."""
    if tokens.fits(text, budget):
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens.fits(text[:middle] + _CUT, budget) else (low, middle - 1)
    begun = text[:low]
    lines = begun.rpartition("\n")[0]
    shown = f"{lines or begun}{_CUT}"
    return shown if tokens.fits(shown, budget) else ""


class Room:
    """A text that grows while it is within a budget of tokens.

    Parts are counted one by one, which is never less than together; by their bytes, until that is too coarse.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._spent = 0
        self._exact = False
        self.parts: list[str] = []

    def add(self, text: str, reserve: str = "") -> bool:
        """Add a part on lines of its own, if there is room for it and for `reserve` behind it."""
        if self._spent + self._cost(text) + self._cost(reserve) > self._budget:
            if self._exact:
                return False
            self._count()
            return self.add(text, reserve)
        self._spent += self._cost(text)
        self.parts.append(text)
        return True

    def add_all(self, texts: Iterable[str]) -> int:
        """Add parts until one does not fit; how many did."""
        added = 0
        for text in texts:
            if not self.add(text):
                break
            added += 1
        return added

    @property
    def left(self) -> int:
        """Tokens that may still be added."""
        self._count()
        return self._budget - self._spent

    @property
    def text(self) -> str:
        """All parts."""
        return "\n".join(self.parts)

    def _count(self) -> None:
        if not self._exact:
            self._exact = True
            self._spent = sum(map(self._cost, self.parts))

    def _cost(self, text: str) -> int:
        if not text:
            return 0
        return tokens.count(f"{text}\n") + 1 if self._exact else len(text.encode("utf-8", "surrogatepass")) + 1
