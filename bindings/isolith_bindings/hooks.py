"""What a method says undoes it (`revert`) and tells what it would do (`preview`), looked at before it is ever called.

A function is called by keyword: `revert` with `arguments` and `result` (and `status`, where it takes that), `preview`
with the arguments of the call. Another method of the same connector is given the arguments of the call: by `preview`
all of them, by `revert` those that it takes, and the `result` where it takes that.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Literal, cast

from isolith_bindings.errors import BindError
from isolith_bindings.names import did_you_mean
from isolith_bindings.rendering import one_of
from isolith_bindings.schema.listed import listed_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from isolith_bindings.connector import Hook, JsonSchema, Method

What = Literal["revert", "preview"]

_WRITE: Mapping[What, str] = {
    "revert": "give a function, `def undo(*, arguments, result)` (and `status`, to decide what is uncertain)",
    "preview": "give a function that takes what the method takes, by the same names and with the same defaults",
}


def refuse_unfit_hooks(connector: str, methods: Mapping[str, Method]) -> None:
    """Raises BindError for a `revert` or `preview` that could not be called, naming it, its method and the mend."""
    for method in methods.values():
        hooks: Mapping[What, Hook | None] = {"revert": method.revert, "preview": method.preview}
        for what, hook in hooks.items():
            problem = None if hook is None else _problem(what, connector, method, hook, methods)
            if problem is not None:
                raise BindError(f"{connector}.{method.name} says `{what}={_shown(hook)}`, {problem}")


def missing_for(taker: Method, given: Iterable[str]) -> list[str]:
    """The arguments that a method needs and that are not among those it is given."""
    return [name for name in required_names(taker.parameters) if name not in set(given)]


def required_names(schema: JsonSchema) -> list[str]:
    """The parameters that have to be given."""
    required = schema.get("required")
    return [str(name) for name in cast("list[object]", required)] if isinstance(required, list) else []


def _problem(what: What, connector: str, method: Method, hook: object, methods: Mapping[str, Method]) -> str | None:
    if isinstance(hook, str):
        other = methods.get(hook)
        return _not_there(what, connector, hook, methods) if other is None else _unfit(what, method, other)
    if not callable(hook):
        return f"which is neither a function nor the name of a method: {_WRITE[what]}"
    return _uncallable(what, method, hook)


def _not_there(what: What, connector: str, name: str, methods: Mapping[str, Method]) -> str:
    close = did_you_mean(name, methods)
    mean = f"; {close}" if close else "."
    return f"and {connector} has no such method{mean} It has: {one_of(methods)}. Name one, or {_WRITE[what]}"


def _unfit(what: What, method: Method, other: Method) -> str | None:
    """Why another method cannot be given what it would be given."""
    names = listed_names(method.parameters)
    sure = required_names(method.parameters) if what == "preview" else [*(names or ()), "result"]
    missing = [] if names is None else missing_for(other, sure)
    if missing:
        given = "the arguments of the call" + (", and `result`" if what == "revert" else "")
        return f"which needs `{missing[0]}`: it is given {given}. Give that a default, or the name of one of these"
    taken = listed_names(other.parameters)
    unknown = [name for name in names or () if taken is not None and name not in taken]
    if what == "preview" and unknown:
        return f"which takes no `{unknown[0]}`: it is given all arguments of the call, so have it take that as well"
    return None


def _uncallable(what: What, method: Method, function: Callable[..., object]) -> str | None:
    """Why a function cannot be called as it would be."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None  # a builtin that does not say what it takes
    for names in _calls(what, method, signature):
        try:
            signature.bind(**dict.fromkeys(names))
        except TypeError as error:
            called = ", ".join(f"{name}=..." for name in names)
            return f"which cannot be called with ({called}): {error}; {_mend(what, function, signature)}"
    return None


def _calls(what: What, method: Method, signature: inspect.Signature) -> list[list[str]]:
    """The names that it may be called with: all of them, and as few as may be."""
    if what == "revert":
        return [["arguments", "result", *(["status"] if "status" in signature.parameters else [])]]
    least = required_names(method.parameters)
    return [list(listed_names(method.parameters) or least), least]


def _mend(what: What, function: Callable[..., object], signature: inspect.Signature) -> str:
    if next(iter(signature.parameters), None) == "self":
        name = getattr(function, "__name__", "NAME")
        return f'a method of the connector is named instead: `{what}="{name}"`'
    return _WRITE[what]


def _shown(hook: object) -> str:
    return repr(hook) if isinstance(hook, str) else str(getattr(hook, "__qualname__", type(hook).__name__))
