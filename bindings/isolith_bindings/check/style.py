"""What the guest makes of a script before it runs: whether calls give values, what is run, what comes off.

The rules are those of the guest, which does it; a script that is read otherwise here would be misjudged.
"""

from __future__ import annotations

import ast

from isolith_bindings.check.scopes import Functions

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
_GUARDS = {"__name__ == '__main__'", "'__main__' == __name__"}
_PASSIVE = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Pass,
    ast.Assign,
    ast.AnnAssign,
)


def runs_a_call(tree: ast.Module, text: str) -> bool:
    """Whether the script runs something that is no function of its own on a loop: a call, which it then awaits."""
    return "asyncio." in text and any(map(_runs_a_call, _own_nodes(tree.body)))


def module_body(tree: ast.Module) -> list[ast.stmt]:
    """The statements of a script; those behind a main guard always run."""
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.If) and _is_guard(statement.test):
            body += statement.body
        else:
            body.append(statement)
    return body


def lone_main(body: list[ast.stmt]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function that a script only defines and that the guest therefore calls."""
    functions = [statement for statement in body if isinstance(statement, Functions)]
    if not functions or not all(isinstance(statement, _PASSIVE) or _is_docstring(statement) for statement in body):
        return None
    main = next((function for function in functions if function.name == "main"), functions[-1])
    if main.name != "main" and (len(functions) > 1 or body[-1] is not main):
        return None
    used = any(
        isinstance(node, ast.Name) and node.id == main.name for statement in body for node in ast.walk(statement)
    )
    return None if used or _needs_arguments(main) else main


def _runs_a_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr not in {"run", "run_until_complete"}:
        return False
    if ast.unparse(node.func) not in {"asyncio.run", "asyncio.get_event_loop().run_until_complete"}:
        return False
    what = node.args[0]
    return not (isinstance(what, ast.Call) and isinstance(what.func, ast.Name))


def _own_nodes(body: list[ast.stmt]) -> list[ast.AST]:
    """Every node that runs at the top level."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _is_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and ast.unparse(test) in _GUARDS


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _needs_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    a = function.args
    return len(a.posonlyargs) + len(a.args) > len(a.defaults) or any(default is None for default in a.kw_defaults)
