"""What the names and constant subscripts of a failing line lead to. No code of the script's own is run."""

from __future__ import annotations

import ast

_MAX_LINE = 1000


def subscripted(line: str, scope: dict[str, object]) -> list[tuple[str, object, object]]:
    """Of each subscript of the line: its owner as written, the owner, and the constant key (None: no constant)."""
    code = line.strip()
    for text in (code, f"{code.removesuffix(':')}:\n pass" if code.endswith(":") else code):
        try:
            tree = ast.parse(text[:_MAX_LINE])
        except SyntaxError:
            continue
        seen = {**scope, **_items_of_loops(tree, scope)}
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
        return [(ast.unparse(node.value), _reached(node.value, seen), _constant(node.slice)) for node in nodes]
    return []


def _items_of_loops(tree: ast.Module, scope: dict[str, object]) -> dict[str, object]:
    """For each comprehension the first item, under the name that is gone when the line has failed."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.comprehension)]
    found = [(loop.target.id, _reached(loop.iter, scope)) for loop in loops if isinstance(loop.target, ast.Name)]
    return {name: _first(items) for name, items in found if isinstance(items, (list, dict)) and items}


def _first(items: list[object] | dict[object, object]) -> object:
    return list.__getitem__(items, 0) if isinstance(items, list) else next(dict.__iter__(items))


def _reached(node: ast.expr, scope: dict[str, object]) -> object:
    """What names and constant subscripts lead to; None for anything else."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if not isinstance(node, ast.Subscript):
        return None
    owner, key = _reached(node.value, scope), _constant(node.slice)
    if isinstance(owner, dict) and isinstance(key, (str, int)):
        return dict.get(owner, key)
    if isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner):
        return list.__getitem__(owner, key)
    return None


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None
