"""Which names a script binds, and in which scope: by Python's own rules, so that what it binds hides a connector.

Annotations are left out: the guest's Python evaluates none until it is asked.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    yields: bool = False
    """Whether it is that of a generator, which runs only when it is gone through."""
    may_wait: bool = True
    """False for that of a class, and of a function that is not asynchronous."""
    is_lambda: bool = False
    asynchronous: bool = False
    """Of a comprehension, whether it waits, so that it may not be where nothing may."""

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


@dataclass(frozen=True)
class Misplaced:
    """What the parser takes and the compiler of any Python does not, in its words."""

    node: ast.expr | ast.stmt | ast.keyword
    message: str
    hint: str | None = None


@dataclass
class Scopes:
    """All scopes of a script, by the node that makes each. `opaque`: `from x import *` binds what nobody sees."""

    module: Scope
    of: dict[ast.AST, Scope] = field(default_factory=dict[ast.AST, Scope])
    opaque: bool = False
    waits: bool = False
    """Whether anything in the script can only be in an asynchronous function."""
    stored: set[str] = field(default_factory=set[str])
    """Keys that the script puts into something; those of a result may be its own."""
    asked: set[str] = field(default_factory=set[str])
    """Keys of which it asks whether they are there."""
    grows: bool = False
    """Whether it puts keys into something that are not written out."""
    told_apart: set[str] = field(default_factory=set[str])
    """Names of which the script asks what they are: behind that they may be what nobody declared."""
    misplaced: Misplaced | None = None
    """The first thing for which the script is not run at all."""


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
        """One node; most bind nothing."""
        visit = _VISITS.get(type(node))
        if visit is not None:
            visit(self, node, scope)
        else:
            self.inside(node, scope)

    def inside(self, node: ast.AST, scope: Scope) -> None:
        """What a node holds."""
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                self.visit(part, scope)
            elif isinstance(part, list):
                for item in cast("list[object]", part):
                    if isinstance(item, ast.AST):
                        self.visit(item, scope)

    def name(self, node: ast.Name, scope: Scope) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bind(node.id, scope)

    def nothing(self, _node: ast.AST, _scope: Scope) -> None:
        """What holds no name."""

    def classified(self, node: ast.ClassDef, scope: Scope) -> None:
        self.bind(node.name, scope)
        self.block([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)], scope)
        inner = self.inner(node, "class", scope)
        inner.may_wait = False
        self.block(node.body, inner)

    def annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self.block([node.target, node.value], scope)

    def imported(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            self.scopes.opaque |= alias.name == "*"
            self.bind(alias.asname or alias.name.partition(".")[0], scope)

    def named(self, node: ast.NamedExpr, scope: Scope) -> None:
        home = scope
        while home.kind == "comprehension" and home.outer is not None:
            home = home.outer
        self.bind(node.target.id, home)
        self.visit(node.value, scope)

    def captured(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
        if node.name:
            self.bind(node.name, scope)
        self.inside(node, scope)

    def rest(self, node: ast.MatchMapping, scope: Scope) -> None:
        if node.rest:
            self.bind(node.rest, scope)
        self.inside(node, scope)

    def waits(self, node: ast.Await | ast.AsyncFor | ast.AsyncWith, scope: Scope) -> None:
        self.scopes.waits = True
        scope.asynchronous |= scope.kind == "comprehension"
        if not scope.may_wait:
            where = "function" if scope.kind == "class" and isinstance(node, ast.Await) else "async function"
            hint = None if where == "function" else _hint(scope)
            self.misplace(Misplaced(node, f"'{_WAITING[type(node)]}' outside {where}", hint))
        self.inside(node, scope)

    def call(self, node: ast.Call, scope: Scope) -> None:
        names: set[str] = set()
        for word in node.keywords:
            if word.arg in names:
                self.misplace(Misplaced(word, f"keyword argument repeated: {word.arg}"))
            names |= {word.arg} if word.arg else set()
        if isinstance(node.func, ast.Name) and node.func.id in _ASKING and node.args:
            self.scopes.told_apart.add(root_name(node.args[0]))
        self.inside(node, scope)

    def misplace(self, found: Misplaced) -> None:
        self.scopes.misplaced = self.scopes.misplaced or found

    def subscript(self, node: ast.Subscript, scope: Scope) -> None:
        if not isinstance(node.ctx, ast.Load):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                self.scopes.stored.add(node.slice.value)
            else:
                self.scopes.grows = True
        self.inside(node, scope)

    def compared(self, node: ast.Compare, scope: Scope) -> None:
        if isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(node.left, ast.Constant):
            self.scopes.asked.add(str(node.left.value))
        self.inside(node, scope)

    def matched(self, node: ast.Match, scope: Scope) -> None:
        self.scopes.told_apart.add(root_name(node.subject))
        self.inside(node, scope)

    def attribute(self, node: ast.Attribute, scope: Scope) -> None:
        self.scopes.grows |= node.attr in {"update", "setdefault"}
        self.visit(node.value, scope)

    def augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self.scopes.grows |= isinstance(node.op, ast.BitOr)
        self.inside(node, scope)

    def generator(self, node: ast.comprehension, scope: Scope) -> None:
        self.scopes.waits |= bool(node.is_async)
        scope.asynchronous |= bool(node.is_async)
        self.inside(node, scope)

    def yields(self, node: ast.AST, scope: Scope) -> None:
        scope.yields = True
        self.inside(node, scope)

    def alias(self, node: ast.AST, scope: Scope) -> None:
        """`type X = ...`, whose value nobody looks at."""
        self.visit(node.name, scope)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]

    def function(self, node: FunctionNode | ast.Lambda, scope: Scope) -> None:
        inner = self.inner(node, "function", scope)
        inner.may_wait = isinstance(node, ast.AsyncFunctionDef)
        inner.is_lambda = isinstance(node, ast.Lambda)
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
        self.scopes.waits |= bool(first.is_async)
        inner.asynchronous = bool(first.is_async)
        self.visit(first.iter, scope)
        self.block([first.target, *first.ifs, *others], inner)
        self.block([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt], inner)
        # Those of a generator wait when it is gone through, wherever it was made.
        if inner.asynchronous and not isinstance(node, ast.GeneratorExp):
            scope.asynchronous |= scope.kind == "comprehension"
            if not scope.may_wait:
                self.misplace(Misplaced(node, _OUTSIDE, _hint(scope)))

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


def root_name(node: ast.expr) -> str:
    """The name that an expression begins with, empty where there is none: `x` of `x["a"].b[0]`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


_ASKING = frozenset({"isinstance", "hasattr", "type"})
_WAITING = {ast.Await: "await", ast.AsyncFor: "async for", ast.AsyncWith: "async with"}
_OUTSIDE = "asynchronous comprehension outside of an asynchronous function"


def _hint(scope: Scope) -> str:
    """As the guest has it."""
    if scope.is_lambda:
        return "a lambda cannot await: write an `async def`, and `await` what it gives"
    return "write `async def` for a function that awaits, and `await` it where it is called"


_VISITS: dict[type[ast.AST], Callable[[_Collector, Any, Scope], None]] = {
    ast.Name: _Collector.name,
    ast.Constant: _Collector.nothing,
    ast.FunctionDef: _Collector.function,
    ast.AsyncFunctionDef: _Collector.function,
    ast.Lambda: _Collector.function,
    ast.ClassDef: _Collector.classified,
    ast.ListComp: _Collector.comprehension,
    ast.SetComp: _Collector.comprehension,
    ast.DictComp: _Collector.comprehension,
    ast.GeneratorExp: _Collector.comprehension,
    ast.comprehension: _Collector.generator,
    ast.AnnAssign: _Collector.annotated,
    ast.Import: _Collector.imported,
    ast.ImportFrom: _Collector.imported,
    ast.Global: _Collector.declare,
    ast.Nonlocal: _Collector.declare,
    ast.NamedExpr: _Collector.named,
    ast.ExceptHandler: _Collector.captured,
    ast.MatchAs: _Collector.captured,
    ast.MatchStar: _Collector.captured,
    ast.MatchMapping: _Collector.rest,
    ast.Call: _Collector.call,
    ast.Await: _Collector.waits,
    ast.AsyncFor: _Collector.waits,
    ast.AsyncWith: _Collector.waits,
    ast.Compare: _Collector.compared,
    ast.Match: _Collector.matched,
    ast.Subscript: _Collector.subscript,
    ast.Attribute: _Collector.attribute,
    ast.AugAssign: _Collector.augmented,
    ast.Yield: _Collector.yields,
    ast.YieldFrom: _Collector.yields,
}
_TYPE_ALIAS: type[ast.AST] | None = getattr(ast, "TypeAlias", None)
if _TYPE_ALIAS is not None:  # from Python 3.12 on
    _VISITS[_TYPE_ALIAS] = _Collector.alias
