"""From the text of a script to code that can run: what models write around it comes off, each time with a warning.

Lines and columns stay those of the user's text: nodes are moved or replaced, the text is not. The value of the last
expression, of a last assignment or of a top-level `return` is kept under `RESULT`.
"""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import dataclass, field

from isolith_runtime.guest.capabilities import SCRIPT

RESULT = "__isolith_result__"
_BODY = "__isolith_script__"
_LOOP_RUNNERS = {"asyncio.run", "asyncio.get_event_loop().run_until_complete"}

Warning_ = tuple[str, str, int]
"""A kind, what to say of a script, and the line it is about."""


@dataclass
class Script:
    """A script ready to run."""

    code: types.CodeType
    synchronous: bool
    ends_in: int | None
    """The line of the expression that is the last statement; None where it is a plain `None`, or another statement."""
    warnings: list[Warning_] = field(default_factory=list)


def prepare(text: str, connectors: set[str]) -> Script:
    """Compile a script. Raises SyntaxError (and what the compiler raises for a text that is too deep or odd)."""
    # Each pass walks the whole tree; a word it would need is looked for first, because that is one C call.
    tree = ast.parse(text, SCRIPT)
    synchronous = not (("await" in text or "async" in text) and _says_await(tree))
    warnings: list[Warning_] = []
    if _unwrap(tree, text, connectors, warnings):
        synchronous = False
    if "def " in text:
        _call_lone_main(tree, warnings)
    ends_in = _ends_in(tree)
    returns = "return" in text and _has_return(tree.body)
    _keep_result(tree, warnings, returns=returns)
    if returns:
        _wrap(tree, synchronous=not any(isinstance(node, _WAITING) for node in _own_nodes(tree.body)))
    if warnings or returns:
        ast.fix_missing_locations(tree)
    code = compile(tree, SCRIPT, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return Script(code, synchronous, ends_in, sorted(warnings, key=lambda w: w[2]))


def _ends_in(tree: ast.Module) -> int | None:
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or (isinstance(last.value, ast.Constant) and last.value.value is None):
        return None
    return last.lineno


def _says_await(tree: ast.Module) -> bool:
    return any(isinstance(node, _WAITING) or _is_async(node) for node in ast.walk(tree))


_WAITING = (ast.Await, ast.AsyncFor, ast.AsyncWith)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _is_async(node: ast.AST) -> bool:
    return isinstance(node, ast.comprehension) and bool(node.is_async)


def _own_nodes(body: list[ast.stmt]) -> list[ast.AST]:
    """Every node that runs at the top level: not those inside functions and classes."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _has_return(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for node in _own_nodes(body))


# what models write around a script


def _unwrap(tree: ast.Module, text: str, connectors: set[str], warnings: list[Warning_]) -> bool:
    """Take it off. Returns whether something was run on a loop that is not the script's own function: a call."""
    runners = _Runners(warnings)
    if "__main__" in text:
        _unguard(tree, warnings)
    if "import" in text:
        _Imports(connectors, warnings).visit(tree)
    if "asyncio." in text:
        for statement in tree.body:
            runners.visit(statement)
    return runners.ran_calls


def _unguard(tree: ast.Module, warnings: list[Warning_]) -> None:
    body: list[ast.stmt] = []
    for statement in tree.body:
        if _is_main_guard(statement):
            warnings.append(("not_a_script", f"`{ast.unparse(statement.test)}` was removed: a script always runs", statement.lineno))  # type: ignore[attr-defined]
            body.extend(statement.body)  # type: ignore[attr-defined]
        else:
            body.append(statement)
    tree.body = body


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) in {
        "__name__ == '__main__'",
        "'__main__' == __name__",
    }


class _Runners(ast.NodeTransformer):
    """`asyncio.run(main())` at the top level is `await main()`: the loop is running already."""

    def __init__(self, warnings: list[Warning_]) -> None:
        self.warnings = warnings
        self.ran_calls = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not node.args or node.func.__class__ is not ast.Attribute or ast.unparse(node.func) not in _LOOP_RUNNERS:
            return node
        self.warnings.append(("not_a_script", f"`{ast.unparse(node.func)}(...)` was replaced by `await ...`", node.lineno))
        what = node.args[0]
        self.ran_calls |= not (isinstance(what, ast.Call) and isinstance(what.func, ast.Name))
        return ast.copy_location(ast.Await(what), node)

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave


class _Imports(ast.NodeTransformer):
    """`import crm` and `from tools import crm`: a connector is there already."""

    def __init__(self, connectors: set[str], warnings: list[Warning_]) -> None:
        self.connectors = connectors
        self.warnings = warnings

    def visit_Import(self, node: ast.Import) -> object:
        kept = [alias for alias in node.names if not self._is_there(alias.name.removeprefix("tools."))]
        taken = [alias for alias in node.names if alias not in kept]
        bound = [(alias.asname, alias.name.removeprefix("tools.")) for alias in taken if alias.asname]
        return self._replace(node, kept, [f"{name} = {path}" for name, path in bound])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> object:
        if node.level or node.module is None:
            return node
        head, _, rest = node.module.partition(".")
        if (head == "tools" and not rest) or self._is_phantom(node, head):
            kept = [alias for alias in node.names if alias.name != "*" and not self._is_there(alias.name)]
            taken = [alias for alias in node.names if alias not in kept]
            return self._replace(node, kept, [f"{a.asname} = {a.name}" for a in taken if a.asname])
        connector = rest if head == "tools" else node.module
        if connector not in self.connectors:
            return node
        return self._replace(node, [], [f"{a.asname or a.name} = {connector}[{a.name!r}]" for a in node.names])

    def _is_there(self, name: str) -> bool:
        return name in self.connectors or name == "tools"

    def _is_phantom(self, node: ast.ImportFrom, module: str) -> bool:
        """`from functions import crm`: a module that does not exist, with names that do."""
        known = module in sys.stdlib_module_names or module in self.connectors
        return not known and all(self._is_there(alias.name) for alias in node.names)

    def _replace(self, node: ast.Import | ast.ImportFrom, kept: list[ast.alias], bindings: list[str]) -> object:
        if len(kept) == len(node.names):
            return node
        self.warnings.append(("not_a_script", f"`{ast.unparse(node)}` was removed: connectors are there already", node.lineno))
        statements: list[ast.stmt] = []
        if kept:
            node.names = kept
            statements.append(node)
        for binding in bindings:
            statements.append(ast.parse(binding).body[0])
        if not statements:
            statements.append(ast.Pass())
        return [_relocate(statement, node) for statement in statements]


def _relocate(statement: ast.stmt, to: ast.stmt) -> ast.stmt:
    for node in ast.walk(statement):
        if hasattr(node, "lineno") or isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, to)
    return statement


def _call_lone_main(tree: ast.Module, warnings: list[Warning_]) -> None:
    """A `main`, or the only function, that is defined last and never used, is what the script is."""
    functions = [s for s in tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not functions or tree.body[-1] is not functions[-1]:
        return
    main = functions[-1]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if main.name in used or (main.name != "main" and len(functions) > 1) or _needs_arguments(main) or _idle(tree):
        return
    warnings.append(("not_a_script", f"`{main.name}` was called: the script only defined it", main.lineno))
    call: ast.expr = ast.Call(ast.Name(main.name, ast.Load()), [], [])
    if isinstance(main, ast.AsyncFunctionDef):
        call = ast.Await(call)
    tree.body.append(_relocate(ast.Expr(call), main))


def _idle(tree: ast.Module) -> bool:
    """Whether the script does something itself beside defining."""
    passive = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
    return any(
        not isinstance(s, (*passive, ast.Assign, ast.AnnAssign)) and not _is_docstring(s) for s in tree.body
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _needs_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    a = function.args
    positional = len(a.posonlyargs) + len(a.args) - len(a.defaults)
    return positional > 0 or any(default is None for default in a.kw_defaults)


# the value


def _keep_result(tree: ast.Module, warnings: list[Warning_], *, returns: bool) -> None:
    """Make the last statement answer: an expression as it is, an assignment with what was assigned."""
    if not tree.body:
        return
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = _answer(last.value, last, returns=returns)
        return
    target = _assigned(last)
    if target is not None:
        name = ast.unparse(target)
        warnings.append(("check", f"the script ends with an assignment, so it answers with `{name}`; end with `{name}`", last.lineno))
        value = ast.parse(f"({name})", mode="eval").body
        tree.body.append(_relocate(_answer(value, last, returns=returns), last))
    elif not returns and not isinstance(last, (ast.Raise, ast.Assert, ast.Pass)):
        warnings.append(
            ("check", "the script ends without a value, so it answers null; end it with an expression or `return`", last.lineno)
        )


def _answer(value: ast.expr, at: ast.stmt, *, returns: bool) -> ast.stmt:
    statement = ast.Return(value) if returns else ast.Assign([ast.Name(RESULT, ast.Store())], value)
    ast.copy_location(statement, at)
    if isinstance(statement, ast.Assign):
        ast.copy_location(statement.targets[0], at)
    return statement


def _assigned(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        return None if any(isinstance(n, ast.Starred) for n in ast.walk(statement.targets[0])) else statement.targets[0]
    if isinstance(statement, ast.AugAssign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
        return statement.target
    return None


def _wrap(tree: ast.Module, *, synchronous: bool) -> None:
    """A script with a top-level `return` becomes a function whose names are still the script's globals."""
    names = _bound_names(tree.body)
    body = [_plain_assignment(statement) for statement in tree.body]
    lines: list[ast.stmt] = [ast.Global(sorted(names))] if names else []
    function = ast.FunctionDef if synchronous else ast.AsyncFunctionDef
    arguments = ast.arguments([], [], None, [], [], None, [])
    wrapper = function(_BODY, arguments, lines + body, [], None, None, [])
    first = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    ast.copy_location(wrapper, first)
    for line in lines:
        ast.copy_location(line, first)
    call: ast.expr = ast.Call(ast.Name(_BODY, ast.Load()), [], [])
    keep = ast.Assign([ast.Name(RESULT, ast.Store())], call if synchronous else ast.Await(call))
    tree.body = [wrapper, _relocate(keep, first)]


def _bound_names(body: list[ast.stmt]) -> set[str]:
    """The names a script binds at its top level."""
    names: set[str] = set()
    for node in _own_nodes(body):
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
        elif isinstance(node, ast.TypeAlias):  # type: ignore[attr-defined]
            names.add(node.name.id)
    return names - _comprehension_targets(body)


def _comprehension_targets(body: list[ast.stmt]) -> set[str]:
    """Names bound in comprehensions only: those are the comprehension's own."""
    inside: set[str] = set()
    outside: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, ast.comprehension):
            inside |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, (ast.Assign, ast.For, ast.AsyncFor, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            outside |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return inside - outside


def _plain_assignment(statement: ast.stmt) -> ast.stmt:
    """`x: int = 1` as `x = 1`, since a global of a function cannot be annotated; nested ones too."""
    return _Annotations().visit(statement)  # type: ignore[no-any-return]


class _Annotations(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave
