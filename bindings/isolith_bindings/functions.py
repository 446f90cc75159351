"""Python functions as a connector: a class, an instance, a module, a list or a dict of functions.

Their names, type hints and docstrings are what a script sees. Public means that the name does not begin with `_`.
Arguments are validated before a function runs, results after. A blocking function runs in a thread, an async one in the
event loop, where cancelling the call cancels it; an abandoned thread goes on, and its result is dropped.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar, cast, get_args, overload

from isolith_bindings.connector import Connector, Hook, Policy
from isolith_bindings.errors import BindError
from isolith_bindings.function_connector import Candidate, FunctionConnector, Instance, MethodOptions
from isolith_bindings.names import connector_name, from_class_name

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., object])

_CONNECTOR = "__isolith_connector__"
_METHOD = "__isolith_method__"


@dataclass(frozen=True)
class _Label:
    """What `@connector` says of a class."""

    name: str
    description: str | None


@overload
def connector(name: C, /) -> C: ...
@overload
def connector(name: str | None = None, *, description: str | None = None) -> Callable[[C], C]: ...
def connector(name: C | str | None = None, *, description: str | None = None) -> C | Callable[[C], C]:
    """Mark a class as a connector; its public methods become the connector's.

    Without a name it is called like the class, `BillingApi` as `billing_api`. Inherited methods are left out, unless
    their class is marked too or they are a `@method`. The class is instantiated at the first call, without arguments.
    Raises InvalidName at once.
    """
    given = name if isinstance(name, str) else None

    def mark(cls: C) -> C:
        if not isinstance(cast("object", cls), type):
            raise BindError('@connector marks a class; for others write as_connector(FUNCTIONS, "NAME")')
        label = _Label(connector_name(from_class_name(cls.__name__) if given is None else given), description)
        setattr(cls, _CONNECTOR, label)
        return cls

    return mark if name is None or isinstance(name, str) else mark(name)


@overload
def method(function: F, /) -> F: ...
@overload
def method(
    *,
    policy: Policy = "allow",
    idempotent: bool = False,
    revert: Hook | None = None,
    preview: Hook | None = None,
    name: str | None = None,
) -> Callable[[F], F]: ...
def method(
    function: F | None = None,
    /,
    *,
    policy: Policy = "allow",
    idempotent: bool = False,
    revert: Hook | None = None,
    preview: Hook | None = None,
    name: str | None = None,
) -> F | Callable[[F], F]:
    """Say more of a function: whether a call needs a person (`policy`), may be repeated, how it is undone.

    `preview` says what a call would do, on a thread where the arguments are many; `name` replaces the function's own.
    Raises BindError for an unknown policy.
    """
    if policy not in get_args(Policy):
        raise BindError(f"@method(policy={policy!r}): a policy is one of {', '.join(map(repr, get_args(Policy)))}")
    options = MethodOptions(policy, idempotent, revert, preview, name)

    def mark(function: F) -> F:
        setattr(function, _METHOD, options)
        return function

    return mark if function is None else mark(function)


def as_connector(obj: object, name: str | None = None) -> Connector:
    """A connector from a class, an instance, a module, or a list or dict of functions; a Connector stays itself.

    `name` replaces the one it would have: that of the class or module; `functions` for a list or dict.
    Raises BindError, naming what is wrong and the mend.
    """
    if isinstance(obj, Connector) and not isinstance(obj, type):
        if name not in {None, obj.name}:
            raise BindError(f"{obj!r} is a connector already and keeps its name; it cannot be called `{name}`")
        return obj
    if isinstance(obj, ModuleType):
        module_name = name or obj.__name__.rpartition(".")[2]
        return _bind(module_name, obj.__doc__, _module_functions(obj), f"module {_home(obj)}")
    if isinstance(obj, Mapping):
        named = [(str(key), value) for key, value in cast("Mapping[object, object]", obj).items()]
        return _bind(name or "functions", None, _given_functions(named), "a dict of functions")
    if isinstance(obj, list | tuple | set | frozenset):
        items = [(getattr(item, "__name__", ""), item) for item in cast("Iterable[object]", obj)]
        return _bind(name or "functions", None, _given_functions(items), "a list of functions")
    if inspect.isroutine(obj):
        raise BindError(f"{_shown(obj)} is one function: put it in a list, with what else belongs to the connector")
    return _from_class(obj, name)


def connectors_in(module: ModuleType, name: str | None = None) -> list[Connector]:
    """The connectors of a module, in the order in which they are written.

    Those in its list `connectors`; else its classes marked with `@connector`; else its own public functions as one
    connector, called `name` or like the module. Empty if there is none of these. Raises BindError.
    """
    listed: object = vars(module).get("connectors")
    if isinstance(listed, list | tuple):
        return [as_connector(item) for item in cast("list[object]", listed)]
    classes = [value for value in vars(module).values() if isinstance(value, type) and _CONNECTOR in vars(value)]
    own = [cls for cls in dict.fromkeys(classes) if cls.__module__ == module.__name__]
    if own:
        return [as_connector(cls) for cls in own]
    return [as_connector(module, name)] if any(_module_functions(module)) else []


# ---------------------------------------------------------------------------------------------- what is in there


def _bind(name: str, description: str | None, candidates: Iterator[Candidate], origin: str) -> Connector:
    return FunctionConnector(connector_name(name), inspect.cleandoc(description or ""), list(candidates), origin)


def _from_class(obj: object, name: str | None) -> Connector:
    cls: type = obj if isinstance(obj, type) else type(obj)
    label = getattr(cls, _CONNECTOR, None)
    label = label if isinstance(label, _Label) else _Label(from_class_name(cls.__name__), None)
    if cls.__module__ == "builtins":
        raise BindError(
            f"what is of type {cls.__name__} is no connector: give a class, an instance, a module, or functions"
        )
    module = sys.modules.get(cls.__module__)
    origin = f"class {cls.__qualname__} of {_home(module) if module else cls.__module__}"
    if obj is cls:
        _refuse_arguments(cls)
    description = label.description or cls.__dict__.get("__doc__")
    return _bind(name or label.name, description, _class_methods(cls, Instance(obj)), origin)


def _refuse_arguments(cls: type) -> None:
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (ValueError, TypeError):
        return  # builtins without a signature: making one will tell
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
    if needed:
        raise BindError(
            f"class {cls.__name__} needs {', '.join(f'`{name}`' for name in needed)} to be made: "
            f"give an instance, {cls.__name__}(...), in place of the class"
        )


def _class_methods(cls: type, instance: Instance) -> Iterator[Candidate]:
    for attribute in dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base)):
        home = next(base for base in cls.__mro__ if attribute in vars(base))
        raw: object = vars(home)[attribute]
        function: object = getattr(raw, "__func__", raw)
        options = _options(raw) or _options(function)
        mine = home is cls or _CONNECTOR in vars(home) or options
        if (
            mine
            and not attribute.startswith("_")
            and callable(function)
            and inspect.isfunction(inspect.unwrap(function))
        ):
            yield Candidate(
                original=(options and options.name) or attribute,
                function=function,
                skip_first=not isinstance(raw, staticmethod),
                get=instance.getter(attribute),
                options=options or MethodOptions(),
            )


def _module_functions(module: ModuleType) -> Iterator[Candidate]:
    for attribute, value in vars(module).items():
        if not attribute.startswith("_") and _is_own(value, module):
            yield _candidate(attribute, cast("Callable[..., object]", value))


def _is_own(value: object, module: ModuleType) -> bool:
    return inspect.isroutine(value) and value.__module__ == module.__name__


def _given_functions(items: list[tuple[str, object]]) -> Iterator[Candidate]:
    for number, (name, value) in enumerate(items):
        if not callable(value) or isinstance(value, type):
            raise BindError(f"item {number} of the functions, {_shown(value)}, is no function")
        if not name:
            raise BindError(
                f"item {number} of the functions, {_shown(value)}, has no name: give a dict, name to function"
            )
        yield _candidate(name, value)


def _candidate(name: str, function: Callable[..., object]) -> Candidate:
    options = _options(function) or MethodOptions()
    return Candidate(options.name or name, function, skip_first=False, get=lambda: function, options=options)


def _options(function: object) -> MethodOptions | None:
    options = getattr(function, _METHOD, None)
    return options if isinstance(options, MethodOptions) else None


def _home(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or module.__name__


def _shown(obj: object) -> str:
    name = getattr(obj, "__qualname__", None)
    return f"`{name}`" if isinstance(name, str) else f"of type {type(obj).__name__}"
