"""The scripts of `fixtures/scripts/broken` and `right`, and the tools that they are written for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from isolith.configuration.connect import connect_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from isolith_bindings.connector import Connector

SCRIPTS = Path(__file__).parents[3] / "fixtures" / "scripts"

_FINDS = re.compile(r"# finds: (\d+) (\w+) (certain|maybe): (.*)")


@dataclass(frozen=True)
class Expected:
    """One finding that a header names."""

    line: int
    kind: str
    certain: bool
    says: str
    """What its message or hint holds."""


@dataclass(frozen=True)
class Script:
    """One script, and what has to be found in it."""

    name: str
    text: str
    expected: tuple[Expected, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether it can only fail."""
        return any(expected.certain for expected in self.expected)

    @property
    def is_python(self) -> bool:
        """Whether it parses, as Python or as what it only looks like."""
        return all(expected.kind not in {"syntax", "not_a_script"} for expected in self.expected)


def scripts(folder: str) -> list[Script]:
    """Those of a folder, by name."""
    return [_load(path) for path in sorted((SCRIPTS / folder).glob("*/*.py"))]


def _load(path: Path) -> Script:
    text = path.read_text()
    return Script(f"{path.parent.name}/{path.stem}", text, tuple(_header(text)))


def _header(text: str) -> Iterator[Expected]:
    for line in text.split("\n"):
        found = _FINDS.fullmatch(line)
        if found is None:
            return
        yield Expected(int(found[1]), found[2], found[3] == "certain", found[4])


@cache
def shop() -> Mapping[str, Connector]:
    """The connectors of the corpus."""
    return {connector.name: connector for connector in connect_all([str(SCRIPTS / "shop.py")])}
