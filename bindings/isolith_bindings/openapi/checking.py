"""Arguments before anything is sent: which are known, which are missing, which do not fit, and where that is said."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, cast

from isolith_bindings import names
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.bodies import argument_schema, whole_schema
from isolith_bindings.openapi.places import place_of, said
from isolith_bindings.openapi.request import body_value, chosen_media
from isolith_bindings.openapi.schemas import closed, texts
from isolith_bindings.openapi.tree import is_mapping
from isolith_bindings.schema.evaluation import MAX_STEPS
from isolith_bindings.schema.validate import Validator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.openapi.model import Api, Operation, Schema

MAX_TOLD = 5
"""Problems of one call that are told."""
LENIENT_STEPS = 20_000
"""How far an answer that is believed in any case is looked at: some 20 ms of work, or 200 kB."""

_FIRST_STEP = re.compile(r"[^.\[]+")


class Checker:
    """The arguments and answers of the operations of one document. Validators are made when they are first needed.

    `strict`: answers are looked at for as long as it takes, within what any validation may.
    """

    def __init__(self, api: Api, *, strict: bool = True) -> None:
        self._api = api
        self._answer_steps = MAX_STEPS if strict else LENIENT_STEPS
        self._validator = functools.lru_cache(maxsize=256)(self._made)
        self._answer = functools.lru_cache(maxsize=64)(self._made_for_answer)
        self._operations = {operation.id: operation for operation in api.operations}

    def check(self, operation: Operation, given: Mapping[str, object]) -> dict[str, object]:
        """The arguments by their own names. Raises CallError `invalid_arguments`, which tells all that is wrong."""
        arguments = self._spelt(operation, given)
        problems = self._missing(operation, arguments)
        problems += [
            f"{_said(operation, problem.path)}: {problem.message}"
            for problem in self._validator(operation.id, "").problems(arguments)
            if problem.path or not problems
        ]
        if not problems:
            problems = self._body_problems(operation, arguments)
        if problems:
            told = problems[:MAX_TOLD]
            more = f"; and {len(problems) - MAX_TOLD} more" if len(problems) > MAX_TOLD else ""
            raise CallError("invalid_arguments", "; ".join(told) + more, hint=f"it takes {takes(operation)}")
        return arguments

    def problems_of(self, operation: Operation, status: str, media_type: str, value: object) -> list[str]:
        """What is wrong with an answer that the document has; nothing where its schema is of no use."""
        return [str(problem) for problem in self._answer(operation.id, status, media_type).problems(value)]

    def _missing(self, operation: Operation, arguments: Mapping[str, object]) -> list[str]:
        return [f"{said(operation, name)} is missing" for name in required_of(operation) if name not in arguments]

    def _body_problems(self, operation: Operation, arguments: dict[str, object]) -> list[str]:
        """What is wrong with the body as a whole: `anyOf` and the like hold fields together."""
        body = operation.body
        if body is None or (body.argument is not None and body.chooser is None):
            return []
        value = body_value(operation, arguments)
        media = chosen_media(operation, arguments)
        if value is None or media.schema is None:
            return []
        by_field = {name: argument for argument, name in body.fields.items()}
        found: list[str] = []
        for problem in self._validator(operation.id, media.type).problems(value):
            first = _FIRST_STEP.match(problem.path)
            argument = by_field.get(first[0], first[0]) if first else ""
            place = f"`{argument}{problem.path[len(first[0]) :]}` " if first else ""
            found.append(f"{place}(body of {operation.key}, {body.where}): {problem.message}")
        return found

    def _spelt(self, operation: Operation, given: Mapping[str, object]) -> dict[str, object]:
        """Arguments under the names of the document as well; what is None and may be left out is left out."""
        properties = properties_of(operation)
        originals = _originals(operation)
        arguments: dict[str, object] = {}
        for name, value in given.items():
            known = name if name in properties else originals.get(name)
            places = [] if known else _places(operation, name)
            if known is None and len(places) > 1:
                several = " or ".join(f"`{each}`" for each in places)
                raise CallError("invalid_arguments", f"`{name}` is several things in {place_of(operation)}: {several}")
            if known is None:
                near = names.did_you_mean(name, properties)
                what = f"{operation.name} ({place_of(operation)}) takes no argument `{name}`"
                what += f", {near}" if near else ""
                raise CallError("invalid_arguments", what, hint=f"it takes {takes(operation)}")
            if known in arguments:
                what = f"{said(operation, known)} is given twice, once as `{name}`"
                raise CallError("invalid_arguments", what)
            arguments[known] = value
        outside = {parameter.argument for parameter in operation.parameters if not parameter.required}
        return {name: value for name, value in arguments.items() if value is not None or name not in outside}

    def _made(self, operation_id: str, media_type: str) -> Validator:
        operation = self._operations[operation_id]
        if not media_type or operation.body is None:
            return self._whole(operation.arguments)
        media = next(item for item in operation.body.media if item.type == media_type)
        return self._whole(argument_schema(media))

    def _made_for_answer(self, operation_id: str, status: str, media_type: str) -> Validator:
        answer = next(item for item in self._operations[operation_id].answers if item.status == status)
        media = next(item for item in answer.media if item.type == media_type)
        schema = closed(whole_schema(media), self._api.definitions, self._api.uses)
        return Validator(schema, contents=True, steps=self._answer_steps)

    def _whole(self, schema: Schema) -> Validator:
        return Validator(closed(schema, self._api.definitions, self._api.uses))


def properties_of(operation: Operation) -> dict[str, Schema]:
    """The arguments and their schemas."""
    arguments = operation.arguments
    found = arguments.get("properties") if is_mapping(arguments) else None
    return cast("dict[str, Schema]", found) if is_mapping(found) else {}


def required_of(operation: Operation) -> list[str]:
    """The arguments that cannot be left out."""
    arguments = operation.arguments
    found = arguments.get("required") if is_mapping(arguments) else None
    return texts(found)


def takes(operation: Operation) -> str:
    """What an operation takes, those first that it needs."""
    required = required_of(operation)
    optional = [name for name in properties_of(operation) if name not in required]
    if not required and not optional:
        return "no arguments"
    shown = [f"`{name}`" for name in required] + [f"`{name}`?" for name in optional]
    return ", ".join(shown[:40]) + (f" and {len(shown) - 40} more" if len(shown) > 40 else "")


def _said(operation: Operation, path: str) -> str:
    """Where in the call and in the document a problem is."""
    first = _FIRST_STEP.match(path)
    return said(operation, first[0], path) if first else f"{operation.name} ({place_of(operation)})"


def _originals(operation: Operation) -> dict[str, str]:
    """What the document calls each argument, where only one is called that."""
    found: dict[str, str | None] = {}
    for argument, name in _named(operation):
        found[name] = None if name in found else argument
    return {name: argument for name, argument in found.items() if argument is not None}


def _places(operation: Operation, name: str) -> list[str]:
    """All arguments that the document calls so."""
    return [argument for argument, original in _named(operation) if original == name]


def _named(operation: Operation) -> list[tuple[str, str]]:
    """Each argument, and what the document calls it."""
    body = operation.body.fields.items() if operation.body else ()
    return [*((item.argument, item.name) for item in operation.parameters), *body]
