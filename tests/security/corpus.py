"""The hostile scripts of `fixtures/scripts/hostile`, each with the end its own header names."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isolith import Budgets, Outcome
from isolith.errors import BudgetError

ROOT = Path(__file__).parents[2] / "fixtures" / "scripts" / "hostile"

OVERRUN_MS = 250
"""How much guest CPU past its budget a script may use: the grace, and the last look of the ticker."""

MAX_OUTCOME_BYTES = 4 * 1024 * 1024
"""Nothing a script does makes its outcome longer than this."""

CPU_MS = 1_500
"""What a script of the corpus may use where its header names nothing else."""

_HEADER = re.compile(r"# ([a-z_]+): (.*)")
_UNSAID = object()


@dataclass(frozen=True)
class Hostile:
    """One script and how it has to end."""

    name: str
    text: str
    ends: frozenset[tuple[str, str | None]]
    """Status and kind of each end that is right."""
    budgets: Budgets
    lines: frozenset[int] = frozenset()
    says: str = ""
    """What its message has to hold."""
    value: object = _UNSAID
    reached: range = range(1)
    """How many calls may come through to the connector."""

    def wrong(self, outcome: Outcome, reached: Sequence[str]) -> list[str]:
        """What is not as expected, in words; empty if all is."""
        found = self.wrong_but_for_calls(outcome)
        if len(reached) not in self.reached:
            found.append(f"{len(reached)} calls reached the connector, not {self.reached}")
        return found

    def wrong_but_for_calls(self, outcome: Outcome) -> list[str]:
        """The same, where a connector is shared and its calls are not counted."""
        document = json.loads(outcome.to_json_text())
        error = outcome.error
        end = (outcome.status, error.kind if error else None)
        completed = outcome.status == "completed"
        said = [
            (end in self.ends, f"ended as {end}, not as one of {sorted(self.ends, key=str)}: {error}"),
            (
                not self.lines or completed or (error and error.line in self.lines),
                f"line {error and error.line}, not {self.lines}",
            ),
            (self.says in (error.message if error else ""), f"message {error and error.message}"),
            (
                self.value is _UNSAID or not completed or _same(outcome.value, self.value),
                f"value {outcome.value!r:.200}",
            ),
            (self._within_budget(outcome), f"{outcome.usage.cpu_ms} ms of CPU for {self.budgets.cpu_ms}"),
            (len(json.dumps(document)) <= MAX_OUTCOME_BYTES, f"an outcome of {len(json.dumps(document)):,} bytes"),
        ]
        return [words for right, words in said if not right]

    def _within_budget(self, outcome: Outcome) -> bool:
        return outcome.usage.cpu_ms <= self.budgets.cpu_ms + OVERRUN_MS


def _same(value: object, expected: object) -> bool:
    return type(value) is type(expected) and value == expected


def load(path: Path) -> Hostile:
    """The script of a file. Raises ValueError for a header that says something unknown."""
    text = path.read_text()
    return parse(f"{path.parent.name}/{path.stem}", text, _header(text))


def parse(name: str, text: str, header: dict[str, str]) -> Hostile:
    """A script and what its header says: `ends`, perhaps `line`, `says`, `value`, `reached`, and any budget."""
    rest = dict(header)
    ends = frozenset(end for way in rest.pop("ends").split(" or ") for end in _ends(way))
    lines = rest.pop("line", "")
    says = rest.pop("says", "")
    value = ast.literal_eval(rest.pop("value")) if "value" in rest else _UNSAID
    reached = _reached(rest.pop("reached", "0"))
    try:
        budgets = Budgets.model_validate({"cpu_ms": CPU_MS, **{key: ast.literal_eval(rest[key]) for key in rest}})
    except BudgetError as error:
        raise ValueError(f"{name}: {error}") from error
    return Hostile(
        name=name,
        text=text,
        ends=ends,
        budgets=budgets,
        lines=frozenset(int(line) for line in filter(None, lines.split("|"))),
        says=says,
        value=value,
        reached=reached,
    )


def _ends(way: str) -> list[tuple[str, str | None]]:
    """`failed cpu_exceeded|recursion` as its pairs."""
    status, _, kinds = way.partition(" ")
    return [(status, kind or None) for kind in kinds.split("|")]


def _reached(said: str) -> range:
    """`5`, or `at most 5`."""
    most = int(said.removeprefix("at most "))
    return range(0 if said.startswith("at most") else most, most + 1)


def _header(text: str) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in text.split("\n"):
        found = _HEADER.fullmatch(line)
        if found is None:
            break
        header[found[1]] = found[2]
    return header


def corpus() -> list[Hostile]:
    """All of them, by name."""
    return [load(path) for path in sorted(ROOT.glob("*/*.py"))]
