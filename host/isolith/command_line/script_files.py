"""The scripts that a command is given by name: files, `-` for stdin, and all that is in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from isolith.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def script_names(names: Sequence[str], connected: Iterable[str] = ()) -> list[str]:
    """Each name, and in place of a folder the Python files in it, sorted; without hidden ones and what is `connected`.

    Raises UsageError for a folder without any.
    """
    return [name for each in names for name in (_within(Path(each), connected) if _is_folder(each) else [each])]


def _is_folder(name: str) -> bool:
    return name != "-" and Path(name).is_dir()


def _within(folder: Path, connected: Iterable[str]) -> list[str]:
    others = {Path(spec.rpartition("=")[2]).resolve() for spec in connected}
    found = [str(path) for path in _visible(folder) if path.resolve() not in others]
    if not found:
        raise UsageError(f"there are no scripts in the folder `{folder}`: they are called NAME.py")
    return sorted(found)


def _visible(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.py"):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path
