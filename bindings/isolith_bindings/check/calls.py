"""Calls: of methods, of functions of the script, and of those of Python's own that a call under way is given to."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from isolith_bindings.check import arguments, results, surroundings
from isolith_bindings.check.by_name import called_by_name
from isolith_bindings.check.values import (
    UNKNOWN,
    Called,
    ConnectorRef,
    Coroutine,
    Data,
    Each,
    Function,
    MethodRef,
    Named,
    Result,
    Several,
    Tools,
    Value,
    Waiting,
)

if TYPE_CHECKING:
    from isolith_bindings.check.expressions import Expressions
    from isolith_bindings.check.finding import Draft
    from isolith_bindings.check.scopes import Scope
    from isolith_bindings.connector import Method

_NEEDS_VALUES = frozenset(
    "str print repr format len bool list tuple set frozenset sorted sum dict enumerate zip iter min max any all int "  # noqa: SIM905
    "float map filter reversed".split()
)
"""Functions of Python's own that look into what they are given."""

_GIVE_ON = frozenset({"asyncio.wait_for", "asyncio.shield", "asyncio.ensure_future", "asyncio.create_task"})
"""What is awaited for what they are given."""

_RUNNERS = frozenset({"asyncio.run"})
_WAITERS = frozenset({"asyncio.gather", "asyncio.wait", "asyncio.as_completed", *_GIVE_ON})
_SERVICES = frozenset({"search", "describe", "artifact"})


class Calls:
    """Looks at call expressions."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.state = expressions.state

    def value(self, node: ast.Call, scope: Scope) -> Value:
        """What a call gives."""
        function = self.function(node, scope)
        given = [self.argument(argument, scope) for argument in node.args]
        named: dict[str, Value] = {}
        for word in node.keywords:
            value = self.expressions.value(word.value, scope) if word.arg else self.expressions.used(word.value, scope)
            if word.arg:
                named[word.arg] = value
        if isinstance(function, MethodRef):
            return self.method(node, function, [*zip(node.args, given, strict=True)], named, scope)
        if isinstance(function, (Called, ConnectorRef, Tools)):
            self.not_a_function(node, function)
        elif isinstance(function, Result):
            self.expressions.wrong(results.called(function), node)
        elif isinstance(function, Function):
            return self.own(function)
        elif isinstance(function, Named):
            self.kept_for_later(node, function.name, given, scope)
            return self.pythons(node, function.name, given, named)
        return UNKNOWN

    def function(self, node: ast.Call, scope: Scope) -> Value:
        """What is called; of a function that would call a tool by its name, what to write in its place."""
        scopes, name = self.state.scopes, node.func.id if isinstance(node.func, ast.Name) else ""
        told = scope.find(name) is None and not scopes.opaque and not self.state.full
        meant = called_by_name(node, self.state.toolbox) if told else None  # all methods are looked through for it
        if meant is None:
            return self.expressions.value(node.func, scope)
        hint = surroundings.by_name_hint(meant, synchronous=self.state.synchronous)
        self.state.say("exception", node.func, f"NameError: name {name!r} is not defined", hint)
        return UNKNOWN

    def argument(self, node: ast.expr, scope: Scope) -> Value:
        """One positional argument; what a star opens stays known as a whole."""
        if isinstance(node, ast.Starred):
            value = self.expressions.used(node.value, scope)
            return value if isinstance(value, (Each, Several)) else UNKNOWN
        return self.expressions.value(node, scope)

    def not_a_function(self, node: ast.Call, value: Value) -> None:
        """What is called cannot be."""
        if isinstance(value, Called):
            self.state.misused(value, node)
        elif isinstance(value, ConnectorRef):
            message = f"TypeError: the connector {value.name} is no function"
            self.state.say("exception", node, message, f"call one of its methods, `{value.name}.NAME(...)`")
        else:
            self.state.say(
                "exception", node, "TypeError: `tools` is no function", "write `tools.CONNECTOR.METHOD(...)`"
            )

    # methods

    def method(
        self,
        node: ast.Call,
        function: MethodRef,
        given: list[tuple[ast.expr, Value]],
        named: dict[str, Value],
        scope: Scope,
    ) -> Value:
        """A method is called."""
        index = self.state.toolbox.index(function.connector)
        name = index.resolve(function.path)
        if name is None:
            self.expressions.unknown(function.connector, function.path, node)
            return UNKNOWN
        method = index.methods[name]
        tool = f"{function.connector}.{name}"
        drafts = self.arguments(node, method, tool, scope)
        for argument, value in [*named.items(), *(("", value) for _, value in given)]:
            self.no_data(node, tool, argument, value)
        return self.answer(node, method, tool, function.variant, drafts)

    def answer(self, node: ast.Call, method: Method, tool: str, variant: str, drafts: tuple[Draft, ...]) -> Value:
        """What the script gets: the result, or what it can await."""
        if variant == "pages":
            return UNKNOWN
        schema = method.returns
        result: Value = Result(tool, schema, schema) if schema is not None and not variant else UNKNOWN
        if not self.state.synchronous:
            return Called(tool, node, result, drafts)
        for draft in drafts:
            self.state.confirm(draft)
        return result

    def arguments(self, node: ast.Call, method: Method, tool: str, scope: Scope) -> tuple[Draft, ...]:
        """Note what is wrong with the arguments; what becomes certain where the call is awaited is returned."""
        given = arguments.given(node, tool, lambda part: self.expressions.constant(part, scope))
        problem: arguments.Problem | None
        if isinstance(given, arguments.Problem):
            problem = replace(given, hint=arguments.by_name(node, method, tool))
        else:
            problem = arguments.problem(given, method, tool, settled=self.state.toolbox.settled)
        if problem is None:
            return ()
        certain = problem.certain and problem.at_once
        draft = self.state.say("invalid_arguments", node, problem.message, problem.hint, tool=tool, certain=certain)
        return (draft,) if problem.certain and not problem.at_once else ()

    def no_data(self, node: ast.Call, tool: str, name: str, value: Value) -> None:
        """An argument that is no data."""
        if isinstance(value, Called):
            line, _ = self.state.places.of(value.node)
            what = f"is the call {value.tool}(...) of line {line}, not its result: write `await {value.tool}(...)`"
        elif isinstance(value, MethodRef):
            path = f"{value.connector}.{value.path}"
            what = f"is the method {path}, which has no data form: call it, {path}(...)"
        elif isinstance(value, ConnectorRef):
            what = f"is the connector {value.name}, which has no data form: call one of its methods"
        elif isinstance(value, (Function, Coroutine)):
            kind = "function" if isinstance(value, Function) else "coroutine"
            mend = "call it, or leave it out" if kind == "function" else "make it a dict, a list or text"
            what = f"is of type {kind}, which has no data form: {mend}"
        elif isinstance(value, Data) and value.value is ...:
            what = "is of type ellipsis, which has no data form: make it a dict, a list or text"
        else:
            return
        if name:
            self.state.say("invalid_arguments", node, f"{tool}: argument {name} {what}", tool=tool)

    # functions

    def own(self, function: Function) -> Value:
        """A function of the script: its body runs now, or when what it gives is awaited."""
        if isinstance(function.node, ast.AsyncFunctionDef):
            return Coroutine(function.node)
        self.expressions.run(function.node)
        return UNKNOWN

    def pythons(self, node: ast.Call, name: str, given: list[Value], named: dict[str, Value]) -> Value:
        """A function of Python's own, or one that every script has."""
        if name in _NEEDS_VALUES:
            for called in (value for value in given if isinstance(value, Called)):
                self.state.misused(called, node)
        elif name in {"json.dumps", "json.loads"} and given:
            self.json(node, name, given[0])
        elif name == "open" or name in surroundings.PROCESSES:
            self.refused(node, name)
        elif name == "input":
            self.state.say("exception", node, "TypeError: `input` is not callable", surroundings.NOBODY_TO_ASK)
        elif name == "getattr":
            return self.by_name(node, given)
        elif name in _SERVICES and not self.state.synchronous:
            return Called(name, node, UNKNOWN)
        elif name in _RUNNERS and given:
            return self.expressions.settled(given[0], node)
        elif name in _WAITERS:
            return self.waiting(node, name, given, named)
        return UNKNOWN

    def json(self, node: ast.Call, name: str, value: Value) -> None:
        """`json.dumps(x)` of a call under way, `json.loads(x)` of what is data already."""
        if name == "json.dumps" and isinstance(value, Called):
            self.state.misused(value, node, hint=surroundings.NOT_AWAITED)
        elif name == "json.loads" and isinstance(value, Result):
            self.expressions.wrong(results.parsed(value), node)

    def kept_for_later(self, node: ast.Call, name: str, values: list[Value], scope: Scope) -> None:
        """`partial(method, name=value)`: more arguments may come, and whether it is ever called is not known."""
        function = values[0] if name == "functools.partial" and values else None
        if not isinstance(function, MethodRef):
            return
        index = self.state.toolbox.index(function.connector)
        known = index.resolve(function.path)
        if known is None:
            return
        method, tool = index.methods[known], f"{function.connector}.{known}"
        call = ast.Call(node.args[0], node.args[1:], node.keywords)
        given = arguments.given(call, tool, lambda part: self.expressions.constant(part, scope))
        if isinstance(given, arguments.Problem):
            problem: arguments.Problem | None = replace(given, hint=arguments.by_name(call, method, tool))
        else:
            problem = arguments.problem(replace(given, open=True), method, tool)
        if problem is not None:
            self.state.say("invalid_arguments", node, problem.message, problem.hint, tool=tool, certain=False)

    def by_name(self, node: ast.Call, given: list[Value]) -> Value:
        """`getattr(x, "name")`, which is `x.name` where the name is written out and nothing is given in place of it."""
        name = node.args[1].value if len(node.args) == 2 and isinstance(node.args[1], ast.Constant) else None
        if not isinstance(name, str) or name.startswith("__") or not isinstance(given[0], (ConnectorRef, MethodRef)):
            return UNKNOWN
        return self.expressions.member(given[0], name, node)

    def refused(self, node: ast.Call, name: str) -> None:
        """`open(...)`, `subprocess.run(...)`."""
        if name != "open":
            self.state.say("exception", node, f"PermissionError: {surroundings.NO_PROCESSES}")
            return
        path = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        shown = f": {path!r}" if isinstance(path, str | bytes) else ""
        self.state.say("exception", node, f"PermissionError: {surroundings.NO_FILES}{shown}")

    def waiting(self, node: ast.Call, name: str, given: list[Value], named: dict[str, Value]) -> Value:
        """`asyncio.gather(...)` and the like: what awaiting them gives."""
        parts = [part for value in given for part in (value.items if isinstance(value, Several) else (value,))]
        if self.state.synchronous and any(isinstance(_item(part), Result) for part in parts):
            message = f"TypeError: `{name}(...)` was given the results of calls, not calls"
            self.state.say("exception", node, message, surroundings.CALLS_GIVE_VALUES)
            return UNKNOWN
        if name == "asyncio.gather" and not self.state.synchronous:
            self.not_one_by_one(node, given)
        calls = tuple(part for part in parts if isinstance(part, Called))
        if name in _GIVE_ON and given:
            first = given[0]
            return Waiting(name, first.result, calls[:1]) if isinstance(first, Called) else UNKNOWN
        if name != "asyncio.gather":
            return UNKNOWN
        if "return_exceptions" in named:
            return Waiting(name, UNKNOWN)
        if len(given) == 1 and isinstance(given[0], Each) and isinstance(node.args[0], ast.Starred):
            item = given[0].item
            return Waiting(name, Each(item.result) if isinstance(item, Called) else UNKNOWN)
        known = not any(isinstance(argument, ast.Starred) for argument in node.args)
        results = tuple(part.result if isinstance(part, Called) else UNKNOWN for part in parts)
        return Waiting(name, Several(results) if known else UNKNOWN, calls)

    def not_one_by_one(self, node: ast.Call, given: list[Value]) -> None:
        """`gather([...])`, `gather(crm.list)`: a list of calls, or what is not called yet."""
        for argument, value in zip(node.args, given, strict=True):
            listed = isinstance(argument, ast.Name) and isinstance(value, (Several, Each))
            if isinstance(argument, (ast.List, ast.ListComp)) or listed:
                message = "TypeError: cannot use 'list' as a dict key (unhashable type: 'list')"
            elif isinstance(value, MethodRef):
                message = "TypeError: An asyncio.Future, a coroutine or an awaitable is required"
            else:
                continue
            self.state.say("exception", node, message, surroundings.ONE_BY_ONE, certain=not listed)
            return


def _item(value: Value) -> Value:
    return value.item if isinstance(value, Each) else value
