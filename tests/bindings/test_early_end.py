"""What is large is validated to its first error; what is valid comes to the same, whichever way it is validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from isolith_bindings import early_end
from isolith_bindings.early_end import SMALL, is_small, validate


class Tag(BaseModel):
    """As a user might write it; its default looks like a part of a core schema."""

    model_config = ConfigDict(str_strip_whitespace=True)

    name: str
    type: dict[str, str] = {"type": "list"}
    numbers: list[int | Literal["a", "b"]] = []


class Late(BaseModel):
    """Read only when it is used for the first time."""

    model_config = ConfigDict(defer_build=True)

    values: list[int | bool]


class Row(TypedDict, total=False):
    """A mapping with names."""

    cells: dict[str, int | tuple[int, int]]


@dataclass
class Node:
    """Refers to itself."""

    value: int | None
    below: list[Node] = field(default_factory=list["Node"])


HINTS: tuple[Any, ...] = (
    list[int | bool | float],
    dict[str, int | dict[str, int]],
    set[int],
    frozenset[str],
    tuple[int | str, ...],
    tuple[int, list[int]],
    Tag,
    list[Tag | None],
    Row,
    Node,
    Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=5)],
    Late,
)
ADAPTERS: tuple[TypeAdapter[Any], ...] = tuple(TypeAdapter(hint) for hint in HINTS)
LEAVES = st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["", "a", " b ", "7"]) | st.floats(0, 1)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "numbers", "type", "values", "cells", "value", "below"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


def outcome(adapter: TypeAdapter[Any], value: object) -> tuple[str, object]:
    try:
        return "valid", validate(adapter, value)
    except ValidationError as error:
        return "wrong", error.error_count()


@given(st.sampled_from(ADAPTERS), VALUES)
def test_the_same_is_valid_and_comes_to_the_same(adapter: TypeAdapter[Any], value: object) -> None:
    usual = outcome(adapter, value)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(early_end, "SMALL", -1)
        early = outcome(adapter, value)
    assert early[0] == usual[0]
    if usual[0] == "valid":
        assert early == usual
        assert type(early[1]) is type(usual[1])
    else:
        assert isinstance(early[1], int)
        assert isinstance(usual[1], int)
        assert early[1] <= usual[1]


@pytest.mark.parametrize(
    ("hint", "valid", "wrong", "errors"),
    [
        (list[int | bool | float], [1], ["x"], 1),
        (dict[str, int | bool], {"a": 1}, {"a": "x"}, 1),
        (tuple[int | bool, ...], [1], ["x"], 1),
        (Tag, {"name": "a", "numbers": [1]}, {"name": "a", "numbers": ["x"]}, 1),
        (list[Tag], [{"name": "a", "numbers": [1]}], [{"name": 1, "numbers": ["x"]}], 2),
        (Late, {"values": [1]}, {"values": ["x"]}, 1),
        (Node, {"value": 1, "below": [{"value": 1}]}, {"value": 1, "below": [{"value": "x"}]}, 1),
    ],
)
def test_what_is_large_ends_with_its_first_error(hint: Any, valid: object, wrong: object, errors: int) -> None:  # noqa: ANN401
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    assert outcome(adapter, large(valid))[0] == "valid"
    assert outcome(adapter, large(wrong)) == ("wrong", errors)


def large(value: Any) -> object:  # noqa: ANN401
    """The value with its innermost container filled up past `SMALL`."""
    if isinstance(value, list):
        [item] = value
        if isinstance(item, dict) and any(isinstance(part, list | dict) for part in item.values()):
            return [large(item)]
        return value * (SMALL + 1)
    inner = next((name for name, part in value.items() if isinstance(part, list | dict)), None)
    if inner is not None:
        return {**value, inner: large(value[inner])}
    return {f"key {number}": next(iter(value.values())) for number in range(SMALL + 1)}


def test_what_is_small_is_told_in_full() -> None:
    adapter = TypeAdapter(list[int | bool])
    assert outcome(adapter, ["x"] * SMALL) == ("wrong", 2 * SMALL)
    assert outcome(adapter, ["x"] * (SMALL + 1)) == ("wrong", 1)


def test_a_large_default_stays_what_it_is() -> None:
    made = validate(TypeAdapter(Tag), {"name": " a ", "numbers": [1] * (SMALL + 1)})
    assert isinstance(made, Tag)
    assert made.type == {"type": "list"}
    assert made.name == "a"


@pytest.mark.parametrize(
    ("value", "small"),
    [
        (None, True),
        ("x" * 1_000_000, True),
        ([0] * SMALL, True),
        ([0] * (SMALL + 1), False),
        ([[0] * (SMALL // 2)] * 2, False),
        ({"a": [0] * (SMALL - 1)}, True),
        ({"a": [0] * SMALL}, False),
    ],
)
def test_how_much_is_small(value: object, small: bool) -> None:
    assert is_small(value) is small


def test_what_holds_itself_is_large() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    assert not is_small(cycle)
