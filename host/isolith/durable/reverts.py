"""How a call is undone: by its method's own `revert`, or by what a configuration says. Pure.

    [reverts]
    "files.add" = "files.remove"
    "tickets.create" = { method = "tickets.close", arguments = { id = "$result.id", why = "taken back" } }

`$arguments` and `$result`, with a dotted path behind them, stand for what the call was given and what it gave; `$$`
begins a text that begins with `$`. Anything else is sent as it is. Without `arguments` the other method is given those
of the call that it takes, and the `result` where it takes that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict

from isolith_bindings.errors import CallError

if TYPE_CHECKING:
    from isolith_bindings.catalog import Catalog
    from isolith_bindings.connector import Connector, Method


def _by_name(value: object) -> object:
    return {"method": value} if isinstance(value, str) else value


class Revert(BaseModel):
    """What undoes a method that does not say so itself."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, hide_input_in_errors=True)

    method: str
    """`connector.method`."""
    arguments: Mapping[str, object] | None = None
    """What it is given: values, `$arguments.PATH`, `$result.PATH`."""


RevertEntry = Annotated[Revert, BeforeValidator(_by_name, json_schema_input_type=str | Revert)]
Reverts = Mapping[str, Revert]


def reverts_of(given: Mapping[str, Revert | str] | None) -> Reverts:
    """As they are written in Python."""
    return {name: Revert(method=it) if isinstance(it, str) else it for name, it in (given or {}).items()}


@dataclass(frozen=True)
class ByFunction:
    """A function is called with keyword `arguments` and `result`, and with `status` where it takes that."""

    function: Callable[..., object]
    asks_status: bool


@dataclass(frozen=True)
class ByMethod:
    """Another method is called."""

    connector: Connector
    method: Method
    arguments: Mapping[str, object] | None


Undo = ByFunction | ByMethod


def find_undo(catalog: Catalog, reverts: Reverts, connector: Connector, method: Method) -> Undo | None:
    """How a method is undone; None where nobody says. A configuration is asked first.

    Raises CallError `unknown_tool` where it names what is not there.
    """
    configured = reverts.get(f"{connector.name}.{method.name}")
    if configured is not None:
        name, _, other = configured.method.partition(".")
        return ByMethod(*catalog.resolve(name, other), configured.arguments)
    if method.revert is None:
        return None
    if callable(method.revert):
        return ByFunction(method.revert, _takes_status(method.revert))
    found = connector.methods.get(method.revert)
    if found is None:
        message = f"{connector.name}.{method.name} says that `{method.revert}` undoes it, and there is no such method"
        raise CallError("unknown_tool", message)
    return ByMethod(connector, found, None)


def arguments_of(undo: ByMethod, arguments: Mapping[str, object], result: object) -> dict[str, object]:
    """What the other method is given. Raises CallError `invalid_arguments` for a path that leads nowhere."""
    if undo.arguments is None:
        declared = undo.method.parameters.get("properties")
        taken = cast("Mapping[str, object]", declared) if isinstance(declared, Mapping) else dict[str, object]()
        return {name: value for name, value in {**arguments, "result": result}.items() if name in taken}
    sources = {"arguments": arguments, "result": result}
    return {name: _filled(value, sources) for name, value in undo.arguments.items()}


def _filled(value: object, sources: Mapping[str, object]) -> object:
    if isinstance(value, Mapping):
        return {name: _filled(part, sources) for name, part in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_filled(part, sources) for part in cast("Sequence[object]", value)]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value.startswith("$$"):
        return value[1:]
    first, *path = value[1:].split(".")
    if first not in sources:
        raise CallError("invalid_arguments", f"`{value}` is neither `$arguments...` nor `$result...`")
    found = sources[first]
    for step in path:
        found = _step(found, step, value)
    return found


def _step(value: object, step: str, whole: str) -> object:
    if isinstance(value, Mapping) and step in value:
        return cast("Mapping[str, object]", value)[step]
    if isinstance(value, list | tuple) and step.isdigit() and int(step) < len(cast("Sequence[object]", value)):
        return cast("Sequence[object]", value)[int(step)]
    raise CallError("invalid_arguments", f"`{whole}` leads nowhere in what the call was given or gave: no `{step}`")


def _takes_status(function: Callable[..., object]) -> bool:
    try:
        return "status" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
