"""Every style of the specifications against their own tables (section "Style Examples"), and their edges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args
from urllib.parse import unquote

import pytest
from tests.bindings.openapi.bench import compiled
from tests.bindings.openapi.exchanges import a, get, refused, sent

from isolith_bindings.openapi.model import Location, Parameter, Style
from isolith_bindings.openapi.styles import UnsendableError, in_cookie, in_header, in_path, in_query

if TYPE_CHECKING:
    from tests.bindings.openapi.loopback import Got

STRING = "blue"
ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}


def parameter(
    location: Location, style: Style, *, explode: bool = False, name: str = "color", reserved: bool = False
) -> Parameter:
    return Parameter("color", name, location, required=True, schema={}, style=style, explode=explode, reserved=reserved)


# The tables of the specifications as they stand there, without what HTML puts around it.
TABLE_3_0 = """
| matrix | false | ;color | ;color=blue | ;color=blue,black,brown | ;color=R,100,G,200,B,150 |
| matrix | true | ;color | ;color=blue | ;color=blue;color=black;color=brown | ;R=100;G=200;B=150 |
| label | false | . | .blue | .blue,black,brown | .R,100,G,200,B,150 |
| label | true | . | .blue | .blue.black.brown | .R=100.G=200.B=150 |
| simple | false | _empty_ | blue | blue,black,brown | R,100,G,200,B,150 |
| simple | true | _empty_ | blue | blue,black,brown | R=100,G=200,B=150 |
| form | false | ?color= | ?color=blue | ?color=blue,black,brown | ?color=R,100,G,200,B,150 |
| form | true | ?color= | ?color=blue | ?color=blue&color=black&color=brown | ?R=100&G=200&B=150 |
| spaceDelimited | false | _n/a_ | _n/a_ | ?color=blue%20black%20brown | ?color=R%20100%20G%20200%20B%20150 |
| spaceDelimited | true | _n/a_ | _n/a_ | _n/a_ | _n/a_ |
| pipeDelimited | false | _n/a_ | _n/a_ | ?color=blue%7Cblack%7Cbrown | ?color=R%7C100%7CG%7C200%7CB%7C150 |
| pipeDelimited | true | _n/a_ | _n/a_ | _n/a_ | _n/a_ |
| deepObject | false | _n/a_ | _n/a_ | _n/a_ | _n/a_ |
| deepObject | true | _n/a_ | _n/a_ | _n/a_ | ?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150 |
"""
TABLE_3_2 = """
| matrix | false | _empty_ | ;color=blue | ;color=blue,black,brown | ;color=R,100,G,200,B,150 |
| matrix | true | _empty_ | ;color=blue | ;color=blue;color=black;color=brown | ;R=100;G=200;B=150 |
| label | false | _empty_ | .blue | .blue,black,brown | .R,100,G,200,B,150 |
| label | true | _empty_ | .blue | .blue.black.brown | .R=100.G=200.B=150 |
| simple | false | _empty_ | blue | blue,black,brown | R,100,G,200,B,150 |
| simple | true | _empty_ | blue | blue,black,brown | R=100,G=200,B=150 |
| form | false | color= | color=blue | color=blue,black,brown | color=R,100,G,200,B,150 |
| form | true | color= | color=blue | color=blue&color=black&color=brown | R=100&G=200&B=150 |
| spaceDelimited | false | _n/a_ | _n/a_ | color=blue%20black%20brown | color=R%20100%20G%20200%20B%20150 |
| spaceDelimited | true | _n/a_ | _n/a_ | _n/a_ | _n/a_ |
| pipeDelimited | false | _n/a_ | _n/a_ | color=blue%7Cblack%7Cbrown | color=R%7C100%7CG%7C200%7CB%7C150 |
| pipeDelimited | true | _n/a_ | _n/a_ | _n/a_ | _n/a_ |
| deepObject | _n/a_ | _n/a_ | _n/a_ | _n/a_ | color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150 |
| cookie | false | color= | color=blue | _n/a_ | _n/a_ |
| cookie | true | color= | color=blue | color=blue; color=black; color=brown | R=100; G=200; B=150 |
"""
# In 2.0 the formats are told in words: comma, space, tab and pipe separated values.
TABLE_2_0 = """
| csv | blue,black,brown |
| ssv | blue%20black%20brown |
| tsv | blue%09black%09brown |
| pipes | blue%7Cblack%7Cbrown |
"""
PLACES: dict[str, tuple[str, ...]] = {
    "matrix": ("path",), "label": ("path",), "simple": ("path", "header"), "form": ("query", "cookie"),
    "spaceDelimited": ("query",), "pipeDelimited": ("query",), "deepObject": ("query",), "cookie": ("cookie",),
}  # fmt: skip
Case = tuple[str, str, str, str, object, str]


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]


def cases(version: str, table: str) -> list[Case]:
    """Each cell that says what is written, in each place where its style may be."""
    found: list[Case] = []
    for style, explode, *written in rows(table):
        for value, text in zip((STRING, ARRAY, OBJECT), written[1:], strict=True):
            if text not in {"_n/a_", "_empty_"}:
                found += [(version, style, explode, place, value, text) for place in PLACES[style]]
    return found


def shown(got: Got, place: str) -> str | None:
    """What stands in a place of a request, as the tables write it."""
    if place == "path":
        return got.path.removeprefix("/things/")
    return got.query if place == "query" else got.header("color" if place == "header" else "cookie")


@pytest.mark.parametrize(
    ("version", "style", "explode", "place", "value", "text"),
    [*cases("3.0.4", TABLE_3_0), *cases("3.1.1", TABLE_3_0), *cases("3.2.0", TABLE_3_2)],
)
def test_what_is_sent_is_what_the_table_of_its_version_says(
    version: str, style: str, explode: str, place: str, value: object, text: str
) -> None:
    said: dict[str, object] = {} if explode == "_n/a_" else {"explode": explode == "true"}
    declared = {"name": "color", "in": place, "required": True, "schema": {}, "style": style, **said}
    path = "/things/{color}" if place == "path" else "/things"
    written = shown(sent(get(declared, path=path, openapi=version), "read", color=value), place)
    if place == "cookie":
        # What the table has for a query no cookie may hold: each pair is one of its own (3.2, appendix D).
        assert written == text.removeprefix("?").replace("&", "; ")
    else:
        assert written == text.removeprefix("?")


def test_the_tables_have_every_style() -> None:
    styles = {style for table in (TABLE_3_0, TABLE_3_2) for style, *_ in rows(table)}
    assert {*styles, "tabDelimited"} == set(get_args(Style))
    assert [len(cases("", table)) for table in (TABLE_3_0, TABLE_3_2)] == [41, 45]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("query", "color=blue&color=black&color=brown"),
        ("path", "blue,black,brown"),
        ("header", "blue,black,brown"),
        ("cookie", "color=blue; color=black; color=brown"),
    ],
)
def test_styles_that_are_not_said_are_those_of_the_specification(place: str, text: str) -> None:
    declared = {"name": "color", "in": place, "required": True, "schema": {"type": "array"}}
    path = "/things/{color}" if place == "path" else "/things"
    assert shown(sent(get(declared, path=path), "read", color=ARRAY), place) == text


@pytest.mark.parametrize(("style", "text"), [("spaceDelimited", "color=a%20b"), ("pipeDelimited", "color=a%7Cb")])
def test_other_styles_than_form_do_not_explode_unless_that_is_said(style: str, text: str) -> None:
    assert sent(get(a("color", schema={"type": "array"}, style=style)), "read", color=["a", "b"]).query == text


@pytest.mark.parametrize(("style", "explode", "empty"), [(row[0], row[1] == "true", row[2]) for row in rows(TABLE_3_0)])
def test_of_nothing_there_is_nothing_and_of_an_empty_text_what_the_table_says(
    style: Style, explode: bool, empty: str
) -> None:
    """None leaves a parameter out, as RFC 6570 has it (2.3); an empty text is a value, unless a path needs more."""
    if PLACES[style][0] == "query":
        declared = a("color", style=style, explode=explode, schema={})
        assert sent(get(declared), "read", color=None).query == ""
        assert style != "form" or sent(get(declared), "read", color="").query == empty.removeprefix("?")
        return
    declared = {"name": "color", "in": "path", "required": True, "schema": {}, "style": style, "explode": explode}
    document = get(declared, path="/things/{color}")
    assert "cannot be left out" in refused(document, "read", color=None).message
    if style == "matrix":
        assert sent(document, "read", color="").path == f"/things/{empty}"
    elif style == "label":  # alone between slashes it would be the folder itself
        assert in_path(parameter("path", style, explode=explode), "") == empty
        assert "another operation" in refused(document, "read", color="").message
    else:
        assert "cannot be empty" in refused(document, "read", color="").message


FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"


def collected(place: str, collection: object, consumes: str = FORM) -> dict[str, object]:
    """A document of 2.0 with one list."""
    name = {"name": "color", "in": place, "type": "array", "items": {"type": "string"}, "required": True}
    declared = name if collection is None else {**name, "collectionFormat": collection}
    answers = {"200": {"description": "fine"}}
    operation = {"operationId": "read", "parameters": [declared], "responses": answers, "consumes": [consumes]}
    path = "/things/{color}" if place == "path" else "/things"
    return {"swagger": "2.0", "host": "api.test", "paths": {path: {"post": operation}}}


@pytest.mark.parametrize("place", ["path", "query", "header", "formData"])
@pytest.mark.parametrize(("collection", "text"), [*map(tuple, rows(TABLE_2_0)), (None, "blue,black,brown")])
def test_collection_formats_of_2_0(place: str, collection: str | None, text: str) -> None:
    got = sent(collected(place, collection), "read", color=ARRAY)
    if place == "formData":
        assert got.body == f"color={text}".encode()
        multipart = sent(collected(place, collection, MULTIPART), "read", color=ARRAY).body
        assert multipart.count(b'name="color"') == 1
        assert f"\r\n\r\n{unquote(text)}\r\n".encode() in multipart
    elif place == "header":
        assert got.header("color") == unquote(text)
    else:
        assert shown(got, place) == (f"color={text}" if place == "query" else text)


def test_multi_is_once_for_each_value() -> None:
    assert sent(collected("query", "multi"), "read", color=ARRAY).query == "color=blue&color=black&color=brown"
    assert sent(collected("formData", "multi"), "read", color=ARRAY).body == b"color=blue&color=black&color=brown"
    body = sent(collected("formData", "multi", MULTIPART), "read", color=ARRAY).body
    assert body.count(b'form-data; name="color"') == 3


@pytest.mark.parametrize(
    ("place", "collection"), [("path", "multi"), ("header", "multi"), ("query", "tabs"), ("query", 3)]
)
def test_a_collection_format_that_cannot_be_costs_its_operation(place: str, collection: object) -> None:
    api = compiled(json.dumps(collected(place, collection)).encode())
    assert "`collectionFormat:" in api.excluded["read"]


@pytest.mark.parametrize("value", ["a\tb", "a\nb"])
def test_a_tab_stands_between_values_and_nowhere_else(value: str) -> None:
    made = parameter("header", "tabDelimited")
    assert in_header(made, ["a", "b"]) == "a\tb"
    with pytest.raises(UnsendableError, match="header"):
        in_header(made, [value, "c"])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a/b c?d#e%ü", "a%2Fb%20c%3Fd%23e%25%C3%BC"),
        (["a,b", "c"], "a%2Cb,c"),
        (True, "true"),
        (5.0, "5"),
        (0.1, "0.1"),
        (-3, "-3"),
    ],
)
def test_values_in_the_path(value: object, written: str) -> None:
    assert in_path(parameter("path", "simple"), value) == written


@pytest.mark.parametrize(
    ("style", "explode", "value", "written"),
    [
        ("form", True, [], ""),
        ("form", False, [], ""),
        ("spaceDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("pipeDelimited", True, ARRAY, "color=blue&color=black&color=brown"),
        ("deepObject", False, OBJECT, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
        ("deepObject", True, {"a": {"b": ["x", "y"]}}, "color%5Ba%5D%5Bb%5D%5B%5D=x&color%5Ba%5D%5Bb%5D%5B%5D=y"),
        ("deepObject", True, [{"a": 1}], "color%5B0%5D%5Ba%5D=1"),
        ("form", True, "a&b=c+d e", "color=a%26b%3Dc%2Bd%20e"),
    ],
)
def test_in_the_query(style: Style, explode: bool, value: object, written: str) -> None:
    """What the tables leave open, and values that have to be encoded."""
    items = in_query(parameter("query", style, explode=explode), value)
    assert "&".join(f"{name}={text}" for name, text in items) == written


def test_the_name_is_encoded_too() -> None:
    assert in_query(parameter("query", "form", name="filter[a&b]"), "x") == [("filter%5Ba%26b%5D", "x")]


@pytest.mark.parametrize(
    ("location", "value", "written"),
    [
        ("query", "a/b:c,d?e@f", "a/b:c,d?e@f"),
        ("query", "a&b=c#d+e[f]", "a%26b%3Dc%23d%2Be%5Bf%5D"),
        ("query", "a%2Fb%zz%", "a%2Fb%25zz%25"),
        ("path", "a/b;c=d", "a%2Fb;c=d"),
        ("path", "a?b#c[d]", "a%3Fb%23c%5Bd%5D"),
        ("path", "a%2fb", "a%2fb"),
        ("cookie", "a/b=c&d;e,f g", "a/b=c&d%3Be%2Cf%20g"),
    ],
)
def test_reserved_characters_pass_as_far_as_they_end_nothing(location: Location, value: str, written: str) -> None:
    made = parameter(location, "simple" if location == "path" else "form", reserved=True)
    write = in_cookie if location == "cookie" else in_query
    assert (in_path(made, value) if location == "path" else write(made, value)[0][1]) == written


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
