"""What each expression of a script is, and what is wrong with it. Every expression is looked at once, in order."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from isolith_bindings.check import results, surroundings
from isolith_bindings.check.binding import Binding
from isolith_bindings.check.calls import Calls
from isolith_bindings.check.literals import HOLE, literal
from isolith_bindings.check.scopes import root_name
from isolith_bindings.check.tools import VARIANTS
from isolith_bindings.check.values import (
    UNKNOWN,
    Called,
    ConnectorRef,
    Coroutine,
    Data,
    Each,
    MethodRef,
    Named,
    Result,
    Several,
    Text,
    Tools,
    Value,
    Waiting,
)
from isolith_bindings.names import GUEST_GLOBALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from isolith_bindings.check.scopes import FunctionNode, Scope
    from isolith_bindings.check.state import State

_DYNAMIC = frozenset({"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__builtins__", "__import__"})
_OF_A_CALL = frozenset({"send", "throw", "close"})
_MACHINERY = ("_", "cr_", "gi_", "ag_")
_REFERENCES = (Tools, ConnectorRef, MethodRef)


class Expressions:
    """Looks at expressions. `calls` handles a call, `run` is told of a function whose body runs now."""

    def __init__(self, state: State, run: Callable[[FunctionNode], None]) -> None:
        self.state = state
        self.run = run
        self.calls = Calls(self)
        self.binding = Binding(self)
        self.keys = set[ast.Name]()

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression is, having noted what is wrong in it."""
        look = _LOOKS.get(type(node))
        if look is not None:
            return look(self, node, scope)
        self.inside(node, scope)
        return Text() if isinstance(node, ast.JoinedStr) else UNKNOWN

    def inside(self, node: ast.AST, scope: Scope) -> None:
        """Look at every expression that a node holds."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, scope)
            else:
                self.inside(child, scope)

    def used(self, node: ast.expr, scope: Scope, *, certain: bool = True) -> Value:
        """An expression whose value is needed: neither a call under way nor anything else to be awaited."""
        value = self.value(node, scope)
        if isinstance(value, Called):
            self.state.misused(value, node, certain=certain)
        return value

    def constant(self, node: ast.expr, scope: Scope) -> object:
        """The data of a literal, or of a name that is bound once and to one; else a hole."""
        if isinstance(node, ast.Name):
            home = scope.find(node.id)
            value = home.values.get(node.id) if home is not None and home.bound[node.id] == 1 else None
            return value.value if isinstance(value, Data) else HOLE
        return literal(node)

    # names and what is reached from them

    def name(self, node: ast.Name, scope: Scope) -> Value:
        """A name that is read."""
        if not isinstance(node.ctx, ast.Load):
            return UNKNOWN
        self.state.dynamic |= node.id in _DYNAMIC
        home = scope.find(node.id)
        if home is not None:
            home.read.add(node.id)
            return home.values.get(node.id, UNKNOWN) if home.bound[node.id] == 1 else UNKNOWN
        return self.around(node, scope)

    def around(self, node: ast.Name, scope: Scope) -> Value:
        """A name that the script does not bind."""
        name, toolbox = node.id, self.state.toolbox
        if name == "tools":
            return Tools()
        if name in toolbox.connectors:
            return ConnectorRef(name)
        if name in GUEST_GLOBALS or name in surroundings.BUILTINS:
            return Named(name)
        if not self.state.scopes.opaque and not self.state.full:
            own: list[str] = []
            home: Scope | None = scope
            while home is not None:
                own += home.bound
                home = home.outer
            hint = surroundings.name_hint(name, own, toolbox.connectors, toolbox.meant(name))
            hint = surroundings.key_hint(name) if node in self.keys else hint
            self.state.say("exception", node, f"NameError: name {name!r} is not defined", hint)
        return UNKNOWN

    def attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        """`x.name`."""
        owner = self.value(node.value, scope)
        if isinstance(owner, _REFERENCES):
            if not isinstance(node.ctx, ast.Load):
                self.state.dynamic = True  # the script changes what it was given
                return UNKNOWN
            return UNKNOWN if node.attr.startswith("__") else self.member(owner, node.attr, node)
        if isinstance(owner, Called):
            if node.attr not in _OF_A_CALL and not node.attr.startswith(_MACHINERY):
                self.state.misused(owner, node)
        elif isinstance(owner, Result):
            self.wrong(results.attribute(owner, node.attr), node)
        elif isinstance(owner, Named):
            self.state.dynamic |= owner.name == "sys" and node.attr in {"modules", "_getframe"}
            return Named(f"{owner.name}.{node.attr}")
        return UNKNOWN

    def member(self, owner: Value, name: str, node: ast.expr) -> Value:
        """A connector of `tools`, a method of a connector, the next part of a dotted name."""
        toolbox = self.state.toolbox
        if isinstance(owner, Tools):
            found = toolbox.find(name)
            if found is None and not self.state.full:
                self.state.missing(node, toolbox.missing(name))
            return ConnectorRef(found) if found else UNKNOWN
        if isinstance(owner, ConnectorRef):
            if owner.module and not toolbox.index(owner.name).spells(name):
                return Named(f"{owner.module}.{name}")
            owner = MethodRef(owner.name, "")
        if not isinstance(owner, MethodRef) or owner.variant:
            return UNKNOWN
        path = f"{owner.path}.{name}" if owner.path else name
        index = toolbox.index(owner.connector)
        if index.resolve(path) or index.has_prefix(path):
            return MethodRef(owner.connector, path)
        if name in VARIANTS and owner.path and index.resolve(owner.path):
            return MethodRef(owner.connector, owner.path, name)
        self.unknown(owner.connector, path, node)
        return UNKNOWN

    def unknown(self, connector: str, path: str, node: ast.expr | ast.stmt) -> None:
        """A spelling that leads to no method."""
        state, index = self.state, self.state.toolbox.index(connector)
        if not index.is_ambiguous(path) and not state.full and not state.toolbox.is_unknown(connector):
            state.missing(node, index.missing(path))

    def subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        """`x[key]`."""
        owner = self.value(node.value, scope)
        self.value(node.slice, scope)
        key = self.constant(node.slice, scope)
        if isinstance(owner, _REFERENCES):
            return self.member(owner, key, node) if isinstance(key, str) else UNKNOWN
        if isinstance(owner, (Called, Waiting, Coroutine)):
            self.unawaited(owner, node, "is not subscriptable")
        elif isinstance(owner, Result) and isinstance(node.ctx, ast.Load):
            if isinstance(node.slice, ast.Slice):
                return owner
            found = results.item(owner, key)
            if not isinstance(found, results.Wrong):
                return found
            if not self.may_be_there(key):
                self.wrong(found, node)
        elif isinstance(owner, Several) and isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
            return owner.items[key]
        return owner.item if isinstance(owner, Each) and isinstance(key, int) else UNKNOWN

    def may_be_there(self, key: object) -> bool:
        """Whether the script may have put a key into a result itself, or asks first whether it is there."""
        scopes = self.state.scopes
        return scopes.grows or (isinstance(key, str) and key in scopes.stored | scopes.asked)

    def wrong(self, wrong: results.Wrong | None, node: ast.expr) -> None:
        """Note what is wrong with the use of a result."""
        doubted = root_name(node) in self.state.scopes.told_apart
        if wrong is not None and (wrong.certain or not doubted):
            self.state.say("exception", node, wrong.message, wrong.hint, certain=wrong.certain)

    def unawaited(self, value: Value, node: ast.expr, what: str) -> None:
        """Something that has to be awaited is used as if it had been; Python says `what` of a coroutine."""
        if isinstance(value, Called):
            self.state.misused(value, node)
        elif isinstance(value, Waiting):
            message = f"TypeError: `{value.name}(...)` was not awaited, so this is no value yet"
            self.state.say("exception", node, message, f"write `await {value.name}(...)`")
        elif isinstance(value, Coroutine):
            self.state.say("exception", node, f"TypeError: 'coroutine' object {what}", surroundings.NOT_AWAITED)

    # waiting

    def awaited(self, node: ast.Await, scope: Scope) -> Value:
        """`await x`."""
        return self.settled(self.value(node.value, scope), node)

    def settled(self, value: Value, node: ast.expr) -> Value:
        """What awaiting a value gives."""
        state = self.state
        if isinstance(value, Called):
            for draft in value.problems:
                state.confirm(draft)
            return value.result
        if isinstance(value, Waiting):
            for call in value.calls:
                for draft in call.problems:
                    state.confirm(draft)
            return value.result
        if isinstance(value, Coroutine):
            self.run(value.function)
        elif isinstance(value, MethodRef):
            path = f"{value.connector}.{value.path}"
            message = f"TypeError: the method {path} was not called, so there is nothing to await"
            state.say("exception", node, message, f"call it: `await {path}(...)`")
        elif isinstance(value, (Result, Data, Text, Several, Each)) and not state.synchronous:
            hint = surroundings.SEVERAL_CALLS if isinstance(value, (Several, Each)) else surroundings.VALUE_ALREADY
            state.say("exception", node, "TypeError: this is no call that can be awaited", hint)
        return UNKNOWN

    # containers and what is made of parts

    def items(self, node: ast.Tuple | ast.List, scope: Scope) -> Value:
        """A tuple or a list."""
        values = tuple(self.value(item, scope) for item in node.elts)
        return UNKNOWN if any(isinstance(item, ast.Starred) for item in node.elts) else Several(values)

    def starred(self, node: ast.Starred, scope: Scope) -> Value:
        """`*x`, which goes through it."""
        if isinstance(node.ctx, ast.Load):
            self.used(node.value, scope)
        return UNKNOWN

    def mapping(self, node: ast.Dict, scope: Scope) -> Value:
        """A dict; `**x` in it has to be a mapping."""
        self.keys.update(key for key in node.keys if isinstance(key, ast.Name))
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.used(value, scope)
            else:
                self.value(key, scope)
                self.value(value, scope)
        return UNKNOWN

    def constant_value(self, node: ast.Constant, _scope: Scope) -> Value:
        """A number, a text, None."""
        return Data(node.value)

    def formatted(self, node: ast.FormattedValue, scope: Scope) -> Value:
        """`{x}` in an f-string."""
        self.used(node.value, scope)
        if node.format_spec is not None:
            self.value(node.format_spec, scope)
        return Text()

    def named(self, node: ast.NamedExpr, scope: Scope) -> Value:
        """`name := x`."""
        value = self.value(node.value, scope)
        home = scope.find(node.target.id)
        if home is not None and home.bound[node.target.id] == 1:
            home.values[node.target.id] = value
        return value

    # operators

    def binary(self, node: ast.BinOp, scope: Scope) -> Value:
        """`a + b`."""
        left = self.value(node.left, scope)
        right = self.value(node.right, scope)
        if isinstance(left, Called):
            self.state.misused(left, node, hint=surroundings.NOT_AWAITED)
        elif isinstance(right, Called):
            certain = isinstance(left, (Data, Text, Result))
            self.state.misused(right, node, certain=certain, hint=surroundings.NOT_AWAITED)
        return UNKNOWN

    def unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        """`not a`, `-a`."""
        self.used(node.operand, scope)
        value = literal(node)
        return UNKNOWN if value is HOLE else Data(value)

    def chosen(self, node: ast.BoolOp, scope: Scope) -> Value:
        """`a and b`: b may not be looked at, and the last one is not used but given on."""
        first, *others = node.values
        self.used(first, scope)
        with self.state.unsure():
            for other in others[:-1]:
                self.used(other, scope)
            self.value(others[-1], scope)
        return UNKNOWN

    def compared(self, node: ast.Compare, scope: Scope) -> Value:
        """`a < b < c`: c may not be looked at."""
        values = [self.value(node.left, scope), self.value(node.comparators[0], scope)]
        operator = node.ops[0]
        if isinstance(operator, (ast.In, ast.NotIn)):
            values = values[1:]
        for value in [] if values[0] is values[-1] and len(values) > 1 else values:
            if isinstance(value, Called) and not isinstance(operator, (ast.Is, ast.IsNot)):
                self.state.misused(value, node)
                break
        with self.state.unsure():
            for other in node.comparators[1:]:
                self.value(other, scope)
        return UNKNOWN

    def conditional(self, node: ast.IfExp, scope: Scope) -> Value:
        """`a if test else b`."""
        self.used(node.test, scope)
        with self.state.unsure():
            self.value(node.body, scope)
            self.value(node.orelse, scope)
        return UNKNOWN

    # what has a scope of its own

    def deferred(self, node: ast.Lambda, scope: Scope) -> Value:
        """A lambda: its body may run, or not."""
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.value(default, scope)
        with self.state.unsure():
            self.value(node.body, self.state.scopes.of[node])
        return UNKNOWN

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope) -> Value:
        """A comprehension: only what it goes through first is certainly looked at."""
        inner = self.state.scopes.of[node]
        for number, generator in enumerate(node.generators):
            if number == 0:
                item = self.binding.gone_through(generator.iter, scope, generator.target)
                self.binding.bind(generator.target, item, inner)
            with self.state.unsure():
                if number:
                    item = self.binding.gone_through(generator.iter, inner, generator.target)
                    self.binding.bind(generator.target, item, inner)
                for test in generator.ifs:
                    self.used(test, inner)
        with self.state.unsure():
            if isinstance(node, ast.DictComp):
                self.value(node.key, inner)
                self.value(node.value, inner)
                return UNKNOWN
            item = self.value(node.elt, inner)
        return Each(item) if isinstance(node, (ast.ListComp, ast.GeneratorExp)) else UNKNOWN


_LOOKS: dict[type[ast.expr], Callable[[Expressions, Any, Scope], Value]] = {
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute,
    ast.Subscript: Expressions.subscript,
    ast.Call: lambda self, node, scope: self.calls.value(node, scope),
    ast.Await: Expressions.awaited,
    ast.Tuple: Expressions.items,
    ast.List: Expressions.items,
    ast.Starred: Expressions.starred,
    ast.Dict: Expressions.mapping,
    ast.Constant: Expressions.constant_value,
    ast.FormattedValue: Expressions.formatted,
    ast.NamedExpr: Expressions.named,
    ast.BinOp: Expressions.binary,
    ast.UnaryOp: Expressions.unary,
    ast.BoolOp: Expressions.chosen,
    ast.Compare: Expressions.compared,
    ast.IfExp: Expressions.conditional,
    ast.Lambda: Expressions.deferred,
    ast.ListComp: Expressions.comprehended,
    ast.SetComp: Expressions.comprehended,
    ast.GeneratorExp: Expressions.comprehended,
    ast.DictComp: Expressions.comprehended,
}
