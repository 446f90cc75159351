"""What an expression of a script is known to be, as far as that tells whether it is used rightly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from isolith_bindings.check.finding import Draft
    from isolith_bindings.connector import JsonSchema


@dataclass(frozen=True)
class Unknown:
    """Anything."""


@dataclass(frozen=True)
class Tools:
    """`tools`, which holds the connectors."""


@dataclass(frozen=True)
class ConnectorRef:
    """A connector, by its name; `module` where a module of Python's own was imported by that name: it is behind it."""

    name: str
    module: str = ""


@dataclass(frozen=True)
class MethodRef:
    """A method or the beginning of a dotted name, as it was spelt; `variant` where it is `.raw` or `.pages` of it."""

    connector: str
    path: str
    variant: str = ""


@dataclass(frozen=True)
class Result:
    """What a call answers: data of a schema, whose `$ref`s lead into `root`. `path` is how it was reached."""

    tool: str
    schema: JsonSchema | bool
    root: JsonSchema


@dataclass(frozen=True, eq=False)
class Called:
    """A call that is under way and not its result: what a script that awaits gets of one."""

    tool: str
    node: ast.Call
    result: Value
    problems: tuple[Draft, ...] = ()
    """What is wrong with its arguments, which is raised where it is awaited."""


@dataclass(frozen=True, eq=False)
class Waiting:
    """What has to be awaited for `result`: `asyncio.gather(...)` and the like. `name` is what made it."""

    name: str
    result: Value
    calls: tuple[Called, ...] = ()
    """Those that fail it where they fail."""


@dataclass(frozen=True, eq=False)
class Coroutine:
    """A call of an asynchronous function of the script, which has not run yet."""

    function: ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the script, bound once and not decorated."""

    node: ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Several:
    """A tuple or a list whose items are known one by one."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Each:
    """What is iterated over, every item of it alike."""

    item: Value


@dataclass(frozen=True)
class Named:
    """Something of Python's own, by its dotted name: `asyncio.gather`, `print`, `input`."""

    name: str


@dataclass(frozen=True)
class Text:
    """Text that the script made."""


@dataclass(frozen=True)
class Data:
    """A literal of the script, or part of one."""

    value: object = field(default=None)


Value = (
    Unknown
    | Tools
    | ConnectorRef
    | MethodRef
    | Result
    | Called
    | Waiting
    | Coroutine
    | Function
    | Several
    | Each
    | Named
    | Text
    | Data
)

UNKNOWN = Unknown()
