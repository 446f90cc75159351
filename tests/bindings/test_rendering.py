"""Hints and signatures as a model reads them."""

import datetime as dt
import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import pytest

from isolith_bindings.rendering import NO_DEFAULT, brief, first_paragraph, one_of, render_hint, render_signature


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


@dataclass
class Contact:
    name: str


class Place(NamedTuple):
    floor: int
    people: list[Contact]


class Folder(NamedTuple):
    name: str
    folders: list["Folder"]
    place: Place


T = TypeVar("T")
UserId = NewType("UserId", int)


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (int, "int"),
        (None, "None"),
        (type(None), "None"),
        (Any, "Any"),
        (object, "object"),
        (dt.datetime, "datetime"),
        (Contact, "Contact"),
        (list[Contact], "list[Contact]"),
        (dict[str, list[int]], "dict[str, list[int]]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (tuple[()], "tuple[()]"),
        (Mapping[str, Any], "Mapping[str, Any]"),
        (int | None, "int | None"),
        (Optional[int], "int | None"),  # noqa: UP045 - both forms are written
        (Union[int, str], "int | str"),  # noqa: UP007 - both forms are written
        (Literal["open", 3, True], "Literal['open', 3, True]"),
        (Annotated[int, "doc"], "int"),
        (Color, "Literal['red', 2]"),
        (Literal[Color.RED], "Literal['red']"),
        (Callable[[int], str], "Callable[[int], str]"),
        (T, "T"),
        (Place, "tuple[int, list[Contact]]"),
        (list[Place], "list[tuple[int, list[Contact]]]"),
        (Folder, "tuple[str, list[Folder], tuple[int, list[Contact]]]"),
        (UserId, "UserId"),
        ("Later", "Later"),
    ],
)
def test_hints(hint: object, text: str) -> None:
    assert render_hint(hint) == text


@pytest.mark.parametrize(
    ("parameters", "others", "result", "text"),
    [
        ([], None, NO_DEFAULT, "async def f()"),
        ([], int, NO_DEFAULT, "async def f(**others: int)"),
        ([], NO_DEFAULT, NO_DEFAULT, "async def f(**others)"),
        ([("limit", int, 10)], None, list[Contact], "async def f(*, limit: int = 10) -> list[Contact]"),
        ([("a", NO_DEFAULT, NO_DEFAULT)], None, None, "async def f(*, a) -> None"),
        ([("a", NO_DEFAULT, 3)], None, NO_DEFAULT, "async def f(*, a=3)"),
        ([("a", int | None, None), ("b", str, "x")], str, int, None),
        ([("a", Color, Color.RED)], None, NO_DEFAULT, "async def f(*, a: Literal['red', 2] = 'red')"),
        ([("a", object, Contact("x"))], None, NO_DEFAULT, "async def f(*, a: object = ...)"),
        ([("a", str, "x" * 58)], None, NO_DEFAULT, f"async def f(*, a: str = '{'x' * 58}')"),
        ([("a", str, "x" * 59)], None, NO_DEFAULT, "async def f(*, a: str = ...)"),
    ],
)
def test_signatures(
    parameters: list[tuple[str, object, object]], others: object, result: object, text: str | None
) -> None:
    expected = text or "async def f(*, a: int | None = None, b: str = 'x', **others: str) -> int"
    assert render_signature("f", parameters, others, result) == expected


def test_the_first_paragraph_is_one_line() -> None:
    assert first_paragraph("\n One\n  two.\n\nThree.") == "One two."
    assert first_paragraph("") == ""


def test_the_first_paragraph_of_html_is_what_it_says() -> None:
    assert first_paragraph("<p>One <b>two</b>.</p><p>Three.</p>") == "One two."
    assert first_paragraph("\n<p>Give <code>&lt;b&gt;</code>,<br>or none.</p>") == "Give <b>, or none."
    assert first_paragraph("Takes <b>bold</b> and <p>.") == "Takes <b>bold</b> and <p>."
    assert first_paragraph("<people> are told") == "<people> are told"


def test_names_in_a_row() -> None:
    assert one_of(["a", "b"], limit=2) == "a, b"
    assert one_of(["a", "b", "c", "d"], limit=2) == "a, b and 2 more"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "'a'"),
        (1 << 100, str(1 << 100)),
        (1 << 40_000, "<int of 40,001 bits>"),
        ({"a": [-1 << 40_000]}, "{'a': [<int of 40,001 bits>]}"),
        ("a" * 1000, f"'{'a' * 37}...{'a' * 38}'"),
    ],
    ids=["text", "large", "vast", "within", "long"],
)
def test_any_value_is_shown_briefly(value: object, text: str) -> None:
    assert brief(value) == text
