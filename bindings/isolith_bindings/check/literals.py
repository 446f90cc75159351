"""The data in a script's literals, with a hole wherever only running it would tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Hole:
    """A part that is not known; `kind` is its type where that is."""

    __slots__ = ("kind",)

    def __init__(self, kind: type | None = None) -> None:
        self.kind = kind


HOLE = Hole()
_TEXT = Hole(str)
_SIZE = 2_000
"""Items of one literal that are looked at; the rest is a hole."""


def literal(node: ast.expr) -> object:
    """The value of an expression as far as it is written out. A mapping that goes on unseen has the key `HOLE`."""
    read = _READERS.get(type(node))
    return HOLE if read is None else read(node)


def _items(node: ast.List | ast.Tuple | ast.Set) -> object:
    kind: type = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
    if isinstance(node, ast.Set) or len(node.elts) > _SIZE or any(isinstance(item, ast.Starred) for item in node.elts):
        return Hole(kind)
    return kind(map(literal, node.elts))


def _mapping(node: ast.Dict) -> object:
    if len(node.keys) > _SIZE:
        return Hole(dict)
    found: dict[object, object] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = HOLE if key is None else literal(key)
        if isinstance(name, str | int | float | bool | bytes | None):
            found[name] = literal(value)
        else:
            found[HOLE] = HOLE
    return found


def _signed(node: ast.UnaryOp) -> object:
    value = literal(node.operand)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(node.op, (ast.USub, ast.UAdd)):
        return HOLE
    return -value if isinstance(node.op, ast.USub) else value


_READERS: dict[type[ast.expr], Callable[[Any], object]] = {
    ast.Constant: lambda node: HOLE if node.value is Ellipsis else node.value,
    ast.List: _items,
    ast.Tuple: _items,
    ast.Set: _items,
    ast.Dict: _mapping,
    ast.JoinedStr: lambda _: _TEXT,
    ast.UnaryOp: _signed,
    ast.ListComp: lambda _: Hole(list),
    ast.DictComp: lambda _: Hole(dict),
    ast.SetComp: lambda _: Hole(set),
}
