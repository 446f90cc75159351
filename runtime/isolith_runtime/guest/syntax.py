"""Walking and placing the nodes of a script's tree; without recursion, because a script may be deep."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Warned = tuple[str, str, int]
"""A kind, what to say of a script, and the line it is about."""

WAITING = (ast.Await, ast.AsyncFor, ast.AsyncWith)
SCOPES: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def waits(node: ast.AST) -> bool:
    """Whether a node can only be inside an asynchronous function."""
    return isinstance(node, WAITING) or (isinstance(node, ast.comprehension) and bool(node.is_async))


def own_nodes(body: list[ast.stmt], closed: tuple[type[ast.AST], ...] = SCOPES) -> list[ast.AST]:
    """Every node that runs at the top level: those inside `closed` nodes, such as functions, are not."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, closed):
            stack.extend(ast.iter_child_nodes(node))
    return found


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every list of statements, functions and classes included; it may be changed when it is yielded."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block
                stack.extend(block)
        stack.extend(getattr(node, "handlers", ()))
        stack.extend(getattr(node, "cases", ()))


def relocate(statement: ast.stmt, to: ast.stmt) -> ast.stmt:
    """Give a statement of ours, and all in it, the place of one of the script's."""
    for node in ast.walk(statement):
        if "lineno" in node._attributes:
            ast.copy_location(node, to)
    return statement
