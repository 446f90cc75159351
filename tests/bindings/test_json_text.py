"""JSON text is read as deep on every Python, and no deeper."""

from __future__ import annotations

import json

import pytest

from isolith_bindings import json_text
from isolith_bindings.json_text import MAX_DEPTH
from isolith_runtime.guest.codec import MAX_TEXT_DEPTH

SHAPES = pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}"), ('[{"a":[', "]}]")])


def nested(opened: str, closed: str, levels: int) -> str:
    """As deep as that, or as deep as whole shapes get below it."""
    count = levels // (opened.count("[") + opened.count("{"))
    return opened * count + "1" + closed * count


def test_whatever_a_guest_writes_can_be_read() -> None:
    assert MAX_DEPTH >= MAX_TEXT_DEPTH


@SHAPES
def test_as_deep_as_it_may_be(opened: str, closed: str) -> None:
    text = nested(opened, closed, MAX_DEPTH)
    assert json_text.loads(text) == json_text.loads(text.encode()) == json.loads(text)


@SHAPES
@pytest.mark.parametrize("levels", [MAX_DEPTH + 3, 300, 990, 1500, 5000, 9000, 50_000, 200_000])
def test_deeper(opened: str, closed: str, levels: int) -> None:
    text = nested(opened, closed, levels)
    for given in (text, text.encode(), text.encode("utf-8-sig"), text.encode("utf-16"), text.encode("utf-32-le")):
        with pytest.raises(RecursionError, match=f"deeper than {MAX_DEPTH} levels"):
            json_text.loads(given)


@pytest.mark.parametrize(
    "value",
    [
        ["["] * 1000,
        ["[{" * 1000, 1],
        {f"{{{number}": ['"', '"[', "\\", '\\"['] for number in range(1000)},
        [[[]] for _ in range(1000)],
        ["é\ud800"] * 1000 + [[{}]] * 1000,
    ],
)
def test_what_is_long_and_not_deep(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert json_text.loads(text) == value
        assert json_text.loads(text.encode("utf-8", "surrogatepass")) == value
        assert json_text.loads(text.encode("utf-16", "surrogatepass")) == value


@pytest.mark.parametrize("text", ["", "{", "[1, 2", b"\xff" * 9, "[]," * 1000])
def test_what_is_no_json(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of `json`, and of the decoder
        json_text.loads(text)


def test_the_readers_of_parts_are_those_of_json() -> None:
    assert json_text.loads('{"a": [1, NaN]}', parse_int=str, parse_constant=len, object_pairs_hook=list) == [
        ("a", ["1", 3])
    ]
