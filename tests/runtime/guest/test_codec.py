"""The codec both ways: types kept, limits, what has no data form."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import math
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Callable

ZONES = st.sampled_from(
    [None, dt.UTC, dt.timezone(dt.timedelta(hours=-9, minutes=30)), dt.timezone(dt.timedelta(1, -7))]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.builds(lambda n, e: n << e, st.integers(), st.integers(4000, 4200)),
    st.floats(allow_nan=False),
    TEXTS,
    st.builds("${}".format, TEXTS),
    st.binary(),
    st.decimals(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.dates(),
    st.datetimes(timezones=ZONES),
    st.times(),
    st.timedeltas(),
    st.uuids(),
)
MEMBERS = st.recursive(
    KEYS, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)), max_leaves=4
)
VALUES = st.recursive(
    MEMBERS,
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner, inner),
        st.sets(MEMBERS, max_size=4),
        st.dictionaries(TEXTS, inner),
        st.dictionaries(MEMBERS, inner, max_size=4),
    ),
    max_leaves=30,
)


def there_and_back(value: object) -> object:
    return codec.loads(codec.dumps(value))


def same(left: object, right: object) -> bool:
    """Equal, and of the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        keys = zip(left, right, strict=False)
        return len(left) == len(right) and all(same(a, b) and same(left[a], right[b]) for a, b in keys)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, (dt.datetime, dt.time)) and isinstance(right, (dt.datetime, dt.time)):
        return left == right and left.utcoffset() == right.utcoffset()
    return left == right


@given(VALUES)
def test_what_goes_in_comes_out(value: object) -> None:
    assert same(there_and_back(value), value)


@pytest.mark.parametrize("value", [math.inf, -math.inf, [1.5, math.inf], {"a": -math.inf}, -0.0])
def test_floats_that_json_lacks(value: object) -> None:
    assert same(there_and_back(value), value)
    assert str(there_and_back(value)) == str(value)


def test_nan() -> None:
    back = there_and_back([math.nan, {"a": math.nan}, complex(math.nan, 1), decimal.Decimal("NaN")])
    assert str(back) == "[nan, {'a': nan}, (nan+1j), Decimal('NaN')]"


@pytest.mark.parametrize("bits", [1, 63, 64, 4096, 4097, 20_000, 1_000_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_of_any_size(bits: int, sign: int) -> None:
    value = sign * (2**bits - 1)
    assert there_and_back(value) == value


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "not asked"


class Number(int):
    def __int__(self) -> int:
        return -1


class Items(list[object]):
    pass


class Stamp(dt.datetime):
    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        return f"not asked: {sep}, {timespec}"


class Money(decimal.Decimal):
    def __str__(self) -> str:
        return "not asked"


class Colour(enum.Enum):
    RED = "red"
    BOTH = (1, 2)


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Point(NamedTuple):
    x: int
    y: int


@dataclass(frozen=True)
class Person:
    name: str
    born: dt.date


class Model:
    """As pydantic's are."""

    def model_dump(self) -> dict[str, object]:
        return {"a": 1, "b": (2,)}


def ordered() -> collections.OrderedDict[str, int]:
    made = collections.OrderedDict(a=1, b=2)
    made.move_to_end("a")
    return made


@pytest.mark.parametrize(
    ("value", "arrives_as"),
    [
        (Text("x"), "x"),
        ({Text("x"): 1}, {"x": 1}),
        (Number(5), 5),
        (Items([1, Items()]), [1, []]),
        (Stamp(2026, 1, 2, tzinfo=dt.UTC), dt.datetime(2026, 1, 2, tzinfo=dt.UTC)),
        (Money("1.50"), decimal.Decimal("1.50")),
        (Colour.RED, "red"),
        (Colour.BOTH, (1, 2)),
        ({Colour.RED: Level.HIGH}, {"red": 3}),
        (Word.YES, "yes"),
        (Point(1, 2), (1, 2)),
        (Person("Ada", dt.date(1815, 12, 10)), {"name": "Ada", "born": dt.date(1815, 12, 10)}),
        ([Person("Ada", dt.date.max)], [{"name": "Ada", "born": dt.date.max}]),
        (Model(), {"a": 1, "b": (2,)}),
        (ValueError("no"), {"error": "ValueError", "message": "no"}),
        (collections.defaultdict(int, a=1), {"a": 1}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (collections.deque([1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        ({"a": 1}.keys(), ["a"]),
        ({"a": 1}.items(), [("a", 1)]),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"abcd")[::2], b"ac"),
    ],
)
def test_what_is_like_a_value_arrives_as_that_value(value: object, arrives_as: object) -> None:
    assert same(there_and_back(value), arrives_as)


def test_an_ordered_dict_keeps_its_own_order() -> None:
    back = there_and_back(ordered())
    assert isinstance(back, dict)
    assert list(back) == ["b", "a"]


@pytest.mark.parametrize(
    "value", [{"$set": [1]}, {"$int": "0x1"}, {"$": 1}, {"$dict": 1, "b": 2}, [{"$unknown": {"$set": 1}}]]
)
def test_nothing_inside_a_value_looks_like_a_tag(value: object) -> None:
    assert same(there_and_back(value), value)


def test_parts_that_are_not_changed_are_shared() -> None:
    names = ["a", "b"]
    assert codec.encode(names) is names


# limits


def nested(depth: int, wrap: Callable[[object], object]) -> object:
    value: object = 1
    for _ in range(depth):
        value = wrap(value)
    return value


WRAPPERS: list[Callable[[object], object]] = [
    lambda v: [v],
    lambda v: {"a": v},
    lambda v: {1: v},
    lambda v: (v,),
    lambda v: Items([v]),
    lambda v: collections.OrderedDict(a=v),
    lambda v: {"$": v},
]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_a_value_may_be_nested_a_hundred_deep(wrap: Callable[[object], object]) -> None:
    value = nested(codec.MAX_DEPTH, wrap)
    assert there_and_back(value) == value
    assert text_depth(codec.dumps(value)) <= codec.MAX_TEXT_DEPTH - 8


def text_depth(text: str) -> int:
    depth = most = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        most = max(most, depth)
    return most


@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("more", [1, 50, 5000])
def test_no_deeper(wrap: Callable[[object], object], more: int) -> None:
    with pytest.raises(codec.NoDataForm, match="is nested more than 100 deep, or contains itself"):
        codec.encode(nested(codec.MAX_DEPTH + more, wrap))


def test_a_value_that_contains_itself() -> None:
    value: list[object] = []
    value.append({"again": value})
    with pytest.raises(codec.NoDataForm, match="contains itself"):
        codec.encode(value)


def test_where_the_stack_is_short_it_is_said(recursion_left: Callable[[int, Callable[[], object]], object]) -> None:
    with pytest.raises(codec.NoDataForm, match="too deep for the stack that is left"):
        recursion_left(60, lambda: codec.encode(nested(50, lambda v: [v])))


@pytest.fixture
def recursion_left() -> Callable[[int, Callable[[], object]], object]:
    """Calls a function so deep that about so many frames are left."""

    def probe() -> int:
        try:
            return 1 + probe()
        except RecursionError:
            return 0

    def descend(frames: int, then: Callable[[], object]) -> object:
        return then() if frames <= 0 else descend(frames - 1, then)

    return lambda left, then: descend(probe() - left, then)


def test_items_are_counted_and_shared_parts_as_often_as_they_are_there() -> None:
    assert codec.encode([[1, 2], [3, 4]], max_nodes=6)
    with pytest.raises(codec.TooLarge):
        codec.encode([[1, 2], [3, 4]], max_nodes=5)
    value: object = [1]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(codec.TooLarge):
        codec.encode(value, max_nodes=10_000)


def test_containers_are_counted_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 1000
    monkeypatch.setattr(codec, "MAX_CONTAINERS", most)
    for value, fits in (([[]] * (most - 1), True), ([[]] * most, False), ([(1,)] * (most // 2), False)):
        if fits:
            assert codec.dumps(value).count("[") == most
        else:
            with pytest.raises(codec.TooLarge):
                codec.encode(value)


@pytest.mark.parametrize("length", [10**7, 10**12, 10**30])
def test_a_range_is_not_walked_before_it_is_counted(length: int) -> None:
    with pytest.raises(codec.TooLarge):
        codec.encode(range(length), max_nodes=1000)


# what has no data form


def generator() -> object:
    yield 1


async def coroutine() -> None:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "the value at $ is of type object, which has no data form: make it a dict, a list or text"),
        ({"a": [1, {"b": object()}]}, "the value at $.a[1].b is of type object, which has no data form: make it"),
        ({"two words": {1: object()}}, "the value at $['two words'][1] is of type object"),
        ([(1, object())], "the value at $[0][1] is of type object"),
        ({(1, object()): 1}, "the value at $.<key (1, <object object at"),
        (generator(), "the value at $ is of type generator, which has no data form: wrap it in list(...)"),
        ([len], "the value at $[0] is of type builtin_function_or_method, which has no data form: call it, or leave"),
        (int, "the value at $ is of type type, which has no data form: call it, or leave it out"),
        ([["x"], "\ud800"], "the value at $ holds text that is not valid Unicode (a lone surrogate)"),
        ({"\ud800": 1}, "the value at $ holds text that is not valid Unicode (a lone surrogate)"),
    ],
)
def test_the_path_is_said(value: object, message: str) -> None:
    with pytest.raises(codec.NoDataForm) as caught:
        codec.dumps(value)
    assert str(caught.value).startswith(message)


def test_what_is_awaited_later_is_told_so() -> None:
    made = coroutine()
    with pytest.raises(codec.NoDataForm, match=r"at \$\[0\] is of type coroutine, not its result: write `await`"):
        codec.dumps([made])
    made.close()


def test_a_value_may_say_itself_why_it_has_none() -> None:
    value = types.SimpleNamespace(__no_data_form__="is the method crm.get: call it")
    with pytest.raises(codec.NoDataForm, match=r"^the value at \$ is the method crm.get: call it$"):
        codec.encode(value)


def test_a_long_path_is_cut() -> None:
    with pytest.raises(codec.NoDataForm) as caught:
        codec.encode({"a" * 200: object()})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({Person("Ada", dt.date.min)}, "[0]"),
        (frozenset({(1, Person("Ada", dt.date.min))}), "[0]"),
        ({Person("Ada", dt.date.min): 1}, ".<key Person("),
        ([{(1, Person("Ada", dt.date.min)): 1}], "[0].<key (1, Person("),
        ({range(3)}, "[0]"),
    ],
)
def test_what_has_no_hash_outside_is_no_key_and_in_no_set(value: object, path: str) -> None:
    """A frozen dataclass arrives as a dict: a set of them could be written, and not be read."""
    with pytest.raises(codec.NoDataForm) as caught:
        codec.encode(value)
    assert caught.value.path.startswith(path)
    assert "which outside can be no key and in no set" in str(caught.value)
