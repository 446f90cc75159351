"""The arguments of one call against the parameters of its method, as far as they are written out."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from isolith_bindings.check.belonging import belonging
from isolith_bindings.check.fits import Fitting, Misfit, resolve
from isolith_bindings.check.literals import HOLE, Hole, literal
from isolith_bindings.cuts import mark_in
from isolith_bindings.rendering import no_argument, signature_as, takes_only
from isolith_bindings.schema.draft3 import as_draft4
from isolith_bindings.schema.listed import listed_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith_bindings.connector import JsonSchema, Method

_MAX_PROBLEMS = 3
_MAX_WRITTEN = 200
"""Characters of arguments that a hint repeats under their names."""
_STEP = re.compile(r"[.\[]")


@dataclass(frozen=True)
class Problem:
    """What is wrong with the arguments of a call. `at_once`: raised by the call itself, awaited or not."""

    message: str
    certain: bool
    hint: str | None = None
    at_once: bool = False


@dataclass(frozen=True)
class Given:
    """The arguments of a call. `open`: there may be more than is written out."""

    values: Mapping[str, object]
    open: bool = False


def given(node: ast.Call, tool: str, known: Callable[[ast.expr], object]) -> Given | Problem:
    """The arguments by name, or what is wrong with how they are given. `known` tells the value of a constant name."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return Given({}, open=True)
    if node.args:
        first = _value(node.args[0], known)
        if isinstance(node.args[0], ast.Constant) and node.args[0].value is ...:
            first = Hole(type(...))
        if len(node.args) > 1 or any(word.arg for word in node.keywords) or _is_no_mapping(first):
            form = f"{tool}(name=value) or {tool}({{'name': value}})"
            return Problem(f"{tool} takes keyword arguments, or one dict: {form}", certain=True, at_once=True)
        return Given({}, open=True) if node.keywords else _of_mapping(first)
    values: dict[str, object] = {}
    is_open = False
    for word in node.keywords:
        value = _value(word.value, known)
        if word.arg is not None:
            values[word.arg] = value
            continue
        more = _of_mapping(value)
        values.update(more.values)
        is_open |= more.open
    return Given(values, is_open)


def problem(arguments: Given, method: Method, tool: str, *, settled: bool = False) -> Problem | None:
    """What is wrong with them for this method, in the words of the connector that would refuse them.

    `settled`: the method is as it will be called, so that a name it does not list is certainly refused.
    """
    cut = _cut(arguments, tool)
    if cut is not None:
        return cut
    parameters = _object(method.parameters)
    if parameters is None:
        return None
    known = _properties(parameters)
    unknown = [name for name in arguments.values if name not in known]
    hint = signature(method, tool)
    if unknown and (known or parameters.get("additionalProperties") is False) and not _is_open(parameters):
        message = no_argument(f"{tool}{_place(method)}", unknown[0], known)
        closed = parameters.get("additionalProperties") is False
        mend = (
            None
            if "did you mean" in message
            else belonging(unknown[0], arguments.values[unknown[0]], parameters, known)
        )
        hint = f"{mend}; {hint}" if mend else hint
        return Problem(message, certain=closed or (settled and listed_names(parameters) is not None), hint=hint)
    found = _misfits(arguments, parameters, known)
    if not found:
        return None
    certain = [misfit for misfit in found if misfit.certain]
    shown = [misfit.at(_place(method, _STEP.split(misfit.path, maxsplit=1)[0])) for misfit in certain or found]
    more = f"; and {len(shown) - _MAX_PROBLEMS} more" if len(shown) > _MAX_PROBLEMS else ""
    listed = f"{'; '.join(shown[:_MAX_PROBLEMS])}{more}"
    end = "" if listed.endswith("?") else "."
    takes = takes_only(known, others=_is_open(parameters))
    return Problem(f"{tool}: {listed}{end} {takes}", certain=bool(certain), hint=hint)


def by_name(node: ast.Call, method: Method, tool: str) -> str:
    """How a call that gave its arguments by position is written, and the signature."""
    shown = signature(method, tool)
    free = [name for name in _properties(_object(method.parameters) or {}) if name.isidentifier()]
    values = [ast.unparse(value) for value in node.args]
    written = ", ".join(f"{name}={value}" for name, value in zip(free, values, strict=False))
    ambiguous = (
        bool(node.keywords)
        or len(values) > len(free)
        or any(isinstance(value, ast.Dict) for value in node.args)
        or "..." in values
    )
    return shown if ambiguous or len(written) > _MAX_WRITTEN else f"write `{tool}({written})`: {shown}"


def _cut(arguments: Given, tool: str) -> Problem | None:
    """That something was pasted from a value that was cut when it was shown. Only what is written out is judged."""
    for name, value in arguments.values.items():
        mark = mark_in(value)
        if mark is not None:
            message = f"{tool}: {name} holds `{mark}`, which stands for what was left out when a value was shown."
            hint = (
                "what was shown is not all of it: have the script get the whole value, and pass that on in a variable"
            )
            return Problem(message, certain=True, hint=hint, at_once=True)
    return None


def _place(method: Method, argument: str = "") -> str:
    """Where it is written what an argument is, or the method itself; nothing where nobody knows."""
    source = method.source(argument)
    return f" ({source})" if source else ""


def _misfits(arguments: Given, parameters: JsonSchema, known: JsonSchema) -> list[Misfit]:
    fitting = Fitting(parameters)
    required = parameters.get("required")
    needed = cast("list[object]", required) if isinstance(required, list) else []
    found: list[Misfit] = []
    for name, schema in known.items():
        if name in arguments.values:
            value = arguments.values[name]
            misfits = fitting.misfits(value, schema, name)
            # Some connectors take None for an argument that is left out.
            lenient = value is None and name not in needed
            found += [Misfit(m.path, m.reason, m.certain and not lenient) for m in misfits]
        elif name in needed and not arguments.open:
            found.append(Misfit(name, " is missing", certain=True))
    return found


def _value(node: ast.expr, known: Callable[[ast.expr], object]) -> object:
    found = literal(node)
    return known(node) if found is HOLE else found


def _is_no_mapping(value: object) -> bool:
    if isinstance(value, Hole):
        return value.kind is not None and value.kind is not dict
    return not isinstance(value, dict) or any(
        not isinstance(key, str | Hole) for key in cast("dict[object, object]", value)
    )


def _of_mapping(value: object) -> Given:
    if not isinstance(value, dict):
        return Given({}, open=True)
    items = cast("dict[object, object]", value)
    values = {key: item for key, item in items.items() if isinstance(key, str)}
    return Given(values, open=len(values) < len(items))


def _object(parameters: JsonSchema) -> JsonSchema | None:
    """The parameters as one object's schema; None where they are of another form."""
    parameters = cast("JsonSchema", as_draft4(parameters))
    target = resolve(parameters, parameters) if "$ref" in parameters else parameters
    if not isinstance(target, dict) or any(word in target for word in ("anyOf", "oneOf", "allOf", "patternProperties")):
        return None
    return {**parameters, **target} if target is not parameters else parameters


def _properties(parameters: JsonSchema) -> JsonSchema:
    properties = parameters.get("properties")
    return cast("JsonSchema", properties) if isinstance(properties, dict) else {}


def _is_open(parameters: JsonSchema) -> bool:
    """Whether other arguments are said to be welcome; where nothing is said they may be refused."""
    return parameters.get("additionalProperties", False) is not False


def signature(method: Method, tool: str) -> str:
    """The signature as a call of this tool."""
    return signature_as(tool, method.name, method.signature)
