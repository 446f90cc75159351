"""A method called through a function that is not there, `call_tool("crm.list", {"limit": 1})`, as it is called here."""

from __future__ import annotations

import ast
from keyword import iskeyword
from typing import TYPE_CHECKING

from isolith_bindings.check.surroundings import BY_NAME

if TYPE_CHECKING:
    from isolith_bindings.check.tools import Toolbox

_AS_ONE = frozenset({"arguments", "args", "input", "kwargs", "parameters", "params"})
"""The names under which all arguments of a tool are given as one dict."""
_NAMING = frozenset({"name", "tool", "tool_name"})
_MAX_ARGUMENTS = 20
_MAX_SHOWN = 300


def called_by_name(node: ast.Call, toolbox: Toolbox) -> str | None:
    """The call that is meant: `crm.list(limit=1)`; None where it is no such function, or the method is not certain."""
    if not isinstance(node.func, ast.Name) or node.func.id not in BY_NAME or node.func.id in toolbox.connectors:
        return None
    given = [*(word.value for word in node.keywords if word.arg in _NAMING), *node.args]
    path, parts = _path(given, toolbox)
    if path is None:
        return None
    named = [word for word in node.keywords if word.arg not in _NAMING]
    try:
        shown = ", ".join(_arguments(given[parts:], named))
    except (RecursionError, ValueError):  # of what is too deep, or too long a number, to be written again
        shown = "..."
    return f"{path}({shown if len(shown) <= _MAX_SHOWN else '...'})"


def _path(given: list[ast.expr], toolbox: Toolbox) -> tuple[str | None, int]:
    """The method that the first texts mean, and how many they are: a tool's name, or a server's and a tool's."""
    texts = [node.value for node in given[:2] if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    for parts in range(len(texts), 0, -1):
        meant = [path for path in toolbox.meant(".".join(texts[:parts])) if "." in path]
        if len(meant) == 1:
            return meant[0], parts
    return None, 0


def _arguments(given: list[ast.expr], named: list[ast.keyword]) -> list[str]:
    if len(given) + len(named) > _MAX_ARGUMENTS:
        return ["..."]
    found: list[str] = []
    for name, value in [*((None, node) for node in given), *((word.arg, word.value) for word in named)]:
        if isinstance(value, ast.Dict) and (name is None or name in _AS_ONE):
            found += _of_a_dict(value)
        else:
            found.append(ast.unparse(value) if name is None or name in _AS_ONE else f"{name}={ast.unparse(value)}")
    return found


def _of_a_dict(node: ast.Dict) -> list[str]:
    """Its members as keywords, or the dict where they cannot be."""
    if len(node.keys) > _MAX_ARGUMENTS:
        return ["..."]
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    if len(keys) < len(node.keys) or not all(key.isidentifier() and not iskeyword(key) for key in keys):
        return [ast.unparse(node)]
    return [f"{key}={ast.unparse(value)}" for key, value in zip(keys, node.values, strict=True)]
