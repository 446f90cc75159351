"""What is assigned, unpacked and gone through: a name that is bound once is what was assigned to it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from isolith_bindings.check import results
from isolith_bindings.check.scopes import root_name
from isolith_bindings.check.values import UNKNOWN, Called, Coroutine, Each, Result, Several, Value, Waiting

if TYPE_CHECKING:
    from isolith_bindings.check.expressions import Expressions
    from isolith_bindings.check.scopes import Scope


class Binding:
    """Looks at targets, and at what is gone through."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions

    def gone_through(self, node: ast.expr, scope: Scope, target: ast.expr) -> Value:
        """Each item of what is iterated over, which is called `target`."""
        value = self.expressions.used(node, scope)
        if isinstance(value, (Waiting, Coroutine)):
            self.expressions.unawaited(value, node, "is not iterable")
        if isinstance(value, Result):
            parts = len(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else 1
            starred = parts > 1 and any(isinstance(part, ast.Starred) for part in target.elts)  # type: ignore[attr-defined]
            self.expressions.wrong(results.gone_through(value, parts=1 if starred else parts), node)
            told_apart = root_name(node) in self.expressions.state.scopes.told_apart
            value = UNKNOWN if told_apart else results.each(value)
        return value.item if isinstance(value, Each) else UNKNOWN

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign: a name that is bound once is what was assigned."""
        if isinstance(target, ast.Name):
            home = scope.find(target.id)
            if home is not None and home.bound[target.id] == 1:
                home.values[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN, scope)
        else:
            self.expressions.value(target, scope)

    def unpack(self, target: ast.Tuple | ast.List, value: Value, scope: Scope) -> None:
        """`a, b = x`."""
        if isinstance(value, (Called, Waiting, Coroutine)):
            self.expressions.unawaited(value, target, "is not iterable")
        if isinstance(value, Result):
            value = results.each(value)
        parts: tuple[Value, ...] = ()
        if isinstance(value, Several) and len(value.items) == len(target.elts):
            parts = value.items
        for number, part in enumerate(target.elts):
            one = parts[number] if parts else value.item if isinstance(value, Each) else UNKNOWN
            self.bind(part, one, scope)
