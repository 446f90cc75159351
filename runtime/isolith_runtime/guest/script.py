"""From the text of a script to code that can run, its value kept under `RESULT`.

The value is that of the last expression, of a last assignment, or of a top-level `return`. Lines and columns stay
those of the user's text: nodes are moved or replaced, the text is not.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass, field

from isolith_runtime.guest.syntax import SCOPES, Warned, own_nodes, relocate, waits
from isolith_runtime.guest.unwrap import unwrap
from isolith_runtime.guest.where import SCRIPT

RESULT = "__isolith_result__"
_BODY = "__isolith_script__"
_SILENT = (ast.Raise, ast.Assert, ast.Pass)
_NO_VALUE = "the script ends without a value, so it answers null; end it with an expression or `return`"


@dataclass
class Script:
    """A script ready to run."""

    code: types.CodeType
    synchronous: bool
    ends_in: int | None
    """The line of the expression that is the last statement; None where it is a plain `None`, or another statement."""
    warnings: list[Warned] = field(default_factory=list[Warned])


def prepare(text: str, connectors: set[str]) -> Script:
    """Compile a script. Raises SyntaxError (and what the compiler raises for a text that is too deep or odd)."""
    tree = ast.parse(text, SCRIPT)
    synchronous = not (("await" in text or "async" in text) and any(map(waits, ast.walk(tree))))
    warnings: list[Warned] = []
    if unwrap(tree, text, connectors, warnings):
        synchronous = False
    ends_in = _ends_in(tree)
    returns = "return" in text and any(isinstance(node, ast.Return) for node in own_nodes(tree.body))
    _keep_result(tree, warnings, returns=returns)
    if returns:
        _wrap(tree, text)
    code = compile(tree, SCRIPT, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return Script(code, synchronous, ends_in, sorted(warnings, key=lambda warned: warned[2]))


def _ends_in(tree: ast.Module) -> int | None:
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or (isinstance(last.value, ast.Constant) and last.value.value is None):
        return None
    return last.lineno


# the value


def _keep_result(tree: ast.Module, warnings: list[Warned], *, returns: bool) -> None:
    """Make the last statement answer: an expression as it is, an assignment with what was assigned."""
    if not tree.body:
        return
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = _answer(last.value, last, returns=returns)
    elif isinstance(last, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and last.value is not None and not _starred(last):
        shown = ast.unparse(last.targets[0] if isinstance(last, ast.Assign) else last.target)
        message = f"the script ends with an assignment, so it answers with `{shown}`; end with `{shown}`"
        warnings.append(("check", message, last.lineno))
        tree.body.append(_answer_of_assignment(last, returns=returns))
    elif not returns and not isinstance(last, _SILENT):
        warnings.append(("check", _NO_VALUE, last.lineno))


def _answer(value: ast.expr, at: ast.stmt, *, returns: bool) -> ast.stmt:
    if returns:
        return ast.copy_location(ast.Return(value), at)
    target = ast.copy_location(ast.Name(RESULT, ast.Store()), at)
    return ast.copy_location(ast.Assign([target], value), at)


def _starred(last: ast.Assign | ast.AnnAssign | ast.AugAssign) -> bool:
    return isinstance(last, ast.Assign) and any(isinstance(node, ast.Starred) for node in ast.walk(last.targets[0]))


def _answer_of_assignment(last: ast.Assign | ast.AnnAssign | ast.AugAssign, *, returns: bool) -> ast.stmt:
    """Read the target again; where reading it calls something, the value is kept under our own name as well."""
    target = last.targets[0] if isinstance(last, ast.Assign) else last.target
    calls = any(isinstance(node, (ast.Call, ast.Await, ast.NamedExpr)) for node in ast.walk(target))
    if calls and isinstance(last, ast.Assign):
        last.targets.insert(0, ast.copy_location(ast.Name(RESULT, ast.Store()), last))
        shown: ast.expr = ast.Name(RESULT, ast.Load())
    else:
        shown = ast.parse(f"({ast.unparse(target)})", mode="eval").body
    return relocate(_answer(shown, last, returns=returns), last)


# a top-level return


def _wrap(tree: ast.Module, text: str) -> None:
    """A script with a top-level `return` becomes a function whose names are still the script's globals."""
    nodes = own_nodes(tree.body)
    _refuse_yield(nodes, text)
    names = _bound_names(nodes)
    hoisted = [statement for statement in tree.body if _belongs_to_module(statement)]
    body = [statement for statement in tree.body if not _belongs_to_module(statement)]
    for node in nodes:
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and name in {"body", "orelse", "finalbody"} and not isinstance(node, SCOPES):
                value[:] = map(_plain_assignment, value)
    first = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    lines = [relocate(ast.Global(sorted(names)), first)] if names else []
    synchronous = not any(map(waits, nodes))
    function = ast.FunctionDef if synchronous else ast.AsyncFunctionDef
    arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    wrapper = function(name=_BODY, args=arguments, body=[*lines, *map(_plain_assignment, body)], decorator_list=[])
    ast.copy_location(wrapper, first)
    call: ast.expr = ast.Call(ast.Name(_BODY, ast.Load()), [], [])
    keep = ast.Assign([ast.Name(RESULT, ast.Store())], call if synchronous else ast.Await(call))
    tree.body = [*hoisted, wrapper, relocate(keep, first)]


def _refuse_yield(nodes: list[ast.AST], text: str) -> None:
    """A `yield` would make a generator of the function; at the top level of a script it is an error."""
    for node in nodes:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            place = (SCRIPT, node.lineno, node.col_offset + 1, text.split("\n")[node.lineno - 1])
            raise SyntaxError("'yield' outside function", place)  # noqa: TRY004 - what CPython says


def _belongs_to_module(statement: ast.stmt) -> bool:
    """Imports that no function may hold."""
    return isinstance(statement, ast.ImportFrom) and (
        statement.module == "__future__" or any(alias.name == "*" for alias in statement.names)
    )


def _bound_names(nodes: list[ast.AST]) -> set[str]:
    """The names a script binds at its top level; those of comprehensions too, which stay the comprehension's own."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names} - {"*"}
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names


def _plain_assignment(statement: ast.stmt) -> ast.stmt:
    """`x: int = 1` as `x = 1`, since a global of a function cannot be annotated."""
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        return statement
    if statement.value is None:
        return ast.copy_location(ast.Pass(), statement)
    return ast.copy_location(ast.Assign([statement.target], statement.value), statement)
