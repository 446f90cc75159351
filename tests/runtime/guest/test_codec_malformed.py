"""Encoded data that no encoder of ours wrote: a value or `Malformed`, in bounded time, and nothing else."""

from __future__ import annotations

import contextlib
import decimal
import itertools
import json
import uuid
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Mapping

TAGS = [
    *("$int", "$float", "$complex", "$bytes", "$datetime", "$date", "$time", "$timedelta", "$decimal", "$uuid"),
    *("$tuple", "$set", "$frozenset", "$dict", "$nothing", "$"),
]
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["0xff", "nan", "1"])),
    lambda inner: st.one_of(
        st.lists(inner),
        st.dictionaries(st.text(), inner),
        st.builds(lambda tag, content: {tag: content}, st.sampled_from(TAGS), inner),
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_a_value_or_malformed(data: object) -> None:
    try:
        value = codec.loads(json.dumps(data))
    except codec.Malformed:
        return
    assert repr(codec.loads(codec.dumps(value))) == repr(value) or "\\ud" in json.dumps(data)


@given(st.binary())
def test_any_bytes_are_a_value_or_malformed(data: bytes) -> None:
    with contextlib.suppress(codec.Malformed):
        codec.loads(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[1] 2",
        "NaN",
        "[Infinity]",
        "[-Infinity]",
        '{"$unknown": 1}',
        '{"$int": 5}',
        '{"$int": "5 apples"}',
        '{"$int": {"$int": "0x5"}}',
        '{"$float": "1.5"}',
        '{"$float": ["nan"]}',
        '{"$complex": ["1", "2", "3"]}',
        '{"$complex": "12"}',
        '{"$bytes": "!"}',
        '{"$bytes": "YQ"}',
        '{"$datetime": "yesterday"}',
        '{"$datetime": 5}',
        '{"$date": "2026-13-01"}',
        '{"$time": null}',
        '{"$timedelta": [1, 2, 3, 4, 5, 6, 7, 8]}',
        '{"$timedelta": [1e300]}',
        '{"$timedelta": ["a"]}',
        '{"$decimal": "1,5"}',
        '{"$decimal": {"$int": "0xff"}}',
        '{"$uuid": 5}',
        '{"$uuid": {"a": 1}}',
        '{"$tuple": "ab"}',
        '{"$set": {"a": 1}}',
        '{"$set": [[1]]}',
        '{"$frozenset": [{}]}',
        '{"$dict": [1]}',
        '{"$dict": [[1], 2]}',
        '{"$dict": {"a": 1}}',
        b"\xff",
        "[" * 100_000,
        "1" * 5000,
    ],
)
def test_what_no_encoder_wrote_is_malformed(text: str | bytes) -> None:
    with pytest.raises(codec.Malformed):
        codec.loads(text)


def test_a_decimal_made_of_a_huge_int_takes_no_time() -> None:
    """It took hours: the conversion is quadratic. A decimal is text only."""
    with pytest.raises(codec.Malformed):
        codec.loads(f'{{"$decimal":{{"$int":"0x{"f" * 1_000_000}"}}}}')


HASH = 2**61 - 1
FLOODS: list[Mapping[str, object]] = [
    {"$set": [HASH * n for n in range(1, 500)]},
    {"$frozenset": [HASH * n for n in range(1, 500)]},
    {"$dict": [part for n in range(1, 500) for part in (HASH * n, 0)]},
    {"$set": [{"$tuple": [HASH * n]} for n in range(1, 500)]},
]


@pytest.mark.parametrize("flood", FLOODS)
def test_keys_that_share_a_hash_are_refused(flood: object) -> None:
    with pytest.raises(codec.Malformed, match="too many keys of one hash"):
        codec.loads(json.dumps(flood))


def slow(*keys: object) -> list[object]:
    """Of one hash, and each pair takes long to compare."""
    number = (1 << 100_000) - 1
    return [{"$decimal": str(hash(number))}, {"$int": hex(number)}, *keys]


@pytest.mark.parametrize(
    "flood",
    [
        {"$set": slow()},
        {"$frozenset": slow()},
        {"$dict": [part for key in slow() for part in (key, 0)]},
        {"$set": [{"$tuple": [1, key]} for key in slow()]},
        {"$set": [{"$frozenset": [key]} for key in slow()]},
        {"$set": [{"$decimal": str(HASH * n)} for n in range(1, 10)]},
    ],
)
def test_keys_that_take_long_to_compare_are_refused(flood: object) -> None:
    """400 KB took nine seconds, and a megabyte a minute: a Decimal is made of each number beside it, digit by digit."""
    with pytest.raises(codec.Malformed, match="too many keys of one hash"):
        codec.loads(json.dumps(flood))


def test_points_of_decimals_are_keys() -> None:
    """-1 and -2 have one hash."""
    value = {tuple(map(decimal.Decimal, point)) for point in itertools.product((-1, -2, 0.5), repeat=3)}
    assert codec.loads(codec.dumps(value)) == value


def test_vast_numbers_and_decimals_are_keys_all_the_same() -> None:
    value = {decimal.Decimal(-1), decimal.Decimal(-2), decimal.Decimal("0.5"), 1 << 100_000, -1.5, (-1, -2), (-2, -1)}
    assert codec.loads(codec.dumps(value)) == value


@pytest.mark.parametrize("text", ["1E+2100", "1E-2100", "0E+999999999", "-1E+999999999999999999", "1" * 20_001])
def test_a_decimal_of_too_many_digits_is_none(text: str) -> None:
    """`int` of nine characters took for ever, and so did whoever checked that an argument is one."""
    with pytest.raises(codec.Malformed, match="a Decimal of too many digits"):
        codec.loads(json.dumps({"$decimal": text}))
    with pytest.raises(codec.NoDataForm, match=r"the value at \$\[0\] is a Decimal of too many digits"):
        codec.dumps([decimal.Decimal(text)])


@pytest.mark.parametrize("text", ["1E+2000", "-1E-2000", "1" * 20_000, "0." + "3" * 19_990, "NaN", "-Infinity", "sNaN"])
def test_any_other_decimal_crosses(text: str) -> None:
    found = codec.loads(codec.dumps(decimal.Decimal(text)))
    assert str(found) == str(decimal.Decimal(text))


def test_keys_that_do_not_are_not() -> None:
    value = {*range(-1000, 1000), *(n / 7 for n in range(1000)), *map(str, range(1000))}
    assert codec.loads(codec.dumps(value)) == value


def test_a_uuid_is_text_only() -> None:
    assert codec.loads(codec.dumps(uuid.UUID(int=5))) == uuid.UUID(int=5)
