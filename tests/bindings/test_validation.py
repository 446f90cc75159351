"""Arguments and results: what passes, and what is said of what does not."""

import datetime as dt
import decimal
import enum
import itertools
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator, model_serializer

from isolith_bindings import validation
from isolith_bindings.errors import CallError
from isolith_bindings.signature import read_signature
from isolith_bindings.validation import check_arguments, check_result


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Email(BaseModel):
    address: str
    tags: list[int] = []


class Contact(BaseModel):
    id: int
    emails: list[Email]

    @field_validator("id")
    @classmethod
    def is_odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("ids are odd")
        return value


@dataclass
class Point:
    x: int
    y: int = 0


def list_contacts(limit: int = 10, offset: int = 0) -> None:
    raise NotImplementedError


def get(id: int, verbose: bool = False) -> None:  # noqa: A002 - a name like any other
    raise NotImplementedError


def save(contact: Contact) -> None:
    raise NotImplementedError


def mixed(  # noqa: PLR0913, PLR0917 - each a kind of its own
    when: dt.datetime | None = None,
    level: Level = Level.LOW,
    either: int | list[str] = 0,
    number: Annotated[int, Field(ge=1, le=9)] = 1,
    text: str = "",
    point: Point | None = None,
    state: Literal["open", "closed"] = "open",
) -> None:
    raise NotImplementedError


def nothing() -> None:
    raise NotImplementedError


def others(a: int, **others: int) -> None:
    raise NotImplementedError


def checked(function: Callable[..., object], **arguments: object) -> dict[str, object]:
    return check_arguments("crm.f", read_signature(function, "crm.f"), arguments)


def refused(function: Callable[..., object], **arguments: object) -> str:
    with pytest.raises(CallError) as caught:
        checked(function, **arguments)
    assert caught.value.kind == "invalid_arguments"
    return str(caught.value)


def test_arguments_become_what_the_function_takes() -> None:
    given_values = checked(mixed, when="2026-01-02T03:04:05Z", level="high", either=["a"], point={"x": "1"})
    assert given_values == {
        "when": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        "level": Level.HIGH,
        "either": ["a"],
        "point": Point(1),
    }


def test_what_is_not_given_is_left_to_the_function() -> None:
    assert checked(list_contacts) == {}


def test_an_unknown_argument() -> None:
    assert refused(list_contacts, limt=3) == (
        "crm.f has no argument `limt`; did you mean `limit`? It takes: limit, offset"
    )
    assert refused(list_contacts, zzz=3) == "crm.f has no argument `zzz`. It takes: limit, offset"
    assert refused(nothing, zzz=3) == "crm.f has no argument `zzz`. It takes no arguments"


def test_a_missing_argument() -> None:
    assert refused(get) == "crm.f: `id` is missing. It takes: id, verbose"


def test_the_signature_is_the_hint() -> None:
    with pytest.raises(CallError) as caught:
        checked(get)
    assert caught.value.hint == "crm.f(*, id: int, verbose: bool = False) -> None"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"number": "x"}, "`number`: expected a valid integer, was given 'x' (str)"),
        ({"number": None}, "`number`: expected a valid integer, was given None"),
        ({"number": 0}, "`number`: expected something greater than or equal to 1, was given 0 (int)"),
        ({"number": 10}, "`number`: expected something less than or equal to 9, was given 10 (int)"),
        ({"text": 3}, "`text`: expected a valid string, was given 3 (int)"),
        ({"when": "today"}, "`when`: expected a valid datetime or date, was given 'today' (str)"),
        ({"level": "mid"}, "`level`: expected 'low' or 'high', was given 'mid' (str)"),
        ({"state": "ajar"}, "`state`: expected 'open' or 'closed', was given 'ajar' (str)"),
        ({"either": {}}, "`either`: expected a valid integer or a valid list, was given {} (dict)"),
        ({"point": {}}, "`point.x` is missing"),
        ({"point": {"x": 1, "y": "q"}}, "`point.y`: expected a valid integer, was given 'q' (str)"),
    ],
)
def test_a_wrong_argument(arguments: dict[str, object], message: str) -> None:
    assert refused(mixed, **arguments) == (
        f"crm.f: {message}. It takes: when, level, either, number, text, point, state"
    )


@pytest.mark.parametrize("value", [1, 9])
def test_the_ends_of_a_range_are_in_it(value: int) -> None:
    assert checked(mixed, number=value) == {"number": value}


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        ({"id": 2, "emails": list[object]()}, "`contact.id`: ids are odd, was given 2 (int)"),
        (
            {"id": 1, "emails": [{"address": "a"}, {"address": 5}]},
            "`contact.emails[1].address`: expected a valid string",
        ),
        ({"id": 1, "emails": [dict[str, object]()]}, "`contact.emails[0].address` is missing"),
        ({"id": 1, "emails": {"a": 1}}, "`contact.emails`: expected a valid list, was given {'a': 1} (dict)"),
        ("x", "`contact`: expected a valid dictionary or instance of Contact, was given 'x' (str)"),
    ],
)
def test_a_wrong_part_is_named_by_its_path(contact: object, message: str) -> None:
    assert refused(save, contact=contact).startswith(f"crm.f: {message}")


def test_what_was_given_is_shown_short() -> None:
    assert len(refused(mixed, number="x" * 1_000_000)) < 250


def test_only_the_first_problems_are_listed() -> None:
    emails: list[object] = [{"address": n} for n in range(4)]
    assert refused(save, contact={"id": 1, "emails": emails[:3]}).count("expected") == 3
    assert "; and 1 more. It takes: contact" in refused(save, contact={"id": 1, "emails": emails})


def test_thousands_of_problems_are_counted_and_not_told_apart() -> None:
    """A script of one line had the host write two hundred thousand sentences, for seconds, of which three were shown."""
    emails: list[object] = [{"address": n} for n in range(3000)]
    message = refused(save, contact={"id": 1, "emails": emails})
    assert message == "crm.f: `contact` is wrong in 3,000 places: expected `Contact`. It takes: contact"


def test_a_number_that_python_does_not_write_is_shown_by_its_size() -> None:
    assert refused(mixed, text=1 << 40_000).startswith(
        "crm.f: `text`: expected a valid string, was given <int of 40,001 bits> (int)"
    )


def test_further_arguments() -> None:
    assert checked(others, a=1, b="2") == {"a": 1, "b": 2}
    assert refused(others, a=1, b="x") == (
        "crm.f: `b`: expected a valid integer, was given 'x' (str). It takes: a, others by any name"
    )


def test_a_validator_that_breaks_is_no_bug_of_ours() -> None:
    class Odd(BaseModel):
        @field_validator("*")
        @classmethod
        def check(cls, _value: object) -> object:
            raise RuntimeError("broken")

        a: int = 0

    def f(odd: Odd) -> None:
        raise NotImplementedError

    assert refused(f, odd={"a": 1}) == "crm.f: `odd`: broken. It takes: odd"


# ---------------------------------------------------------------------------------------------- results


def answered(hint: object, value: object) -> object:
    def f() -> None:
        raise NotImplementedError

    f.__annotations__ = {} if hint is ... else {"return": hint}
    return check_result("crm.f", read_signature(f, "crm.f").result, value)


NOW = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.datetimes()
    | st.dates()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.sampled_from(Level),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=10,
)


@given(PLAIN)
def test_without_a_hint_a_result_stays_what_it_is(value: object) -> None:
    result = answered(..., value)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("hint", "value", "result"),
    [
        (..., Contact(id=1, emails=[Email(address="a")]), {"id": 1, "emails": [{"address": "a", "tags": list[int]()}]}),
        (..., [Point(1)], [{"x": 1, "y": 0}]),
        (..., {"when": NOW, "ids": {uuid.UUID(int=1)}}, {"when": NOW, "ids": {uuid.UUID(int=1)}}),
        (..., float("inf"), float("inf")),
        (..., 10**100, 10**100),
        (list[Point], [{"x": "1"}], [{"x": 1, "y": 0}]),
        (dt.datetime, "2026-01-02T00:00:00Z", NOW),
        (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
        (Iterable[int], [1, 2], [1, 2]),
        (Iterable[int], (n for n in range(2)), [0, 1]),
        (..., (n for n in range(2)), [0, 1]),
        (None, None, None),
        (Level, "high", Level.HIGH),
    ],
)
def test_results_are_data_with_their_types(hint: object, value: object, result: object) -> None:
    found = answered(hint, value)
    assert found == result
    assert type(found) is type(result)


def test_a_wrong_result_keeps_the_data() -> None:
    with pytest.raises(CallError) as caught:
        answered(list[Point], [Point(1), {"y": "q"}])
    error = caught.value
    assert error.kind == "invalid_result"
    assert str(error) == (
        "crm.f did not give `list[Point]`: `result[1].x` is missing; "
        "`result[1].y`: expected a valid integer, was given 'q' (str)"
    )
    assert error.data == [{"x": 1, "y": 0}, {"y": "q"}]
    assert error.hint == "the call was made; what it gave is in the error's `data`"
    assert not error.retriable


class Unreadable(BaseModel):
    @model_serializer
    def dump(self) -> dict[str, object]:
        raise RuntimeError("no")


def test_a_result_that_cannot_be_read_is_invalid() -> None:
    with pytest.raises(CallError, match=r"crm\.f gave a result that could not be read: .*no") as caught:
        answered(..., Unreadable())
    assert caught.value.kind == "invalid_result"
    assert caught.value.data is None


@pytest.mark.parametrize("hint", [..., Iterable[int]])
def test_an_iterator_is_listed_up_to_a_limit(hint: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "MAX_ITERATED", 3)
    assert answered(hint, itertools.islice(itertools.count(), 3)) == [0, 1, 2]
    for more in (itertools.islice(itertools.count(), 4), itertools.count()):
        with pytest.raises(CallError, match="it is an iterator of more than 3 items") as caught:
            answered(hint, more)
        assert caught.value.kind == "invalid_result"


def test_an_iterator_without_an_end_is_given_up() -> None:
    with pytest.raises(CallError, match="it is an iterator of more than 1,000,000 items"):
        answered(..., itertools.count())
