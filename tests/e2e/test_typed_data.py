"""Data keeps its type on all three ways: as an argument, as a result, as the value; and `result_type` validates it."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, HttpUrl

from isolith import CodeMode, connector
from isolith_bindings.functions import as_connector

if TYPE_CHECKING:
    from isolith import Outcome


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
HASHABLE_ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**60, max_value=2**300)
    | st.floats(allow_nan=False)
    | TEXT
    | st.binary(max_size=20)
    | st.datetimes(timezones=st.none() | OFFSETS)
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.uuids()
    | st.complex_numbers(allow_nan=False)
)
ATOMS = HASHABLE_ATOMS | st.just(math.nan)
# Not in sets and keys: NaN equals nothing, itself from another place included.
HASHABLE = HASHABLE_ATOMS | st.tuples(HASHABLE_ATOMS, HASHABLE_ATOMS) | st.frozensets(HASHABLE_ATOMS, max_size=3)
DATA = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(TEXT, inner, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$int", "$tuple", "$", "a"]), inner)
        | st.sets(HASHABLE, max_size=3)
    ),
    max_leaves=12,
)


def same(one: object, other: object) -> bool:
    """Equal, of the same types all through, and NaN is NaN. `fold`, which no equality sees, has no data form."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(map(same, one.items(), other.items()))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (set, frozenset)) and isinstance(other, (set, frozenset)):
        return one == other and sorted(map(_type_name, one)) == sorted(map(_type_name, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return one == other


def _type_name(value: object) -> str:
    return type(value).__name__


@given(DATA)
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
def test_data_keeps_its_type_as_argument_result_and_value(value: object) -> None:
    echo = _Keeping()
    outcome = CodeMode([echo]).execute_sync("keeping.give(value=input)", input=value)
    assert outcome.error is None
    [got] = echo.got
    assert same(got, value)
    assert same(outcome.value, value)


@connector("keeping")
class _Keeping:
    def __init__(self) -> None:
        self.got: list[object] = []

    async def give(self, value: object) -> object:
        self.got.append(value)
        return value


@given(st.lists(DATA, max_size=3))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
def test_data_keeps_its_type_through_what_a_script_does_with_it(values: list[object]) -> None:
    outcome = CodeMode().execute_sync("[{'item': item, 'pair': (item, [item])} for item in input]", input=values)
    assert same(outcome.value, [{"item": value, "pair": (value, [value])} for value in values])


@connector("bank")
class Bank:
    """Typed on both sides."""

    async def transfer(self, amount: Decimal, on: dt.date, key: uuid.UUID) -> dict[str, object]:
        """Types as they arrive."""
        return {"types": [type(item).__name__ for item in (amount, on, key)], "amount": amount, "on": on, "key": key}

    async def account(self) -> Account:
        """A model as a result."""
        return Account(id=1, balance=Decimal("1.10"), opened=dt.datetime(2026, 1, 2, tzinfo=dt.UTC))

    async def position(self) -> Position:
        """A dataclass as a result."""
        return Position(1, (2, 3))


class Account(BaseModel):
    id: Annotated[int, Field(gt=0)]
    balance: Decimal
    opened: dt.datetime


@dataclass
class Position:
    x: int
    rest: tuple[int, int]


BANK = CodeMode([Bank])


def test_arguments_arrive_as_their_annotations_say() -> None:
    script = """
import datetime, decimal, uuid
typed = bank.transfer(amount=decimal.Decimal("1.10"), on=datetime.date(2026, 1, 2), key=uuid.UUID(int=1))
plain = bank.transfer(amount="1.10", on="2026-01-02", key="00000000-0000-0000-0000-000000000001")
typed if typed == plain else [typed, plain]
"""
    outcome = BANK.execute_sync(script)
    assert outcome.value == {
        "types": ["Decimal", "date", "UUID"],
        "amount": Decimal("1.10"),
        "on": dt.date(2026, 1, 2),
        "key": uuid.UUID(int=1),
    }


def test_models_and_dataclasses_arrive_as_mappings_with_typed_fields() -> None:
    outcome = BANK.execute_sync(
        "account = bank.account()\n[account['balance'] * 2, account['opened'].year, bank.position()]"
    )
    assert outcome.value == [Decimal("2.20"), 2026, {"x": 1, "rest": (2, 3)}]


# what the caller asked for


class Site(BaseModel):
    address: HttpUrl
    folder: PurePosixPath
    fee: Decimal


def site() -> Site:
    return Site(address=HttpUrl("http://a.b/c"), folder=PurePosixPath("/srv"), fee=Decimal("1.10"))


def test_what_a_model_says_in_text_arrives_as_text() -> None:
    outcome = CodeMode([as_connector([site], "web")]).execute_sync("web.site()")
    assert outcome.value == {"address": "http://a.b/c", "folder": "/srv", "fee": Decimal("1.10")}


def test_a_result_type_makes_the_value_one_of_it() -> None:
    outcome = BANK.execute_sync("bank.account()", result_type=Account)
    assert outcome.value == Account(id=1, balance=Decimal("1.10"), opened=dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    assert outcome.value_type == "dict[str, int | Decimal | datetime]"


@pytest.mark.parametrize(
    ("script", "result_type", "value"),
    [
        ("'5'", int, 5),
        ("[1, 2]", tuple[int, int], (1, 2)),
        ("{'a': 1}", dict[str, float], {"a": 1.0}),
        ("None", object, None),
    ],
)
def test_a_result_type_converts_what_it_can(script: str, result_type: object, value: object) -> None:
    outcome = BANK.execute_sync(script, result_type=result_type)
    assert same(outcome.value, value)


def test_a_value_of_another_type_is_an_invalid_result_at_the_last_line() -> None:
    outcome = BANK.execute_sync("rows = [1, 2, 'x', 'y']\nrows", result_type=list[int])
    assert _error(outcome) == (
        "failed",
        "invalid_result",
        "the value is not what was asked for: at value[2]: Input should be a valid integer, "
        "unable to parse string as an integer (and 1 more)",
        2,
        "rows",
    )
    assert outcome.value is None


def test_a_typed_value_is_given_whole_however_large() -> None:
    outcome = BANK.execute_sync("list(range(30_000))", result_type=list[int])
    assert outcome.value == list(range(30_000))
    assert not outcome.truncated


@pytest.mark.parametrize(
    "script",
    [
        "{n * (2**61 - 1) for n in range(65)}",
        "import itertools\n{point: 0 for point in itertools.product([-1, -2], repeat=7)}",
        "from decimal import Decimal\nawait keeping.give(value=[{Decimal(n * (2**61 - 1)) for n in range(9)}])",
        "emit(frozenset(n * (2**61 - 1) for n in range(65)))\n1",
    ],
)
def test_keys_that_are_slow_to_compare_are_told_as_what_they_are(script: str) -> None:
    error = CodeMode([_Keeping]).execute_sync(script).error
    assert error is not None
    assert (error.kind, error.message, error.hint) == (
        "exception",
        "a set or a dict has too many keys of one hash, so it cannot leave the script",
        "leave a list in its place: list(...)",
    )


def _error(outcome: Outcome) -> tuple[object, ...]:
    error = outcome.error
    assert error is not None
    return outcome.status, error.kind, error.message, error.line, error.source_line
