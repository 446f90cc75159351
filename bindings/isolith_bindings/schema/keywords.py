"""The keywords of JSON Schema that look at one value by itself: its type, what it equals, its size, its text."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from isolith_bindings.names import did_you_mean
from isolith_bindings.rendering import one_of
from isolith_bindings.schema.quoting import one_line
from isolith_bindings.schema.values import given, is_type, key, plain, shown

if TYPE_CHECKING:
    from isolith_bindings.schema.evaluation import Evaluation

Schema = Mapping[str, object]
Check = Callable[["Evaluation", object, object, Schema], Iterator[str]]
"""(evaluation, what the keyword says, the value, the whole schema) to what is wrong, in plain words."""

_MAX_NAMED = 12


def _type(evaluation: Evaluation, types: object, value: object, schema: Schema) -> Iterator[str]:
    names = [types] if isinstance(types, str) else [str(name) for name in cast("Sequence[object]", types)]
    whole = evaluation.dialect.whole_floats
    fits = [is_type(plain(value), name, whole_floats=whole) for name in names]
    if any(fit is None for fit in fits):
        evaluation.unknown += 1
    elif not any(fits) and not (value is None and schema.get("nullable") is True):
        yield f"expected {' or '.join(names)}, was given {given(value)}"


def _enum(evaluation: Evaluation, values: object, value: object, schema: Schema) -> Iterator[str]:
    listed = cast("Sequence[object]", values)
    if key(value) in evaluation.keys_of(listed) or (value is None and schema.get("nullable") is True):
        return
    close = (
        did_you_mean(value, [one_line(name, 60) for name in listed if isinstance(name, str)])
        if isinstance(value, str)
        else ""
    )
    yield f"expected one of {one_of(map(shown, listed), _MAX_NAMED)}, was given {given(value)}" + (
        f"; {close}" if close else ""
    )


def _const(_run: Evaluation, expected: object, value: object, _schema: Schema) -> Iterator[str]:
    if key(value) != key(expected):
        yield f"expected {shown(expected)}, was given {given(value)}"


# ---------------------------------------------------------------------------------------------- numbers


def _minimum(_run: Evaluation, bound: object, value: object, schema: Schema) -> Iterator[str]:
    strict = schema.get("exclusiveMinimum") is True
    yield from _bounded(value, bound, "more than" if strict else "at least", lambda n, b: n > b if strict else n >= b)


def _maximum(_run: Evaluation, bound: object, value: object, schema: Schema) -> Iterator[str]:
    strict = schema.get("exclusiveMaximum") is True
    yield from _bounded(value, bound, "less than" if strict else "at most", lambda n, b: n < b if strict else n <= b)


def _exclusive_minimum(_run: Evaluation, bound: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _bounded(value, bound, "more than", lambda n, b: n > b)


def _exclusive_maximum(_run: Evaluation, bound: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _bounded(value, bound, "less than", lambda n, b: n < b)


def _bounded(value: object, bound: object, words: str, fits: Callable[[float, float], bool]) -> Iterator[str]:
    """A NaN fits no bound. A bound that is true or false belongs to the `minimum` of draft 4 beside it."""
    if _is_number(value) and _is_number(bound) and not fits(cast("float", value), cast("float", bound)):
        yield f"expected {words} {shown(bound)}, was given {given(value)}"


def _multiple_of(_run: Evaluation, step: object, value: object, _schema: Schema) -> Iterator[str]:
    exact, unit = _exact(value), _exact(step)
    if exact is not None and unit and exact % unit:
        yield f"expected a multiple of {shown(step)}, was given {given(value)}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def _exact(value: object) -> Fraction | None:
    """The number as it is written, so that 0.07 is seven times 0.01. None for what has none: text, infinity."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, float) and value == value and abs(value) != float("inf"):  # noqa: PLR0124 - NaN
        return Fraction(repr(value))
    # A Decimal of a few characters may have a billion digits.
    if isinstance(value, decimal.Decimal) and value.is_finite() and abs(value.adjusted()) < 1000:
        return Fraction(value)
    return None


# ---------------------------------------------------------------------------------------------- text


def _min_length(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    if isinstance(value, str) and len(value) < cast("int", limit):
        yield f"expected at least {_count(limit, 'character')}, was given {len(value):,}"


def _max_length(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    if isinstance(value, str) and len(value) > cast("int", limit):
        yield f"expected at most {_count(limit, 'character')}, was given {len(value):,}"


def _pattern(evaluation: Evaluation, expression: object, value: object, _schema: Schema) -> Iterator[str]:
    if isinstance(value, str) and evaluation.matches(cast("str", expression), value) is False:
        yield f"expected text that fits the pattern {one_line(str(expression), 100)}, was given {given(value)}"


# ---------------------------------------------------------------------------------------------- sizes


def _min_items(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _sized(value, "array", limit, "item", least=True)


def _max_items(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _sized(value, "array", limit, "item", least=False)


def _min_properties(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _sized(value, "object", limit, "key", least=True)


def _max_properties(_run: Evaluation, limit: object, value: object, _schema: Schema) -> Iterator[str]:
    yield from _sized(value, "object", limit, "key", least=False)


def _sized(value: object, kind: str, limit: object, thing: str, *, least: bool) -> Iterator[str]:
    if not is_type(value, kind):
        return
    size, bound = len(cast("Sequence[object]", value)), cast("int", limit)
    if size < bound if least else size > bound:
        yield f"expected at {'least' if least else 'most'} {_count(limit, thing)}, was given {size:,}"


def _unique_items(_run: Evaluation, wanted: object, value: object, _schema: Schema) -> Iterator[str]:
    if wanted is not True or not is_type(value, "array"):
        return
    seen: set[object] = set()
    for item in cast("Sequence[object]", value):
        if (mark := key(item)) in seen:
            yield f"expected no item twice, was given {shown(item)} again"
            return
        seen.add(mark)


def _count(limit: object, thing: str) -> str:
    return f"{shown(limit)} {thing}{'' if limit == 1 else 's'}"


ALONE: dict[str, Check] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple_of,
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "minItems": _min_items,
    "maxItems": _max_items,
    "minProperties": _min_properties,
    "maxProperties": _max_properties,
    "uniqueItems": _unique_items,
}
