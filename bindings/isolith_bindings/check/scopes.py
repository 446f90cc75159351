"""Which names a script binds, and in which scope: by Python's own rules, so that what it binds hides a connector.

Annotations are left out: the guest's Python evaluates none until it is asked.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isolith_bindings.check.values import Value

Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
Comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(eq=False)
class Scope:
    """One scope: how often it binds each name, and what is known of those that it binds once."""

    kind: Literal["module", "function", "class", "comprehension"]
    outer: Scope | None = None
    bound: Counter[str] = field(default_factory=Counter[str])
    elsewhere: dict[str, Scope] = field(default_factory=dict[str, "Scope"])
    """Names declared `global` or `nonlocal`, and the scope that they are in."""
    values: dict[str, Value] = field(default_factory=dict[str, "Value"])
    read: set[str] = field(default_factory=set[str])
    """Names of this scope that something reads."""

    def find(self, name: str) -> Scope | None:
        """The scope whose name this is; None where the script binds it nowhere that can be seen from here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.elsewhere:
                return scope.elsewhere[name]
            if name in scope.bound and (scope.kind != "class" or scope is self):
                return scope
            scope = scope.outer
        return None


@dataclass
class Scopes:
    """All scopes of a script, by the node that makes each. `opaque`: `from x import *` binds what nobody sees."""

    module: Scope
    of: dict[ast.AST, Scope] = field(default_factory=dict[ast.AST, Scope])
    opaque: bool = False


def scopes_of(tree: ast.Module) -> Scopes:
    """Find them all. Raises RecursionError for a tree that is too deep."""
    scopes = Scopes(Scope("module"))
    _Collector(scopes).block(tree.body, scopes.module)
    return scopes


class _Collector:
    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes

    def block(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node, scope)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                self.bind(node.id, scope)
        elif isinstance(node, (*Functions, ast.Lambda)):
            self.function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self.bind(node.name, scope)
            self.block([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)], scope)
            self.block(node.body, self.inner(node, "class", scope))
        elif isinstance(node, Comprehensions):
            self.comprehension(node, scope)
        elif isinstance(node, ast.AnnAssign):
            self.block([node.target, node.value], scope)
        elif type(node).__name__ == "TypeAlias":  # from Python 3.12 on
            self.visit(node.name, scope)  # type: ignore[attr-defined]
        else:
            self.plain(node, scope)

    def plain(self, node: ast.AST, scope: Scope) -> None:
        """What binds a name in the scope it stands in, or nothing."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self.scopes.opaque |= alias.name == "*"
                self.bind(alias.asname or alias.name.partition(".")[0], scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            self.declare(node, scope)
        elif isinstance(node, ast.NamedExpr):
            home = scope
            while home.kind == "comprehension" and home.outer is not None:
                home = home.outer
            self.bind(node.target.id, home)
            self.visit(node.value, scope)
            return
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            self.bind(node.name, scope)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            self.bind(node.rest, scope)
        self.block(ast.iter_child_nodes(node), scope)

    def function(self, node: FunctionNode | ast.Lambda, scope: Scope) -> None:
        inner = self.inner(node, "function", scope)
        a = node.args
        for argument in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
            if argument is not None:
                self.bind(argument.arg, inner)
        self.block([*a.defaults, *a.kw_defaults], scope)
        if isinstance(node, ast.Lambda):
            self.visit(node.body, inner)
            return
        self.bind(node.name, scope)
        self.block(node.decorator_list, scope)
        for parameter in getattr(node, "type_params", ()):
            self.bind(parameter.name, inner)
        self.block(node.body, inner)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, scope: Scope) -> None:
        inner = self.inner(node, "comprehension", scope)
        first, *others = node.generators
        self.visit(first.iter, scope)
        self.block([first.target, *first.ifs, *others], inner)
        self.block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)

    def declare(self, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
        for name in node.names:
            if isinstance(node, ast.Global):
                home: Scope | None = self.scopes.module
            else:
                home = scope.outer.find(name) if scope.outer is not None else None
            if home is not None and home is not scope:
                scope.elsewhere[name] = home
                home.bound[name] += scope.bound.pop(name, 0)

    def bind(self, name: str, scope: Scope) -> None:
        scope.elsewhere.get(name, scope).bound[name] += 1

    def inner(self, node: ast.AST, kind: Literal["function", "class", "comprehension"], scope: Scope) -> Scope:
        made = self.scopes.of[node] = Scope(kind, scope)
        return made
