"""Every style of the specification: the table of OpenAPI 3.2, section "Style Examples", and its edges."""

from __future__ import annotations

from typing import get_args

import pytest

from isolith_bindings.openapi.model import Location, Parameter, Style
from isolith_bindings.openapi.styles import UnsendableError, in_cookie, in_header, in_path, in_query

EMPTY = ""
STRING = "blue"
ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def parameter(
    location: Location, style: Style, *, explode: bool = False, name: str = "color", reserved: bool = False
) -> Parameter:
    return Parameter("color", name, location, required=True, schema={}, style=style, explode=explode, reserved=reserved)


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("matrix", False, EMPTY, ";color"),
        ("matrix", False, STRING, ";color=blue"),
        ("matrix", False, ARRAY, ";color=blue,black,brown"),
        ("matrix", False, OBJECT, ";color=R,100,G,200,B,150"),
        ("matrix", True, EMPTY, ";color"),
        ("matrix", True, STRING, ";color=blue"),
        ("matrix", True, ARRAY, ";color=blue;color=black;color=brown"),
        ("matrix", True, OBJECT, ";R=100;G=200;B=150"),
        ("label", False, EMPTY, "."),
        ("label", False, STRING, ".blue"),
        ("label", False, ARRAY, ".blue,black,brown"),
        ("label", False, OBJECT, ".R,100,G,200,B,150"),
        ("label", True, STRING, ".blue"),
        ("label", True, ARRAY, ".blue.black.brown"),
        ("label", True, OBJECT, ".R=100.G=200.B=150"),
        ("simple", False, STRING, "blue"),
        ("simple", False, ARRAY, "blue,black,brown"),
        ("simple", False, OBJECT, "R,100,G,200,B,150"),
        ("simple", True, ARRAY, "blue,black,brown"),
        ("simple", True, OBJECT, "R=100,G=200,B=150"),
        ("simple", False, "a/b c?d#e%ü", "a%2Fb%20c%3Fd%23e%25%C3%BC"),
        ("simple", False, ["a,b", "c"], "a%2Cb,c"),
        ("simple", False, True, "true"),
        ("simple", False, 5.0, "5"),
        ("simple", False, 0.1, "0.1"),
        ("simple", False, -3, "-3"),
    ],
)
def test_in_the_path(style: Style, explode: bool, value: object, written: str) -> None:
    assert in_path(parameter("path", style, explode=explode), value) == written


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("form", False, EMPTY, "color="),
        ("form", False, STRING, "color=blue"),
        ("form", False, ARRAY, "color=blue,black,brown"),
        ("form", False, OBJECT, "color=R,100,G,200,B,150"),
        ("form", True, ARRAY, "color=blue&color=black&color=brown"),
        ("form", True, OBJECT, "R=100&G=200&B=150"),
        ("form", True, [], ""),
        ("form", False, [], ""),
        ("spaceDelimited", False, ARRAY, "color=blue%20black%20brown"),
        ("spaceDelimited", False, OBJECT, "color=R%20100%20G%20200%20B%20150"),
        ("spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("pipeDelimited", False, ARRAY, "color=blue%7Cblack%7Cbrown"),
        ("pipeDelimited", False, OBJECT, "color=R%7C100%7CG%7C200%7CB%7C150"),
        ("pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("tabDelimited", False, ARRAY, "color=blue%09black%09brown"),
        ("deepObject", True, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": ["x", "y"]}}, "color%5Ba%5D%5Bb%5D%5B%5D=x&color%5Ba%5D%5Bb%5D%5B%5D=y"),
        ("deepObject", True, [{"a": 1}], "color%5B0%5D%5Ba%5D=1"),
        ("form", True, "a&b=c+d e", "color=a%26b%3Dc%2Bd%20e"),
    ],
)
def test_in_the_query(style: Style, explode: bool, value: object, written: str) -> None:
    items = in_query(parameter("query", style, explode=explode), value)
    assert "&".join(f"{name}={text}" for name, text in items) == written


def test_the_name_is_encoded_too() -> None:
    assert in_query(parameter("query", "form", name="filter[a&b]"), "x") == [("filter%5Ba%26b%5D", "x")]


@pytest.mark.parametrize(
    ("location", "value", "written"),
    [
        ("query", "a/b:c,d?e@f", "a/b:c,d?e@f"),
        ("query", "a&b=c#d+e[f]", "a%26b%3Dc%23d%2Be%5Bf%5D"),
        ("path", "a/b;c=d", "a%2Fb;c=d"),
        ("path", "a?b#c[d]", "a%3Fb%23c%5Bd%5D"),
    ],
)
def test_reserved_characters_pass_as_far_as_they_end_nothing(location: Location, value: str, written: str) -> None:
    made = parameter(location, "form" if location == "query" else "simple", reserved=True)
    assert (in_path(made, value) if location == "path" else in_query(made, value)[0][1]) == written


def test_a_parameter_with_a_media_type_is_json() -> None:
    made = Parameter(
        "filter", "filter", "query", required=True, schema={}, style="form", explode=True, media="application/json"
    )
    assert in_query(made, {"a": ["b c", 1]}) == [("filter", "%7B%22a%22%3A%5B%22b%20c%22%2C1%5D%7D")]


def test_a_whole_query_string() -> None:
    made = Parameter(
        "q", "q", "querystring", required=True, schema={}, style="form", explode=True, media="application/json"
    )
    assert in_query(made, {"a": 1}) == [("%7B%22a%22%3A1%7D", None)]


@pytest.mark.parametrize(
    ("explode", "value", "written"),
    [
        (False, ARRAY, "blue,black,brown"),
        (False, OBJECT, "R,100,G,200,B,150"),
        (True, OBJECT, "R=100,G=200,B=150"),
        (False, "a/b c", "a/b c"),
    ],
)
def test_in_a_header(explode: bool, value: object, written: str) -> None:
    assert in_header(parameter("header", "simple", explode=explode), value) == written


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "ü", "\x00", ["a", "b\r\n"], {"k\r\n": "v"}])
def test_a_header_stays_one_header(value: object) -> None:
    with pytest.raises(UnsendableError, match="header"):
        in_header(parameter("header", "simple"), value)


def test_in_a_cookie() -> None:
    assert in_cookie(parameter("cookie", "form"), "a b;c") == [("color", "a%20b%3Bc")]
    assert in_cookie(parameter("cookie", "form", explode=True), OBJECT) == [("R", "100"), ("G", "200"), ("B", "150")]
    assert in_cookie(parameter("cookie", "cookie"), "a/b") == [("color", "a/b")]
    with pytest.raises(UnsendableError, match="cookie"):
        in_cookie(parameter("cookie", "cookie"), "a; b")


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), [{"a": 1}], {"a": [1]}, [[1]]])
def test_what_has_no_form_says_so(value: object) -> None:
    with pytest.raises(UnsendableError):
        in_path(parameter("path", "simple"), value)


def test_every_style_is_tried_here() -> None:
    assert set(get_args(Style)) == {
        "matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject", "cookie"
    }  # fmt: skip
