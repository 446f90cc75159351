"""Where the journal is written, read off the code: nobody has to remember to add a method to a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

HOST = Path(__file__).parents[3] / "host" / "isolith"


def write_points() -> set[str]:
    """The methods that hand work to the store's writer, named as their code is: `Calls.start`, `prune`.

    In the journal whatever is called `write` counts, of whatever object; elsewhere that of a store.
    """
    return {
        name
        for file, name, owner, attribute in _attributes()
        if attribute == "write" and (file.startswith("journal/") or owner in {"store", "_store"})
    }


def transactions() -> set[str]:
    """The functions where a transaction that writes begins, or one is committed by hand, each with its file."""
    return {f"{file}:{name}" for file, name, _, attribute in _attributes() if attribute in {"writing", "commit"}}


def _attributes() -> Iterator[tuple[str, str, str, str]]:
    """Every attribute that is looked up: its file, the function that it is in, of what, and its name."""
    for path in sorted(HOST.rglob("*.py")):
        file = path.relative_to(HOST).as_posix()
        for name, function in _functions(ast.parse(path.read_text()), ""):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute):
                    yield file, name, ast.unparse(node.value).rpartition(".")[2], node.attr


def _functions(node: ast.AST, within: str) -> Iterator[tuple[str, ast.AST]]:
    """Functions of a module and of its classes; what is defined in one of them belongs to it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield f"{within}{child.name}", child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{within}{child.name}.")
        else:
            yield from _functions(child, within)
