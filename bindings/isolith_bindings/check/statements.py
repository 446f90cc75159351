"""The statements of a script in the order in which they run, and which of them certainly do."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from isolith_bindings.check.expressions import Expressions
from isolith_bindings.check.imports import Imports
from isolith_bindings.check.scopes import Functions, Scope
from isolith_bindings.check.style import lone_main, module_body
from isolith_bindings.check.values import (
    UNKNOWN,
    Called,
    Coroutine,
    Each,
    Function,
    Named,
    Several,
    Value,
    Waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isolith_bindings.check.scopes import FunctionNode
    from isolith_bindings.check.state import State

_PASS_ON = frozenset({"asyncio.TaskGroup", "asyncio.timeout", "asyncio.timeout_at"})
"""Context managers that let through what is raised within them."""


class Statements:
    """Looks at a whole script, once."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expressions = Expressions(state, self.run)
        self.imports = Imports(state)
        self._seen: set[ast.AST] = set()
        self._defined: list[FunctionNode] = []
        self._assigned: list[tuple[Scope, str, Value]] = []

    def script(self, tree: ast.Module) -> None:
        """Look at everything."""
        module = self.state.scopes.module
        body = module_body(tree)
        last = body[-1] if body else None
        ends_in_expression = isinstance(last, ast.Expr)
        self.block(body[:-1] if ends_in_expression else body, module)
        if isinstance(last, ast.Expr):
            self.answer(last, module)
        main = lone_main(body)
        if main is not None:
            self.run(main)
        with self.state.unsure():
            while self._defined:
                self.run(self._defined.pop(0))
        self.never_awaited()

    def answer(self, last: ast.Expr, scope: Scope) -> None:
        """The last expression: a call that it is is awaited, one that is inside it is no data."""
        value = self.expressions.value(last.value, scope)
        if isinstance(value, (Called, Coroutine, Waiting)):
            self.expressions.settled(value, last.value)
        elif not self.state.synchronous:
            self.inside_the_answer(last.value, value)

    def inside_the_answer(self, node: ast.expr, value: Value) -> None:
        """A call under way cannot leave the script."""
        items = value.items if isinstance(value, Several) else [value.item] if isinstance(value, Each) else []
        for number, item in enumerate(items):
            if isinstance(item, Called):
                line, _ = self.state.places.of(item.node)
                what = f"is the call {item.tool}(...) of line {line}, not its result: write `await {item.tool}(...)`"
                certain = isinstance(value, Several)
                self.state.say("exception", node, f"the value at $[{number}] {what}", certain=certain)

    def never_awaited(self) -> None:
        """Calls that were given a name which nothing reads."""
        for scope, name, value in self._assigned:
            if isinstance(value, Called) and name not in scope.read:
                self.dropped(value)

    def dropped(self, value: Value) -> None:
        """A call that nothing awaits."""
        if isinstance(value, Called):
            message = f"{value.tool}(...) is never awaited, so nothing waits for it or sees it fail"
            self.state.say("check", value.node, message, f"write `await {value.tool}(...)`", certain=False)

    def run(self, function: FunctionNode) -> None:
        """The body of a function, where it runs for the first time."""
        if function in self._seen:
            return
        if not self.state.certain and function in self._defined:
            return  # later, when all is known that the script does on its way
        self._seen.add(function)
        if function in self._defined:
            self._defined.remove(function)
        before = self.state.certain
        self.block(function.body, self.state.scopes.of[function])
        self.state.certain = before

    # blocks

    def block(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        """Statements one after another; once one may leave, the rest is not certain."""
        for statement in body:
            self.statement(statement, scope)
            if _leaves(statement):
                self.state.certain = False

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        """One statement."""
        look = _LOOKS.get(type(node))
        if look is not None:
            look(self, node, scope)
        elif not isinstance(node, (ast.Global, ast.Nonlocal)) and type(node).__name__ != "TypeAlias":
            self.expressions.inside(node, scope)

    def perhaps(self, body: Iterable[ast.stmt], scope: Scope) -> None:
        """Statements that may not run."""
        with self.state.unsure():
            self.block(body, scope)

    def surely(self, body: Iterable[ast.stmt], scope: Scope, *, sure: bool) -> None:
        """Statements that run, or may not; what comes behind them is as certain as before."""
        before = self.state.certain
        with nullcontext() if sure else self.state.unsure():
            self.block(body, scope)
        self.state.certain = before

    # simple statements

    def expression(self, node: ast.Expr, scope: Scope) -> None:
        """An expression whose value is dropped."""
        value = self.expressions.value(node.value, scope)
        self.dropped(value)
        if isinstance(value, Coroutine):
            call = f"{value.function.name}(...)"
            message = f"`{call}` was never awaited, so it never ran: write `await {call}`"
            self.state.say("check", node, message, certain=False)

    def assign(self, node: ast.Assign, scope: Scope) -> None:
        """`a = b = x`."""
        value = self.expressions.value(node.value, scope)
        for target in node.targets:
            self.bind(target, value, scope)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        """`a: T = x`."""
        if node.value is not None:
            self.bind(node.target, self.expressions.value(node.value, scope), scope)

    def augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        """`a += x`."""
        value = self.expressions.value(node.value, scope)
        if isinstance(value, Called):
            self.state.misused(value, node, certain=False)
        self.expressions.value(node.target, scope)

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign, and remember what a call was called."""
        self.expressions.binding.bind(target, value, scope)
        if isinstance(target, ast.Name) and isinstance(value, Called):
            home = scope.find(target.id)
            if home is not None and home.bound[target.id] == 1:
                self._assigned.append((home, target.id, value))

    def asserted(self, node: ast.Assert, scope: Scope) -> None:
        """`assert test, message`."""
        self.expressions.used(node.test, scope)
        if node.msg is not None:
            with self.state.unsure():
                self.expressions.value(node.msg, scope)

    def imported(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """`import x`."""
        for name, value in self.imports.bindings(node):
            home = scope.find(name)
            if home is not None and home.bound[name] == 1:
                home.values[name] = value

    # what has a body

    def function(self, node: FunctionNode, scope: Scope) -> None:
        """A definition: its decorators and defaults are looked at now, its body when it runs."""
        for part in [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]:
            if part is not None:
                self.expressions.value(part, scope)
        self._defined.append(node)
        home = scope.find(node.name)
        if home is not None and home.bound[node.name] == 1 and self.is_plain(node):
            home.values[node.name] = Function(node)

    def is_plain(self, node: FunctionNode) -> bool:
        """Whether calling it runs its body: no decorator is around it, and it is no generator."""
        return not node.decorator_list and not self.state.scopes.of[node].yields

    def classified(self, node: ast.ClassDef, scope: Scope) -> None:
        """A class: its body runs now."""
        for part in [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]:
            self.expressions.value(part, scope)
        self.surely(node.body, self.state.scopes.of[node], sure=True)

    def condition(self, node: ast.If, scope: Scope) -> None:
        """`if test:`."""
        self.expressions.used(node.test, scope)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.surely(node.body, scope, sure=always)
        self.perhaps(node.orelse, scope)

    def loop(self, node: ast.While, scope: Scope) -> None:
        """`while test:`."""
        self.expressions.used(node.test, scope)
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.surely(node.body, scope, sure=always)
        self.perhaps(node.orelse, scope)

    def each(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        """`for x in y:`, which runs at least once where y is written out."""
        item = self.expressions.binding.gone_through(node.iter, scope, node.target)
        self.bind(node.target, item, scope)
        sure = isinstance(node.iter, (ast.List, ast.Tuple)) and bool(node.iter.elts)
        sure = sure and not any(isinstance(part, ast.Starred) for part in node.iter.elts)  # type: ignore[attr-defined]
        self.surely(node.body, scope, sure=sure or _counts_up(node.iter))
        self.perhaps(node.orelse, scope)

    def attempt(self, node: ast.Try, scope: Scope) -> None:
        """`try:`; whatever is raised in it may be caught."""
        caught = bool(node.handlers) or any(map(_leaves, node.finalbody))
        guarded, self.state.guarded = self.state.guarded, bool(node.handlers)
        self.surely(node.body, scope, sure=not caught)
        self.state.guarded = guarded
        for handler in node.handlers:
            if handler.type is not None:
                with self.state.unsure():
                    self.expressions.value(handler.type, scope)
            self.perhaps(handler.body, scope)
        self.surely(node.orelse, scope, sure=not caught)
        self.surely(node.finalbody, scope, sure=not any(map(_leaves, node.finalbody)))

    def within(self, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
        """`with x:`; most context managers may catch what is raised."""
        passes_on = True
        for item in node.items:
            value = self.expressions.used(item.context_expr, scope)
            passes_on &= _lets_through(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, UNKNOWN if not isinstance(value, Named) else value, scope)
        self.surely(node.body, scope, sure=passes_on)

    def match(self, node: ast.Match, scope: Scope) -> None:
        """`match x:`."""
        self.expressions.value(node.subject, scope)
        with self.state.unsure():
            for case in node.cases:
                self.expressions.inside(case.pattern, scope)
                if case.guard is not None:
                    self.expressions.used(case.guard, scope)
                self.block(case.body, scope)


def _lets_through(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in _PASS_ON


def _counts_up(node: ast.expr) -> bool:
    """`range(3)`, written out."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "range":
        return False
    numbers = [part.value if isinstance(part, ast.Constant) else None for part in node.args]
    return len(numbers) == 1 and isinstance(numbers[0], int) and numbers[0] > 0


def _leaves(node: ast.stmt) -> bool:
    """Whether a statement may end the block that it is in: by a return, a break or a continue of a loop around it."""
    stack: list[tuple[ast.AST, bool]] = [(node, False)]
    while stack:
        found, looped = stack.pop()
        if isinstance(found, ast.Return) or (isinstance(found, (ast.Break, ast.Continue)) and not looped):
            return True
        if isinstance(found, (ast.For, ast.AsyncFor, ast.While)):
            stack += [(part, True) for part in found.body]
            stack += [(part, looped) for part in found.orelse]
        elif not isinstance(found, (*Functions, ast.ClassDef, ast.Lambda, ast.expr)):
            stack += [(part, looped) for part in ast.iter_child_nodes(found)]
    return False


_LOOKS: dict[type[ast.stmt], Callable[[Statements, Any, Scope], None]] = {
    ast.Expr: Statements.expression,
    ast.Assign: Statements.assign,
    ast.AnnAssign: Statements.annotated,
    ast.AugAssign: Statements.augmented,
    ast.Assert: Statements.asserted,
    ast.Import: Statements.imported,
    ast.ImportFrom: Statements.imported,
    ast.FunctionDef: Statements.function,
    ast.AsyncFunctionDef: Statements.function,
    ast.ClassDef: Statements.classified,
    ast.If: Statements.condition,
    ast.While: Statements.loop,
    ast.For: Statements.each,
    ast.AsyncFor: Statements.each,
    ast.Try: Statements.attempt,
    ast.TryStar: Statements.attempt,
    ast.With: Statements.within,
    ast.AsyncWith: Statements.within,
    ast.Match: Statements.match,
}
