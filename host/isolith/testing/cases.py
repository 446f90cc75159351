"""The scripts of a folder that have an expectation beside them: NAME.py and NAME.expect.json or .toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isolith.errors import UsageError
from isolith.testing.expectation import Expectation, read_expectation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SUFFIXES = (".expect.json", ".expect.toml")


@dataclass(frozen=True)
class Case:
    """One script. `beside`: the file of its expectation, which may not be there yet."""

    script: Path
    beside: Path

    @property
    def name(self) -> str:
        """How it is called in reports: the path of its script, as it was given."""
        return self.script.as_posix()

    def expectation(self) -> Expectation:
        """What is expected; of a script without a file, that it completes. Raises UsageError."""
        return read_expectation(self.beside) if self.beside.exists() else Expectation()


def script_of(beside: Path) -> Path | None:
    """The script that an expectation is of; None for a file that is none."""
    for suffix in SUFFIXES:
        if beside.name.endswith(suffix) and len(beside.name) > len(suffix):
            return beside.with_name(beside.name.removesuffix(suffix) + ".py")
    return None


def find_cases(paths: Iterable[Path]) -> list[Case]:
    """The cases under folders, and the scripts that are named themselves; sorted, each once.

    Raises UsageError: a path that is not there, an expectation without a script or with two files, nothing at all.
    """
    found: dict[Path, Case] = {}
    for path in paths:
        for case in _under(path) if path.is_dir() else [_named(path)]:
            found[case.script.resolve()] = case
    if not found:
        raise UsageError("there are no cases: put NAME.expect.json beside NAME.py, or name scripts with `--update`")
    return sorted(found.values(), key=lambda case: case.name)


def _under(folder: Path) -> Iterator[Case]:
    for beside in sorted(path for path in folder.rglob("*.expect.*") if path.is_file()):
        script = script_of(beside)
        if script is None or any(part.startswith(".") for part in beside.relative_to(folder).parts):
            continue
        if not script.is_file():
            raise UsageError(f"`{beside}` has no script: `{script}` is not there")
        yield Case(script, _beside(script))


def _named(path: Path) -> Case:
    if not path.is_file():
        raise UsageError(f"`{path}` does not exist: give folders, or scripts")
    if script_of(path) is not None:
        raise UsageError(f"`{path}` is an expectation: name its script, `{script_of(path)}`")
    return Case(path, _beside(path))


def _beside(script: Path) -> Path:
    """Its expectation; where there is none, where it would be."""
    there = [path for suffix in SUFFIXES if (path := script.with_name(script.stem + suffix)).exists()]
    if len(there) > 1:
        raise UsageError(f"`{script}` has two expectations, {' and '.join(path.name for path in there)}: remove one")
    return there[0] if there else script.with_name(script.stem + SUFFIXES[0])
