"""The documented JSON rules, one by one and by property."""

from __future__ import annotations

import base64
import datetime as dt
import enum
import json
import math
import uuid
from collections import deque
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter

from isolith.json_form import NoJsonForm, to_json_form, to_json_text


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    at: dt.date


class Contact(BaseModel):
    name: str
    joined: dt.date


UTC = dt.UTC


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (True, True),
        (1, 1),
        (1.5, 1.5),
        ("é", "é"),
        ([1, [2]], [1, [2]]),
        ({"a": {"b": 1}}, {"a": {"b": 1}}),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**60, 2**60),
        (2**5000, hex(2**5000)),
        (-(2**5000), hex(-(2**5000))),
        (complex(1, math.inf), {"real": 1.0, "imag": "Infinity"}),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 600, UTC), "2026-01-02T03:04:05.000600+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(0), "PT0S"),
        (dt.timedelta(days=2), "P2D"),
        (dt.timedelta(1, 7384, 500_000), "P1DT2H3M4.5S"),
        (dt.timedelta(seconds=-1), "-PT1S"),
        (Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        ((1, "a"), [1, "a"]),
        (deque([1]), [1]),
        (range(3), [0, 1, 2]),
        ({3, 10, 2.5}, [2.5, 3, 10]),
        ({"b", "a", 2, None}, [2, "a", "b", None]),
        (frozenset({(2, 1), (1, 2)}), [[1, 2], [2, 1]]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Point(1, dt.date(2026, 1, 2)), {"x": 1, "at": "2026-01-02"}),
        (Contact(name="Ann", joined=dt.date(2026, 1, 2)), {"name": "Ann", "joined": "2026-01-02"}),
        (
            {1: "a", None: "b", 1.5: "d", (1, "x"): "e", dt.date(2026, 1, 2): "f"},
            {"1": "a", "null": "b", "1.5": "d", '[1,"x"]': "e", "2026-01-02": "f"},
        ),
        ({True: 1, False: 2}, {"true": 1, "false": 2}),
        ({1: "a", "1": "b"}, [[1, "a"], ["1", "b"]]),
    ],
)
def test_each_rule(value: object, form: object) -> None:
    assert to_json_form(value) == form
    json.loads(to_json_text(value))


@pytest.mark.parametrize(("value", "form"), [(2**53 - 1, 2**53 - 1), (2**53, str(2**53)), (-(2**53), str(-(2**53)))])
def test_safe_integers_are_text_only_past_what_javascript_keeps(value: int, form: object) -> None:
    assert to_json_form([value], safe_integers=True) == [form]
    assert to_json_form([value]) == [value]


@given(st.timedeltas())
def test_a_duration_is_read_back_by_pydantic(value: dt.timedelta) -> None:
    assert TypeAdapter(dt.timedelta).validate_json(to_json_text(value)) == value


@given(st.integers())
def test_integers_survive(value: int) -> None:
    assert json.loads(to_json_text(value)) == value


@given(st.binary())
def test_bytes_survive(value: bytes) -> None:
    form = to_json_form(value)
    assert isinstance(form, str)
    assert base64.b64decode(form) == value


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.datetimes()
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.uuids()
    | st.complex_numbers()
)
HASHABLE = SCALARS.filter(lambda value: not (isinstance(value, Decimal) and value.is_snan()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.sets(HASHABLE)
        | st.frozensets(HASHABLE)
        | st.dictionaries(HASHABLE, inner)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_any_data_has_a_form_that_is_json_and_the_same_twice(value: object) -> None:
    text = to_json_text(value)
    assert json.loads(text) == to_json_form(value)
    assert to_json_text(value) == text


@given(st.data())
def test_a_set_is_written_in_one_order(data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers() | st.text() | st.dates()))
    assert to_json_form(set(values)) == to_json_form(set(data.draw(st.permutations(values))))


def test_lone_surrogates_stay_writable() -> None:
    text = to_json_text("é\ud800")
    assert text == '"é\\ud800"'
    assert json.loads(text.encode()) == "é\ud800"


def test_what_has_no_form_is_named_by_its_path() -> None:
    with pytest.raises(NoJsonForm) as caught:
        to_json_form({"rows": [1, {"handle": object()}]})
    assert str(caught.value) == (
        "the value at $.rows[1].handle is a object, which has no JSON form: make it a dict, a list or text"
    )
