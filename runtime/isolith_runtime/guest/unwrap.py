"""What models write around a script comes off: main guards, loop runners, imports of connectors, a `main` never called.

Each removal is a warning. Lines and columns of what stays are the user's. An import of a module that a connector is
called like stays one: it binds both.
"""

from __future__ import annotations

import ast
import sys

from isolith_runtime.guest.names import is_namesake
from isolith_runtime.guest.syntax import SCOPES, Warned, blocks, own_nodes, relocate

IMPORT = "__isolith_import__"
"""The global by which the import of a module is made that a connector is called like."""
_LOOP_RUNNERS = {"asyncio.run", "asyncio.get_event_loop().run_until_complete"}
_GUARDS = {"__name__ == '__main__'", "'__main__' == __name__"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
_PASSIVE = (*_DEFINITIONS, ast.Assign, ast.AnnAssign)


def unwrap(tree: ast.Module, text: str, connectors: set[str], warnings: list[Warned]) -> bool:
    """Take it off. Returns whether something was run on a loop that is not the script's own function: a call."""
    # Each pass walks the tree; a word it would need is looked for first, because that is one C call.
    if "__main__" in text:
        _unguard(tree, warnings)
    if "import" in text:
        _drop_imports(tree, _Imports(connectors, warnings))
    ran_calls = "asyncio." in text and _await_runners(tree, warnings)
    if "def " in text:
        _call_lone_main(tree, warnings)
    return ran_calls


# the main guard


def _unguard(tree: ast.Module, warnings: list[Warned]) -> None:
    body: list[ast.stmt] = []
    for statement in tree.body:
        guard = ast.unparse(statement.test) if isinstance(statement, ast.If) else ""
        if isinstance(statement, ast.If) and guard in _GUARDS:
            warnings.append(("not_a_script", f"`{guard}` was removed: a script always runs", statement.lineno))
            body.extend(statement.body)
        else:
            body.append(statement)
    tree.body = body


# loops that run already


def _await_runners(tree: ast.Module, warnings: list[Warned]) -> bool:
    """`asyncio.run(main())` at the top level is `await main()`: the loop is running already.

    In a function or a generator it stays, and `asyncio.run` waits by itself.
    """
    runners = _Runners(warnings)
    for parent in own_nodes(tree.body, (*SCOPES, ast.GeneratorExp)):
        if isinstance(parent, (*SCOPES, ast.GeneratorExp)):
            continue
        for name, value in ast.iter_fields(parent):
            if isinstance(value, list):
                value[:] = map(runners.awaited, value)
            elif isinstance(value, ast.Call):
                setattr(parent, name, runners.awaited(value))
    return runners.ran_calls


class _Runners:
    def __init__(self, warnings: list[Warned]) -> None:
        self.warnings = warnings
        self.ran_calls = False

    def awaited(self, node: object) -> object:
        """`node`, or the awaiting of what it runs."""
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.func, ast.Attribute):
            return node
        if node.func.attr not in {"run", "run_until_complete"} or ast.unparse(node.func) not in _LOOP_RUNNERS:
            return node
        message = f"`{ast.unparse(node.func)}(...)` was replaced by `await ...`"
        self.warnings.append(("not_a_script", message, node.lineno))
        what = node.args[0]
        self.ran_calls |= not (isinstance(what, ast.Call) and isinstance(what.func, ast.Name))
        return ast.copy_location(ast.Await(what), node)


# imports of what is there


def _drop_imports(tree: ast.Module, imports: _Imports) -> None:
    for block in blocks(tree):
        if any(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in block):
            block[:] = [kept for statement in block for kept in imports.instead_of(statement)]


class _Imports:
    """`import crm`, `from tools import crm`, `from crm import get`: a connector is there already."""

    def __init__(self, connectors: set[str], warnings: list[Warned]) -> None:
        self.connectors = connectors
        self.warnings = warnings

    def instead_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """What takes a statement's place: itself, or the assignments that bind what it would have bound."""
        if isinstance(statement, ast.Import):
            bindings = [(alias, self._bind_module(alias)) for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            bindings = [(alias, self._bind_name(alias, statement)) for alias in statement.names]
        else:
            return [statement]
        kept = [alias for alias, binding in bindings if binding is None]
        if len(kept) == len(bindings):
            return [statement]
        statement.names = [alias for alias, binding in bindings if binding is not None and IMPORT not in binding]
        if statement.names:
            message = f"`{ast.unparse(statement)}` was removed: connectors are there already"
            self.warnings.append(("not_a_script", message, statement.lineno))
        statement.names = kept
        bound = [relocate(ast.parse(binding).body[0], statement) for _, binding in bindings if binding]
        # `pass`, so that a script which ends with an import does not answer with what it binds.
        return [*([statement] if kept else []), *bound, relocate(ast.Pass(), statement)]

    def _bind_module(self, alias: ast.alias) -> str | None:
        """For `import NAME`: the statement that binds it, empty where nothing is to be bound, None to import it."""
        path = alias.name.removeprefix("tools.")
        if path == alias.name and self._has_module(path):
            return self._import(alias, path)
        if not self._is_there(path.partition(".")[0]):
            return None if path == alias.name else self._bind(alias, alias.name)
        return f"{alias.asname} = {path}" if alias.asname else ""

    def _bind_name(self, alias: ast.alias, statement: ast.ImportFrom) -> str | None:
        """For `from MODULE import NAME`, likewise."""
        module = statement.module or ""
        connector, _, prefix = module.removeprefix("tools.").partition(".")
        if module == "tools" or self._is_phantom(module, statement):
            return "" if alias.name == "*" else self._bind_connector(alias)
        if not statement.level and self._has_module(module):
            return self._import_part(alias, module)
        if statement.level or (connector not in self.connectors and not module.startswith("tools.")):
            return None
        source = connector if connector in self.connectors else f"tools[{connector!r}]"
        if alias.name == "*":
            return f"globals().update((name, {source}[name]) for name in {source})"
        method = f"{prefix}.{alias.name}" if prefix else alias.name
        return f"{alias.asname or alias.name} = {source}[{method!r}]"

    def _has_module(self, path: str) -> bool:
        """Whether a connector and a module are both meant by it."""
        top = path.partition(".")[0]
        return top in self.connectors and is_namesake(top)

    def _import(self, alias: ast.alias, path: str) -> str:
        """For `import MODULE`, where a connector has the module's name."""
        above, _, last = path.rpartition(".")
        if above and alias.asname:
            return f"{alias.asname} = {IMPORT}({above!r}, {last!r})"
        return f"{alias.asname or path.partition('.')[0]} = {IMPORT}({path!r})"

    def _import_part(self, alias: ast.alias, module: str) -> str:
        """For `from MODULE import NAME`, likewise."""
        if alias.name == "*":
            return f"globals().update({IMPORT}({module!r}, '*'))"
        return f"{alias.asname or alias.name} = {IMPORT}({module!r}, {alias.name!r})"

    def _bind_connector(self, alias: ast.alias) -> str:
        if self._is_there(alias.name):
            return f"{alias.asname} = {alias.name}" if alias.asname else ""
        return self._bind(alias, f"tools[{alias.name!r}]")

    def _bind(self, alias: ast.alias, source: str) -> str:
        """Of what is not there: it raises, with the names that are near."""
        return f"{alias.asname or alias.name.rpartition('.')[2]} = {source}"

    def _is_there(self, name: str) -> bool:
        return name in self.connectors or name == "tools"

    def _is_phantom(self, module: str, statement: ast.ImportFrom) -> bool:
        """`from functions import crm`: a module that does not exist, with names that do."""
        head = module.partition(".")[0]
        known = head in sys.stdlib_module_names or head in self.connectors
        return not known and all(self._is_there(alias.name) for alias in statement.names)


# a main that nobody calls


def _call_lone_main(tree: ast.Module, warnings: list[Warned]) -> None:
    """A `main` that nothing uses, or the only function, defined last, is what the script is."""
    functions = [s for s in tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not functions or not all(isinstance(s, _PASSIVE) or _is_docstring(s) for s in tree.body):
        return
    main = next((function for function in functions if function.name == "main"), functions[-1])
    if main.name != "main" and (len(functions) > 1 or tree.body[-1] is not main):
        return
    if _needs_arguments(main) or any(isinstance(n, ast.Name) and n.id == main.name for n in ast.walk(tree)):
        return
    warnings.append(("not_a_script", f"`{main.name}` was called: the script only defined it", main.lineno))
    call: ast.expr = ast.Call(ast.Name(main.name, ast.Load()), [], [])
    if isinstance(main, ast.AsyncFunctionDef):
        call = ast.Await(call)
    tree.body.append(relocate(ast.Expr(call), main))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _needs_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    a = function.args
    positional = len(a.posonlyargs) + len(a.args) - len(a.defaults)
    return positional > 0 or any(default is None for default in a.kw_defaults)
