"""What a rule may ask of the arguments of a call. It holds (True), it does not (False), or nobody can tell (None).

Arguments are judged as the script wrote them, before the connector reads them. A connector may take the text `"5"` for
the number 5, or fill in a default of its own, so what is of another type than the rule names, and what a rule excludes
while it is not given, cannot be told. A policy then takes the stricter of both branches.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import SchemaError, SchemaValidator, core_schema

from isolith_bindings.names import fold

Truth = bool | None
"""True: it holds. False: it does not. None: nobody can tell."""

ABSENT: Final = object()
"""The value of what is not there."""
UNCLEAR: Final = object()
"""The value of what is given twice, or lies within something that is no mapping."""

MAX_ARGUMENTS: Final = 500
"""Where a call has more, none of them is looked for: a call by hand has a few."""

MAX_ITEMS: Final = 10_000
"""Of a list; those behind cannot be told. Each takes ten microseconds, and a script writes a million of them."""


def _usable(pattern: str) -> str:
    _matcher(pattern)
    return pattern


Pattern = Annotated[str, Field(max_length=1000), AfterValidator(_usable)]
Bound = int | float | str


class Condition(BaseModel):
    """What one argument has to be; everything that is given here has to hold.

    Numbers compare with numbers, and text with text by code points, which orders dates in ISO 8601. `matches` is a
    regular expression for the whole text, without look-around, in linear time. `null` equals `null` alone. Of what is
    not given, nothing holds but `present = false`; what is excluded (`not_...`) cannot be told of it.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True, populate_by_name=True
    )

    present: bool | None = None
    """Whether the call gives it, be it as null."""
    equals: object = None
    not_equals: object = None
    one_of: Annotated[tuple[object, ...] | None, Field(alias="in", strict=False)] = None
    not_in: Annotated[tuple[object, ...] | None, Field(strict=False)] = None
    matches: Pattern | None = None
    not_matches: Pattern | None = None
    less_than: Bound | None = None
    at_most: Bound | None = None
    more_than: Bound | None = None
    at_least: Bound | None = None
    every: Condition | None = None
    """What each item of a list has to be; holds for an empty one."""
    some: Condition | None = None
    """What one item of a list has to be at least."""

    @model_validator(mode="after")
    def _says_something(self) -> Condition:
        if not self.model_fields_set:
            raise ValueError("it asks for nothing: give it `equals`, `in`, `matches`, `less_than`, `present`, ...")
        for name in self.model_fields_set - {"equals", "not_equals"}:
            if getattr(self, name) is None:
                raise ValueError(f"`{name}` of null asks for nothing")
        return self

    def holds(self, value: object, *, given: bool = True) -> Truth:
        """Whether `value` is what is asked for; `given` is False where the call says nothing and this is a default."""
        return all_hold(self._check(name, value, given) for name in sorted(self.model_fields_set))

    def _check(self, name: str, value: object, given: bool) -> Truth:  # noqa: FBT001 - private
        operand: object = getattr(self, name)
        if name == "present":
            return operand is (given and value is not ABSENT)
        if value is UNCLEAR:
            return None
        if name.startswith("not_"):
            return None if value is ABSENT else negate(_POSITIVE[name](value, operand))
        return False if value is ABSENT else _POSITIVE[name](value, operand)


# ---------------------------------------------------------------------------------------------- three answers


def all_hold(answers: Iterable[Truth]) -> Truth:
    """True if all hold, False if one does not, else None."""
    found = set(answers)
    return False if False in found else None if None in found else True


def one_holds(answers: Iterable[Truth]) -> Truth:
    """True if one holds, False if none does, else None."""
    found = set(answers)
    return True if True in found else None if None in found else False


def negate(answer: Truth) -> Truth:
    """What cannot be told stays so."""
    return None if answer is None else not answer


# ---------------------------------------------------------------------------------------------- what is judged


def find(arguments: Mapping[str, object], path: str, parameters: Mapping[str, object]) -> tuple[object, bool]:
    """What a path leads to, and whether the call gives it: `amount`, `filter.owner`, or as a JSON pointer `/a.b/c`.

    The first part is found by every spelling that a script may use. Where it is not given, the default that
    `parameters`, a JSON Schema, declares for it stands in. ABSENT where there is nothing; UNCLEAR where two are given.
    """
    first, *rest = parts_of(path)
    value = _spelt(arguments, first)
    given = value is not ABSENT
    if not given:
        value = _default(parameters, first)
    for part in rest:
        if value is ABSENT or value is UNCLEAR:
            break
        value = _inside(value, part)
    return value, given


def parts_of(path: str) -> list[str]:
    """The steps of a path: `filter.owner`, or as a JSON pointer `/a.b/c`. The first names an argument."""
    if not path.startswith("/"):
        return path.split(".")
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _spelt(values: Mapping[str, object], name: str) -> object:
    if len(values) > MAX_ARGUMENTS:
        return UNCLEAR
    alike = [key for key in values if key == name or fold(key) == fold(name) != ""]
    return ABSENT if not alike else values[alike[0]] if len(alike) == 1 else UNCLEAR


def _default(parameters: Mapping[str, object], name: str) -> object:
    declared = parameters.get("properties")
    found = _spelt(cast("Mapping[str, object]", declared), name) if isinstance(declared, Mapping) else ABSENT
    return cast("Mapping[str, object]", found).get("default", ABSENT) if isinstance(found, Mapping) else ABSENT


def _inside(value: object, part: str) -> object:
    if value is None:
        return ABSENT
    return cast("Mapping[str, object]", value).get(part, ABSENT) if isinstance(value, Mapping) else UNCLEAR


# ---------------------------------------------------------------------------------------------- comparing


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "bool"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list | tuple) else "mapping" if isinstance(value, Mapping) else "other"


def _equal(value: object, operand: object) -> Truth:
    """Recursion goes as deep as the rule does, however deep the argument is."""
    kind = _kind(operand)
    if value is None or operand is None:
        return value is operand
    if _kind(value) != kind:
        return None
    if kind == "list":
        given, wanted = cast("Sequence[object]", value), cast("Sequence[object]", operand)
        return len(given) == len(wanted) and all_hold(map(_equal, given, wanted))
    if kind == "mapping":
        return _equal_mappings(cast("Mapping[object, object]", value), cast("Mapping[object, object]", operand))
    return _compared(lambda: value == operand)


def _equal_mappings(value: Mapping[object, object], operand: Mapping[object, object]) -> Truth:
    return value.keys() == operand.keys() and all_hold(_equal(value[key], operand[key]) for key in operand)


def _one_of(value: object, operands: object) -> Truth:
    return one_holds(_equal(value, operand) for operand in cast("Sequence[object]", operands))


def _matches(value: object, pattern: object) -> Truth:
    if not isinstance(value, str):
        return False if value is None else None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return _matcher(str(pattern)).isinstance_python(value)


def _ordered(compare: Callable[[Any, Any], bool], value: object, bound: object) -> Truth:
    if value is None or _kind(value) != _kind(bound):
        return False if value is None else None
    return _compared(lambda: None if value != value else compare(value, bound))  # noqa: PLR0124 - NaN


def _compared(compare: Callable[[], Truth]) -> Truth:
    try:
        return compare()
    except (ArithmeticError, TypeError):  # a signalling NaN of `decimal`; times with and without a zone
        return None


def _each(value: object, operand: object) -> list[Truth] | None:
    if not isinstance(value, list | tuple | set | frozenset):
        return [False] if value is None else None
    items = cast("Collection[object]", value)
    answers: list[Truth] = [cast("Condition", operand).holds(item) for item in itertools.islice(items, MAX_ITEMS)]
    return [*answers, None] if len(items) > MAX_ITEMS else answers


def _every(value: object, operand: object) -> Truth:
    answers = _each(value, operand)
    return None if answers is None else all_hold(answers)


def _some(value: object, operand: object) -> Truth:
    answers = _each(value, operand)
    return None if answers is None else one_holds(answers)


_POSITIVE: Final[Mapping[str, Callable[[object, object], Truth]]] = {
    "equals": _equal,
    "not_equals": _equal,
    "one_of": _one_of,
    "not_in": _one_of,
    "matches": _matches,
    "not_matches": _matches,
    "less_than": functools.partial(_ordered, operator.lt),
    "at_most": functools.partial(_ordered, operator.le),
    "more_than": functools.partial(_ordered, operator.gt),
    "at_least": functools.partial(_ordered, operator.ge),
    "every": _every,
    "some": _some,
}
"""Each with the answer to what it asks without its `not_`."""


@functools.lru_cache(maxsize=1000)
def _matcher(pattern: str) -> SchemaValidator:
    """Rust's engine: linear in the text, which a script chooses. Raises ValueError for what is no pattern of its."""
    try:
        for text in (pattern, rf"\A(?:{pattern})\z"):  # alone first: `a)|(b` is only whole between our brackets
            matcher = SchemaValidator(core_schema.str_schema(pattern=text, regex_engine="rust-regex", strict=True))
    except SchemaError as error:
        raise ValueError(f"{pattern!r} is no regular expression: {str(error).splitlines()[-1]}") from error
    return matcher
