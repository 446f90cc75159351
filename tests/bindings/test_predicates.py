"""What a rule asks of arguments, and what cannot be told."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from isolith_bindings.predicates import ABSENT, MAX_ARGUMENTS, UNCLEAR, Condition, all_hold, find, negate, one_holds

NAN = float("nan")
SCHEMA = {"properties": {"limit": {"default": 10}, "max-results": {"default": None}, "odd": True}}


def condition(**asked: object) -> Condition:
    return Condition.model_validate({("in" if name == "one_of" else name): value for name, value in asked.items()})


@pytest.mark.parametrize(
    ("asked", "value", "answer"),
    [
        ({"equals": "a"}, "a", True),
        ({"equals": "a"}, "b", False),
        ({"equals": "a"}, None, False),
        ({"equals": None}, None, True),
        ({"equals": None}, 0, False),
        ({"equals": 1}, 1.0, True),
        ({"equals": 1}, Decimal(1), True),
        ({"equals": 2**70}, 2**70, True),
        ({"equals": NAN}, NAN, False),
        ({"equals": [1, {"a": [2]}]}, (1, {"a": [2]}), True),
        ({"equals": [1, {"a": [2]}]}, [1, {"a": [3]}], False),
        ({"equals": [1]}, [1, 2], False),
        ({"equals": {"a": 1}}, {"a": 1, "b": 2}, False),
        ({"not_equals": "a"}, "a", False),
        ({"not_equals": "a"}, "b", True),
        ({"not_equals": "a"}, None, True),
        ({"one_of": ["a", 3]}, 3, True),
        ({"one_of": ["a", "b"]}, "c", False),
        ({"one_of": []}, "c", False),
        ({"not_in": ["a", "b"]}, "c", True),
        ({"not_in": ["a", "b"]}, "b", False),
        ({"matches": "[a-z]+"}, "abc", True),
        ({"matches": "[a-z]+"}, "abc\n", False),
        ({"matches": "[a-z]+"}, "abc1", False),
        ({"matches": "a|b"}, "ab", False),
        ({"matches": "(?i)secret.*"}, "SECRETS", True),
        ({"matches": "a"}, None, False),
        ({"not_matches": "a.*"}, "b", True),
        ({"less_than": 5}, 4, True),
        ({"less_than": 5}, 5, False),
        ({"at_most": 5}, 5, True),
        ({"more_than": 5}, 5.5, True),
        ({"at_least": 5.5}, 5, False),
        ({"at_least": 1, "at_most": 3}, 2, True),
        ({"at_least": 1, "at_most": 3}, 4, False),
        ({"less_than": "2026-01-01"}, "2025-12-31", True),
        ({"less_than": 5}, None, False),
        ({"every": {"matches": ".*@ours"}}, ["a@ours", "b@ours"], True),
        ({"every": {"matches": ".*@ours"}}, ["a@ours", "b@theirs"], False),
        ({"every": {"matches": ".*@ours"}}, [], True),
        ({"every": {"equals": 1}}, None, False),
        ({"every": {"equals": 1}}, [1] * 10_000, True),
        ({"some": {"equals": 2}}, [1] * 10_000, False),
        ({"every": {"equals": 1}}, [2, *[1] * 10_000], False),
        ({"some": {"equals": 2}}, [2, *[1] * 10_000], True),
        ({"some": {"equals": 1}}, {2, 1}, True),
        ({"some": {"equals": 1}}, [], False),
        ({"present": True}, None, True),
        ({"present": False}, None, False),
        ({"present": True}, ABSENT, False),
        ({"present": False}, ABSENT, True),
        ({"equals": "a"}, ABSENT, False),
        ({"equals": None}, ABSENT, False),
        ({"less_than": 5}, ABSENT, False),
        ({"every": {"equals": 1}}, ABSENT, False),
    ],
)
def test_what_can_be_told(asked: dict[str, object], value: object, answer: bool) -> None:
    assert condition(**asked).holds(value) is answer


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        # A connector that is lax takes each of these for what the rule names.
        ({"equals": 5}, "5"),
        ({"equals": True}, 1),
        ({"equals": True}, "true"),
        ({"equals": 1}, True),
        ({"equals": [1]}, "[1]"),
        ({"equals": [1]}, ["1"]),
        ({"equals": "2026-01-01"}, datetime(2026, 1, 1, tzinfo=UTC)),
        ({"one_of": [5, 6]}, "7"),
        ({"not_in": [5, 6]}, "7"),
        ({"not_equals": 5}, "6"),
        ({"matches": "5"}, 5),
        ({"matches": "a"}, "\ud800"),
        ({"less_than": 5}, "9"),
        ({"less_than": "9"}, 5),
        ({"less_than": 5}, NAN),
        ({"less_than": 5}, Decimal("sNaN")),
        ({"less_than": 5}, True),
        ({"every": {"equals": 1}}, 1),
        ({"some": {"equals": 1}}, "1"),
        ({"some": {"equals": 1}}, ["1"]),
        # What is far behind in a list is not looked at: a script may write any number of items.
        ({"every": {"equals": 1}}, [1] * 10_001),
        ({"some": {"equals": 2}}, [*[1] * 10_000, 2]),
        # What is excluded while it is not given: the default is the connector's secret.
        ({"not_equals": "production"}, ABSENT),
        ({"not_in": ["production"]}, ABSENT),
        ({"not_matches": "prod.*"}, ABSENT),
        ({"equals": 1}, UNCLEAR),
        ({"not_equals": 1}, UNCLEAR),
    ],
)
def test_what_cannot_be_told(asked: dict[str, object], value: object) -> None:
    assert condition(**asked).holds(value) is None


def test_one_that_fails_decides_over_one_that_cannot_be_told() -> None:
    assert condition(at_most=5, not_equals="x").holds(9) is False
    assert condition(at_most=5, not_equals="x").holds(3) is None


def test_a_default_is_judged_and_is_not_present() -> None:
    assert condition(equals=10, present=False).holds(10, given=False) is True


def test_a_pattern_is_linear_in_what_a_script_sends() -> None:
    """Backtracking would go on for longer than there have been stars."""
    assert condition(matches="(a+)+b?").holds("a" * 1_000_000 + "c") is False


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "it asks for nothing"),
        ({"lesser": 1}, "lesser"),
        ({"less_than": True}, "less_than"),
        ({"less_than": None}, "`less_than` of null asks for nothing"),
        ({"matches": None}, "`matches` of null asks for nothing"),
        ({"matches": "("}, "no regular expression"),
        ({"matches": "a)|(b"}, "no regular expression"),
        ({"matches": "(?=a)"}, "look-around"),
        ({"matches": "a" * 1001}, "1000"),
        ({"in": "abc"}, "tuple"),
        ({"present": 1}, "present"),
        ({"every": {}}, "it asks for nothing"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        condition(**asked)
    assert said in str(caught.value)


# ---------------------------------------------------------------------------------------------- finding


@pytest.mark.parametrize(
    ("arguments", "path", "found"),
    [
        ({"amount": 5}, "amount", (5, True)),
        ({"amount": None}, "amount", (None, True)),
        ({}, "amount", (ABSENT, False)),
        ({"f": {"owner": "me"}}, "f.owner", ("me", True)),
        ({"f": {"owner": "me"}}, "f.other", (ABSENT, True)),
        ({"f": None}, "f.owner", (ABSENT, True)),
        ({"f": "text"}, "f.owner", (UNCLEAR, True)),
        ({"f": [{"owner": "me"}]}, "f.owner", (UNCLEAR, True)),
        ({"f": {"a.b": {"c/d": 1}}}, "/f/a.b/c~1d", (1, True)),
        ({"f": {"a~b": 1}}, "/f/a~0b", (1, True)),
        # Any spelling that a script may use finds it; two of them at once are a trick.
        ({"max-results": 5}, "max_results", (5, True)),
        ({"maxResults": 5}, "max-results", (5, True)),
        ({"max-results": 5, "max_results": 6}, "max_results", (UNCLEAR, True)),
        ({"-": 1}, "+", (ABSENT, False)),
        # A default that is declared stands in for what is not given.
        ({}, "limit", (10, False)),
        ({}, "max_results", (None, False)),
        ({"limit": 3}, "limit", (3, True)),
        ({}, "odd", (ABSENT, False)),
    ],
)
def test_finding_an_argument(arguments: dict[str, object], path: str, found: tuple[object, bool]) -> None:
    assert find(arguments, path, SCHEMA) == found


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 5}}, {"properties": None}])
def test_a_schema_may_be_odd(schema: dict[str, object]) -> None:
    assert find({}, "a", schema) == (ABSENT, False)


def test_nothing_is_looked_for_among_very_many() -> None:
    arguments: dict[str, object] = {f"a{number}": 1 for number in range(MAX_ARGUMENTS + 1)}
    assert find(arguments, "a1", {}) == (UNCLEAR, True)


# ---------------------------------------------------------------------------------------------- three answers


TRUTHS = st.lists(st.sampled_from([True, False, None]))


@given(TRUTHS)
def test_what_is_not_known_never_contradicts_what_would_be(answers: list[bool | None]) -> None:
    """Whatever the unknown turns out to be, a definite answer stays."""
    for known in (True, False):
        filled = [known if answer is None else answer for answer in answers]
        assert all_hold(answers) in {None, all(filled)}
        assert one_holds(answers) in {None, any(filled)}
    assert negate(all_hold(answers)) is one_holds(map(negate, answers))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_any_value_is_judged_by_any_condition(operand: object, value: object) -> None:
    """No pair of values raises, and a negation is never the same definite answer."""
    for positive, negative in (("equals", "not_equals"), ("in", "not_in")):
        wanted = [operand] if positive == "in" else operand
        holds = Condition.model_validate({positive: wanted}).holds(value)
        assert Condition.model_validate({negative: wanted}).holds(value) is negate(holds)
    if isinstance(operand, str | int | float) and not isinstance(operand, bool):
        below = Condition.model_validate({"less_than": operand}).holds(value)
        assert not (below and Condition.model_validate({"at_least": operand}).holds(value))
