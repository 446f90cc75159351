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


def read_cases(paths: Iterable[Path]) -> list[tuple[Case, Expectation]]:
    """The cases under folders, and the scripts that are named themselves, with what is expected; sorted, each once.

    Raises UsageError with all that is wrong, a line each: a path that is not there, an expectation without a script,
    with two files, or that cannot be read; nothing at all.
    """
    found: dict[Path, tuple[Case, Expectation]] = {}
    wrong: list[str] = []
    for beside, script in _candidates(paths):
        try:
            case = _named(script) if beside is None else _of(beside, script)
            found[case.script.resolve()] = (case, case.expectation())
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("\n".join(dict.fromkeys(wrong)))
    if not found:
        raise UsageError("there are no cases: put NAME.expect.json beside NAME.py, or name scripts with `--update`")
    return sorted(found.values(), key=lambda read: read[0].name)


def _candidates(paths: Iterable[Path]) -> Iterator[tuple[Path | None, Path]]:
    """Expectations in folders with the scripts that they are of; None with what was named itself."""
    for path in paths:
        if path.is_dir():
            yield from _under(path)
        else:
            yield None, path


def _under(folder: Path) -> Iterator[tuple[Path, Path]]:
    for beside in sorted(path for path in folder.rglob("*.expect.*") if path.is_file()):
        script = script_of(beside)
        if script is None or any(part.startswith(".") for part in beside.relative_to(folder).parts):
            continue
        yield beside, script


def _of(beside: Path, script: Path) -> Case:
    if not script.is_file():
        raise UsageError(f"`{beside}` has no script: `{script}` is not there")
    return Case(script, _beside(script))


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
