"""Parts of values that a script tests before it uses them: `x[key]["name"] if x[key] else None`.

No type checker takes such a test for one, where the key is not written out, and calls what is used possibly None.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Place = tuple[int, int]
"""Line and column, in characters from 1."""


def tested_uses(text: str) -> frozenset[Place]:
    """Where something is used that the script tests somewhere; nothing of a text that does not parse here."""
    try:
        tree = ast.parse(text)
        parts = [part for part in _tests(tree) if isinstance(part, ast.Subscript)]
        if not parts:
            return frozenset()
        shapes = _shapes(tree)
        tested = {shapes[part] for part in parts}
        lines = text.split("\n")
        return frozenset(
            _place(node, lines)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Subscript, ast.Attribute))
            and isinstance(node.value, ast.Subscript)
            and shapes[node.value] in tested
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()


def _tests(tree: ast.Module) -> Iterator[ast.AST]:
    """Every part of every test."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
            yield from ast.walk(node.test)
        elif isinstance(node, ast.BoolOp):
            for value in node.values[:-1]:
                yield from ast.walk(value)
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield from ast.walk(test)


def _shapes(tree: ast.Module) -> dict[ast.AST, int]:
    """A number for each part, which parts that say the same share. Each is looked at once, however deep it stands."""
    numbers: dict[ast.AST, int] = {}
    known: dict[tuple[object, ...], int] = {}
    for node in reversed(list(ast.walk(tree))):  # what is within a part comes behind it there
        within = [_shape(value, numbers) for _, value in ast.iter_fields(node)]
        numbers[node] = known.setdefault((type(node), *within), len(known))
    return numbers


def _shape(value: object, numbers: Mapping[ast.AST, int]) -> object:
    if isinstance(value, list):
        return tuple(_shape(one, numbers) for one in cast("list[object]", value))
    return numbers[value] if isinstance(value, ast.AST) else repr(value)


def _place(node: ast.expr, lines: list[str]) -> Place:
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return node.lineno, len(line.encode()[: node.col_offset].decode(errors="ignore")) + 1
