"""What a value has to be: a type of the caller's, and for whoever goes on with the run elsewhere its JSON Schema.

The process that was given the type validates with it, and the outcome's value is what the type makes of the script's.
Another one has the schema alone, from the journal: it checks the value in its JSON form, and leaves it as it is. So a
value that only a type's leniency would take ("3" for an int) is taken by the first and refused by the second.
"""

from __future__ import annotations

import collections
import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from isolith.errors import UsageError
from isolith.json_form import to_json_form
from isolith_bindings import early_end
from isolith_bindings.schema.validate import Problem, Validator

if TYPE_CHECKING:
    from collections.abc import Callable

    Validate = Callable[[object], object]

MAX_SCHEMA: Final = 256 * 1024
"""Characters of a schema that is kept with its run."""
_REMEMBERED: Final = 1_000
"""Runs whose type this process remembers; of older ones that still wait it has the schema."""


class Mismatch(ValueError):
    """The value is not what the schema says."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True)
class Wanted:
    """What a run's value has to be: how it is validated here, and as what it is kept."""

    validate: Validate | None = None
    schema: str | None = None


class ResultTypes:
    """The types of the runs of one process, by execution."""

    def __init__(self) -> None:
        self._known: collections.OrderedDict[str, Validate] = collections.OrderedDict()

    def wanted(self, result_type: object, *, may_wait: bool, elsewhere: bool) -> Wanted:
        """What a caller's type comes to; `elsewhere`: another process may go on with the run.

        Raises UsageError for a type that cannot be kept where it has to be.
        """
        if result_type is None:
            return Wanted()
        schema = _schema_of(result_type, needed=elsewhere) if may_wait else None
        adapter: TypeAdapter[object] = TypeAdapter(cast("Any", result_type))
        return Wanted(functools.partial(early_end.validate, adapter), schema)

    def remember(self, execution_id: str, validate: Validate | None) -> None:
        """The type of a run that may go on later."""
        if validate is not None:
            self._known[execution_id] = validate
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def of(self, execution_id: str, schema: str | None) -> Validate | None:
        """How the value of a run that goes on is validated."""
        known = self._known.get(execution_id)
        return known if known is not None or schema is None else by_schema(schema)


def by_schema(text: str) -> Validate:
    """Checks against a JSON Schema; what it gives is the value itself. Raises Mismatch."""
    validator = Validator(cast("dict[str, object]", json.loads(text)))

    def validate(value: object) -> object:
        problems = validator.problems(to_json_form(value))
        if problems:
            raise Mismatch(list(problems))
        return value

    return validate


def _schema_of(result_type: object, *, needed: bool) -> str | None:
    """The type as a JSON Schema. Where it has none: UsageError if it is `needed`, else None."""
    try:
        adapter: TypeAdapter[object] = TypeAdapter(cast("Any", result_type))
        text = json.dumps(adapter.json_schema())
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        if not needed:
            return None
        raise UsageError(
            f"`result_type` has no JSON Schema ({str(error).splitlines()[0]}), and this run is kept in a journal, so "
            "that it may go on where there is no such type: give a type that has one, or validate the outcome's value"
        ) from error
    if len(text) <= MAX_SCHEMA:
        return text
    if needed:
        message = f"the JSON Schema of `result_type` is larger than {MAX_SCHEMA:,} characters: give a smaller type"
        raise UsageError(message)
    return None
