"""Lists in lists of Swagger 2.0: each level in its own collection format, the innermost first."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, unquote_plus

import pytest
from tests.bindings.openapi.bench import compiled
from tests.bindings.openapi.exchanges import refused, sent
from tests.bindings.openapi.taken_apart import found_in

if TYPE_CHECKING:
    from tests.bindings.openapi.loopback import Got

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
# "csv - comma separated values, ssv - space separated values, tsv - tab separated values, pipes - pipe separated values"
DELIMITERS = {"csv": ",", "ssv": "%20", "tsv": "%09", "pipes": "%7C"}
PLACES = ["path", "query", "header", "formData", "multipart"]
PLAIN = [["a", "b"], ["c"], ["d", "e"]]
WILD = [["a,b", "c d"], ["e|f"], ["g\th", "ü&="]]


def nested(*formats: object, place: str = "query", kind: str = "string") -> dict[str, object]:
    """A document of 2.0 with lists in lists, from the outside in."""
    items: dict[str, object] = {"type": kind}
    for collection in reversed(formats):
        items = {"type": "array", "items": items} | ({"collectionFormat": collection} if collection else {})
    within = "formData" if place == "multipart" else place
    operation = {
        "operationId": "read",
        "consumes": [MULTIPART if place == "multipart" else FORM],
        "parameters": [{"name": "l", "in": within, "required": True, **items}],
        "responses": {"200": {"description": "fine"}},
    }
    path = "/things/{l}" if place == "path" else "/things"
    return {"swagger": "2.0", "host": "api.test", "paths": {path: {"post": operation}}}


def written(got: Got, place: str) -> str:
    """The whole value where it stands, encoded as there."""
    if place == "path":
        return got.path.removeprefix("/things/")
    if place == "header":
        return str(got.header("l"))
    if place == "multipart":
        [(head, content)] = found_in(got)
        assert head["content-disposition"] == 'form-data; name="l"'
        return cast("bytes", content).decode()
    text = got.query if place == "query" else got.body.decode()
    assert text.startswith("l=")
    return text.removeprefix("l=")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("outer", "inner"), list(product(DELIMITERS, DELIMITERS)))
def test_the_inner_lists_are_written_in_their_format_and_these_in_the_outer_one(
    place: str, outer: str, inner: str
) -> None:
    text = DELIMITERS[outer].join(DELIMITERS[inner].join(each) for each in PLAIN)
    text = unquote(text) if place in {"header", "multipart"} else text
    assert written(sent(nested(outer, inner, place=place), "read", l=PLAIN), place) == text


@pytest.mark.parametrize("place", ["path", "query", "formData"])
@pytest.mark.parametrize(("outer", "inner"), [pair for pair in product(DELIMITERS, DELIMITERS) if len(set(pair)) == 2])
def test_values_come_back_whatever_else_is_in_them(place: str, outer: str, inner: str) -> None:
    # Blanks, tabs and bars are the same characters in a value and between values; a comma is encoded in a value only.
    held = {ord(unquote(DELIMITERS[each])): "_" for each in (outer, inner) if each != "csv"}
    value = [[text.translate(held) for text in texts] for texts in WILD]
    text = written(sent(nested(outer, inner, place=place), "read", l=value), place)
    lists = [each.split(DELIMITERS[inner]) for each in text.split(DELIMITERS[outer])]
    plain = unquote_plus if place == "formData" else unquote
    assert [[plain(each) for each in texts] for texts in lists] == value


@pytest.mark.parametrize("inner", DELIMITERS)
def test_multi_repeats_the_name_for_each_inner_list(inner: str) -> None:
    parts = [DELIMITERS[inner].join(each) for each in PLAIN]
    assert sent(nested("multi", inner), "read", l=PLAIN).query == "&".join(f"l={each}" for each in parts)
    form = sent(nested("multi", inner, place="formData"), "read", l=PLAIN)
    assert form.body.decode() == "&".join(f"l={each}" for each in parts)
    found = found_in(sent(nested("multi", inner, place="multipart"), "read", l=PLAIN))
    assert [content for _, content in found] == [unquote(each).encode() for each in parts]


def test_the_usual_format_of_each_level_is_commas_and_there_may_be_more_than_two() -> None:
    assert sent(nested(None, None), "read", l=PLAIN).query == "l=a,b,c,d,e"
    numbers = [[[1, 2], [3]], [[4]]]
    assert sent(nested("pipes", "ssv", None, kind="integer"), "read", l=numbers).query == "l=1,2%203%7C4"
    assert "`l[0][0][0]`" in refused(nested("pipes", "ssv", None, kind="integer"), "read", l=[[["a"]]]).message


@pytest.mark.parametrize(
    ("formats", "place"),
    [
        (("csv", "multi"), "query"),
        (("multi", "multi"), "query"),
        (("multi", "multi"), "formData"),
        (("csv", "commas"), "query"),
        (("csv", 3), "header"),
        (("multi", "csv"), "path"),
        (("multi", "csv"), "header"),
        (("csv", "csv", "multi"), "query"),
        (("csv",) * 30, "query"),
    ],
)
def test_what_is_no_format_of_an_inner_list_costs_its_operation(formats: tuple[object, ...], place: str) -> None:
    api = compiled(json.dumps(nested(*formats, place=place)).encode())
    assert list(api.excluded) == ["read"]
    assert "`collectionFormat:" in api.excluded["read"] or "lists in lists deeper" in api.excluded["read"]


@pytest.mark.parametrize("value", ["a\tb", "a\nb", "ü"])
def test_a_header_has_tabs_between_values_only(value: str) -> None:
    document = nested("tsv", "pipes", place="header")
    assert sent(document, "read", l=[["a", "b"], ["c"]]).header("l") == "a|b\tc"
    assert "printable ASCII only" in refused(document, "read", l=[["a"], [value]]).message


def test_later_versions_have_no_form_for_lists_in_lists() -> None:
    inner = {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "collectionFormat": "pipes"}}
    parameter = {"name": "l", "in": "query", "schema": inner}
    operation = {"operationId": "read", "parameters": [parameter], "responses": {"200": {"description": "fine"}}}
    document = {"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {"/things": {"get": operation}}}
    assert "cannot be written inside of this parameter" in refused(document, "read", l=PLAIN).message
