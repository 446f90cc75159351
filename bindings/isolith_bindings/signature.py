"""The signature of a Python function, read once: what it takes and gives, as validators, JSON Schema and text."""

from __future__ import annotations

import contextlib
import inspect
import typing
from dataclasses import dataclass
from typing import Annotated, Any, Never, NoReturn, get_args

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUndefinedAnnotation, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode
from pydantic_core import PydanticSerializationError, to_jsonable_python

from isolith_bindings.connector import CallContext, JsonSchema
from isolith_bindings.errors import BindError
from isolith_bindings.rendering import NO_DEFAULT, render_hint, render_signature

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_core.core_schema import DataclassField, DecimalSchema, ModelField, TypedDictField

_RESULT = "return"
_NOT_THERE = (
    "an annotation names something that does not exist when it runs: "
    "import it outside `if TYPE_CHECKING`, at the top of the module"
)


@dataclass(frozen=True)
class Slot:
    """One parameter, or the result: its hint (NO_DEFAULT if it has none) and what validates it."""

    name: str
    hint: object
    adapter: TypeAdapter[object]
    default: object = NO_DEFAULT

    @property
    def required(self) -> bool:
        """Whether a caller must give it."""
        return self.default is NO_DEFAULT


@dataclass(frozen=True)
class Signature:
    """What a function takes and gives. `others` validates further keyword arguments; None where it takes none.

    `contexts` are the parameters that receive the CallContext: no script sees them.
    """

    slots: Mapping[str, Slot]
    others: Slot | None
    contexts: tuple[str, ...]
    result: Slot
    parameters: JsonSchema
    returns: JsonSchema | None

    def text(self, name: str) -> str:
        """The signature as a model reads it, for a method of this name."""
        parameters = ((slot.name, slot.hint, slot.default) for slot in self.slots.values())
        others = None if self.others is None else self.others.hint
        return render_signature(name, parameters, others, self.result.hint)


def read_signature(function: Callable[..., object], where: str, *, skip_first: bool = False) -> Signature:
    """Read a function, without `self` if `skip_first`. Raises BindError, naming `where`, if no script could call it."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise BindError(f"{where} yields its results: return a list instead")
    parameters, hints = _inspect(function, where)
    slots: dict[str, Slot] = {}
    others: Slot | None = None
    contexts: list[str] = []
    for parameter in parameters[1:] if skip_first else parameters:
        _refuse_positional(parameter, where)
        hint = hints.get(parameter.name, NO_DEFAULT)
        if _is_context(hint):
            contexts.append(parameter.name)
        elif parameter.kind is parameter.VAR_KEYWORD:
            others = _slot(parameter.name, hint, NO_DEFAULT, where)
        else:
            slots[parameter.name] = _parameter_slot(parameter, hint, where)
    result = _slot(_RESULT, hints.get(_RESULT, NO_DEFAULT), NO_DEFAULT, where)
    return Signature(slots, others, tuple(contexts), result, _parameters_schema(slots, others), _returns_schema(result))


def _inspect(function: Callable[..., object], where: str) -> tuple[list[inspect.Parameter], dict[str, object]]:
    target: Callable[..., object] = getattr(function, "func", function)  # of a functools.partial
    target = target if inspect.isroutine(target) else type(target).__call__
    try:
        hints: dict[str, object] = typing.get_type_hints(target, include_extras=True)
        return list(inspect.signature(function).parameters.values()), hints
    except NameError as error:
        raise BindError(f"{where}: {error}; {_NOT_THERE}") from error
    except (TypeError, ValueError) as error:
        raise BindError(f"{where} has no signature that can be read ({error}): wrap it in a function") from error


def _refuse_positional(parameter: inspect.Parameter, where: str) -> None:
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise BindError(
            f"{where} takes `{parameter.name}` by position only, and scripts give arguments by name: "
            "take the `/` out of its parameters"
        )
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise BindError(
            f"{where} takes `*{parameter.name}`, and scripts give arguments by name: "
            f"make it one parameter, `{parameter.name}: list`"
        )


def _is_context(hint: object) -> bool:
    """`CallContext`, also in `CallContext | None` or `Annotated`."""
    return hint is CallContext or any(_is_context(part) for part in get_args(hint) if part is not type(None))


def _parameter_slot(parameter: inspect.Parameter, hint: object, where: str) -> Slot:
    default: object = NO_DEFAULT if parameter.default is parameter.empty else parameter.default
    if isinstance(default, FieldInfo):
        # `limit: int = Field(10, ge=1)`: the constraints are part of the type, the default is what it says.
        hint = Annotated[_typed(hint), default]
        default = NO_DEFAULT if default.is_required() else default.get_default(call_default_factory=True)
    return _slot(parameter.name, hint, default, where)


def _slot(name: str, hint: object, default: object, where: str) -> Slot:
    try:
        adapter: TypeAdapter[object] = TypeAdapter(_typed(hint))
        slot = Slot(name, hint, adapter, default)
        _schemas([slot])
    except (PydanticUserError, PydanticUndefinedAnnotation, PydanticInvalidForJsonSchema) as error:
        raise _unfit(name, hint, where, error) from error
    return slot


def _typed(hint: Any) -> Any:  # noqa: ANN401 - pydantic learns at run time what type this is
    return Any if hint in (NO_DEFAULT, NoReturn, Never) else hint


def _unfit(name: str, hint: object, where: str, error: Exception) -> BindError:
    subject = "its result" if name == _RESULT else f"its parameter `{name}`"
    what = f"{where}: {subject} is annotated `{render_hint(hint)}`, "
    if getattr(error, "code", None) == "typed-dict-version":
        return BindError(what + "a `typing.TypedDict`: before Python 3.12, import TypedDict from `typing_extensions`")
    if getattr(error, "code", None) in {"class-not-fully-defined", "undefined-annotation"}:
        return BindError(what + f"which is not complete; {_NOT_THERE}")
    return BindError(
        what + "which has no data form that could cross to a script: "
        "use plain types, a dataclass or a pydantic model; a helper that is no tool begins with `_`"
    )


# ---------------------------------------------------------------------------------------------- JSON Schema


class _Schema(GenerateJsonSchema):
    """JSON Schema without invented titles, and quiet about defaults that JSON cannot hold: they are left out."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - declared so by the base

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - the base calls it
        return False

    def field_is_required(self, field: ModelField | DataclassField | TypedDictField, total: bool) -> bool:  # noqa: FBT001 - so the base declares it
        """What is dumped has each field of its model, those with a default, too."""
        if self.mode != "serialization" or field["type"] == "typed-dict-field":
            return super().field_is_required(field, total)
        return field.get("serialization_exclude_if") is None

    def decimal_schema(self, schema: DecimalSchema) -> dict[str, Any]:
        """A script is given a Decimal: its format says so, as that of a date does."""
        return (
            {"type": "string", "format": "decimal"} if self.mode == "serialization" else super().decimal_schema(schema)
        )


def _parameters_schema(slots: Mapping[str, Slot], others: Slot | None) -> JsonSchema:
    schemas, definitions = _schemas([*slots.values(), *([others] if others else [])])
    properties = {name: schemas[name] for name in slots}
    for name, slot in slots.items():
        if not slot.required:
            _add_default(properties[name], slot.default)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, slot in slots.items() if slot.required],
        "additionalProperties": schemas[others.name] or True if others else False,
        **definitions,
    }


def _returns_schema(result: Slot) -> JsonSchema | None:
    if result.hint is NO_DEFAULT:
        return None
    schemas, definitions = _schemas([result])
    return {**schemas[result.name], **definitions}


def _schemas(slots: Sequence[Slot]) -> tuple[dict[str, JsonSchema], JsonSchema]:
    """The schema of each slot by name, and the `$defs` that they share.

    A script writes what a validator reads, aliases included, and reads what `dump_python` writes: field names.
    """
    mode: JsonSchemaMode = "serialization" if [slot.name for slot in slots] == [_RESULT] else "validation"
    schemas, shared = TypeAdapter.json_schemas(
        [(slot.name, mode, slot.adapter) for slot in slots], by_alias=mode == "validation", schema_generator=_Schema
    )
    return {name: dict(schema) for (name, _), schema in schemas.items()}, shared


def _add_default(schema: JsonSchema, default: object) -> None:
    with contextlib.suppress(PydanticSerializationError, ValueError):
        schema["default"] = to_jsonable_python(default)
