from __future__ import annotations

from dataclasses import replace

import pytest

from isolith_bindings.egress import Response
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.model import Operation, Parameter, Schema
from isolith_bindings.openapi.pagination import following, items_of, pageable, turned
from isolith_bindings.openapi.plan import RequestPlan
from isolith_bindings.secrets import remember

Pairs = tuple[tuple[str, str | None], ...]


def operation(*names: str, method: str = "GET", **defaults: int) -> Operation:
    def schema(name: str) -> Schema:
        return {"default": defaults[name]} if name in defaults else {}

    parameters = tuple(
        Parameter(name, name, "query", required=False, schema=schema(name), style="form", explode=True)
        for name in names
    )
    return Operation(
        "things",
        "things",
        method,
        "/things",
        ("https://api.test",),
        "",
        (),
        deprecated=False,
        parameters=parameters,
        body=None,
        answers=(),
        arguments=True,
        returns=None,
    )


def plan_of(*query: tuple[str, str | None]) -> RequestPlan:
    return RequestPlan("things", "GET", "https://api.test", "/things", query)


def answered(value: object, *headers: tuple[str, str], of: Operation, query: Pairs = ()) -> list[list[str]] | None:
    return following(plan_of(*query), of, Response(200, headers, b"", truncated=False, url=""), value)


PAGED = operation("page", "per_page", "state")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("page",), True), (("per_page",), True), (("offset", "limit"), True), (("cursor",), True), (("page[after]",), True), (("pageToken",), True), (("starting_after",), True), (("continue",), True),
        (("limit",), False), (("first",), False), (("q", "state"), False), ((), False), (("pages",), False), (("homepage",), False),
    ],
)  # fmt: skip
def test_which_operations_have_pages(names: tuple[str, ...], expected: bool) -> None:
    assert pageable(operation(*names)) is expected
    assert not pageable(operation(*names, method="POST"))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (
            '<https://api.test/things?page=2&per_page=30>; rel="next", <https://api.test/things?page=9>; rel="last"',
            [["page", "2"], ["per_page", "30"]],
        ),
        ("<https://api.test/repositories/7/issues?page=2>; rel=next", [["page", "2"]]),
        ('</things?page=2>; title="a, b; rel=prev"; rel="nofollow next"', [["page", "2"]]),
        ('<?page=2>;REL="NEXT"', [["page", "2"]]),
        ("<https://evil.test/steal?page=2>; rel=next", [["page", "2"]]),
        ('<https://api.test/things?page=1>; rel="prev"', None),
        ('<https://api.test/things?page=1>; rel="first"', None),
        ("<https://api.test/things?after=%C3%A9%20x&page=2>; rel=next", [["after", "é x"], ["page", "2"]]),
        ("<http://[broken>; rel=next", None),
    ],
)
def test_by_a_link_header(header: str, expected: list[list[str]] | None) -> None:
    assert answered([1] * 30, ("Link", header), of=PAGED) == expected


def test_the_path_of_a_link_is_not_followed() -> None:
    cursor = answered(
        [1], ("Link", "<https://evil.test/steal?page=2&state=closed>; rel=next"), of=PAGED, query=(("state", "open"),)
    )
    plan = turned(plan_of(("state", "open"), ("page", "1")), PAGED, cursor)
    assert plan.url == "https://api.test/things?state=open&page=2"


def test_pages_are_not_counted_up_in_a_parameter_of_several_values() -> None:
    whole = operation("page")
    deep = replace(whole, parameters=tuple(replace(each, style="deepObject") for each in whole.parameters))
    assert answered([1] * 30, of=deep) is None
    listed = replace(whole, parameters=tuple(replace(each, schema={"type": "array"}) for each in whole.parameters))
    assert answered([1] * 30, of=listed) is None
    assert answered({"links": {"next": "/things?page[number]=2"}, "data": [1]}, of=deep) == [["page[number]", "2"]]


def test_several_link_headers_and_hostile_ones() -> None:
    assert answered([1], ("Link", "<?page=1>; rel=prev"), ("link", "<?page=3>; rel=next"), of=PAGED) == [["page", "3"]]
    assert answered([1], ("Link", "<" * 100_000), of=operation("cursor")) is None
    assert answered([1], ("Link", ";" * 100_000 + "<x>;" + "a=;" * 50_000), of=operation("cursor")) is None
    assert answered([1], ("Link", f"<?page={'9' * 20_000}>; rel=next"), of=PAGED) is None
    assert answered([1], ("Link", f"<?{'&'.join(f'a{n}=1' for n in range(1000))}>; rel=next"), of=PAGED) is None


CURSOR = operation("cursor", "limit")


@pytest.mark.parametrize(
    ("names", "value", "expected"),
    [
        (("cursor",), {"items": [1], "next_cursor": "abc"}, [["cursor", "abc"]]),
        (("cursor",), {"items": [1], "next_cursor": ""}, None),
        (("cursor",), {"items": [1], "next_cursor": None}, None),
        (("cursor",), {"channels": [1], "response_metadata": {"next_cursor": "abc="}}, [["cursor", "abc="]]),
        (("pageToken",), {"files": [1], "nextPageToken": "t"}, [["pageToken", "t"]]),
        (("page_token",), {"files": [1], "nextPageToken": "t"}, [["page_token", "t"]]),
        (("continue", "limit"), {"kind": "PodList", "metadata": {"continue": "tok", "remainingItemCount": 3}, "items": [1]}, [["continue", "tok"]]),
        (("after",), {"results": [1], "paging": {"next": {"after": "55", "link": "https://evil.test/?after=66"}}}, [["after", "55"]]),
        (("after",), {"data": [1], "paging": {"cursors": {"before": "a", "after": "b"}}}, [["after", "b"]]),
        (("cursor",), {"nodes": [1], "pageInfo": {"endCursor": "e", "hasNextPage": True}}, [["cursor", "e"]]),
        (("cursor",), {"result": [1], "result_info": {"cursors": {"after": "c"}}}, [["cursor", "c"]]),
        (("starting_after", "limit"), {"object": "list", "data": [{"id": "a"}, {"id": "b"}], "has_more": True}, [["starting_after", "b"]]),
        (("starting_after", "limit"), {"object": "list", "data": [{"id": "a"}], "has_more": False}, None),
        (("starting_after", "limit"), {"object": "list", "data": [], "has_more": True}, None),
        (("offset", "limit"), {"count": 99, "next": "https://api.test/things?limit=5&offset=5", "results": [1] * 5}, [["limit", "5"], ["offset", "5"]]),
        (("offset", "limit"), {"count": 99, "next": None, "results": []}, None),
        (("$skiptoken",), {"value": [1], "@odata.nextLink": "https://api.test/things?$skiptoken=X"}, None),
        (("page",), {"_links": {"next": {"href": "/things?page=2"}}, "items": [1]}, [["page", "2"]]),
        (("page",), {"links": {"next": "/things?page=2"}, "data": [1]}, [["page", "2"]]),
        (("page",), {"next_page": 2, "data": [1]}, [["page", "2"]]),
        (("page",), {"next_page": None, "data": [1], "total_pages": 1}, None),
        (("page",), {"count": 9, "next": None, "previous": "/things?page=1", "results": [1]}, None),
        (("offset", "limit"), {"links": {"next": None}, "data": [1]}, None),
        (("page",), {"meta": {"pagination": {"links": {"next": "x"}, "total_pages": 4}}, "data": [1]}, [["page", "2"]]),
    ],
)  # fmt: skip
def test_by_what_the_answer_says(names: tuple[str, ...], value: object, expected: list[list[str]] | None) -> None:
    assert answered(value, of=operation(*names)) == expected


@pytest.mark.parametrize(
    ("of", "query", "value", "expected"),
    [
        (PAGED, (), [1] * 30, [["page", "2"]]),
        (PAGED, (("page", "2"), ("per_page", "30")), [1] * 30, [["page", "3"]]),
        (PAGED, (("page", "2"), ("per_page", "30")), [1] * 29, None),
        (PAGED, (("page", "2"),), [], None),
        (PAGED, (("page", "x"),), [1], [["page", "2"]]),
        (operation("page", "size", page=0), (("size", "2"),), [1, 1], [["page", "1"]]),
        (operation("page", "per_page", page=1, per_page=2), (), [1, 1], [["page", "2"]]),
        (operation("page", "per_page", page=1, per_page=2), (), [1], None),
        (PAGED, (("page", "3"),), {"data": [1], "total_pages": 3}, None),
        (PAGED, (("page", "2"),), {"data": [1], "meta": {"last_page": 3}}, [["page", "3"]]),
        (PAGED, (("page", "2"), ("per_page", "10")), {"data": [1] * 10, "total": 20}, None),
        (PAGED, (("page", "2"), ("per_page", "10")), {"data": [1] * 10, "total": 21}, [["page", "3"]]),
        (operation("offset", "limit"), (), [1] * 7, [["offset", "7"]]),
        (operation("offset", "limit"), (("offset", "7"), ("limit", "7")), [1] * 7, [["offset", "14"]]),
        (operation("offset", "limit"), (("offset", "7"), ("limit", "7")), [1] * 6, None),
        (operation("offset", "limit"), (("offset", "7"),), {"items": [1] * 6, "total": 13}, None),
        (operation("offset", "limit"), (("limit", "9"),), {"items": [1] * 6, "total": 13}, [["offset", "6"]]),
        (operation("offset", "limit"), (), {"items": [1], "has_more": False}, None),
        (operation("startIndex", "count"), (), {"items": [1, 1]}, [["startIndex", "2"]]),
        (PAGED, (), {"name": "one thing"}, None),
        (PAGED, (), "text", None),
        (PAGED, (), None, None),
        (operation("per_page"), (), [1] * 30, None),
        (CURSOR, (), [1] * 30, None),
    ],
)  # fmt: skip
def test_by_counting(of: Operation, query: Pairs, value: object, expected: list[list[str]] | None) -> None:
    assert answered(value, of=of, query=query) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([1, 2], [1, 2]),
        ({"items": [1], "errors": []}, [1]),
        ({"total": 1, "widgets": [1]}, [1]),
        ({"data": {"items": [1], "total": 1}}, [1]),
        ({"data": {"widgets": [1]}}, [1]),
        ({"a": [1], "b": [2]}, [{"a": [1], "b": [2]}]),
        ({"id": 1}, [{"id": 1}]),
        (None, []),
        ("x", ["x"]),
    ],
)
def test_the_items_of_a_page(value: object, expected: list[object]) -> None:
    assert items_of(value) == expected


def test_a_cursor_that_leads_nowhere_new_is_the_end() -> None:
    assert answered({"items": [1], "next_cursor": "same"}, of=CURSOR, query=(("cursor", "same"),)) is None
    assert answered([1], ("Link", "<?page=2>; rel=next"), of=PAGED, query=(("page", "2"),)) is None


def test_pages_to_the_end() -> None:
    items = [{"id": str(number)} for number in range(7)]
    plan, seen = plan_of(("limit", "3")), list[object]()
    of = operation("starting_after", "limit")
    cursor: object = None
    for _ in range(10):
        page = turned(plan, of, cursor)
        sent = dict(page.query)
        start = int(sent.get("starting_after") or -1) + 1
        value = {"data": items[start : start + 3], "has_more": start + 3 < len(items)}
        seen += items_of(value)
        cursor = following(page, of, Response(200, (), b"", truncated=False, url=""), value)
        if cursor is None:
            break
    assert seen == items


def test_a_turned_request_differs_in_its_query_only() -> None:
    plan = replace(plan_of(("state", "a%20b"), ("page", "1"), ("flag", None)), body=b"x")
    assert turned(plan, PAGED, None) == plan
    assert turned(plan, PAGED, [["page", "2&x=1"], ["page[after]", "é"]]).query == (
        ("state", "a%20b"),
        ("flag", None),
        ("page", "2%26x%3D1"),
        ("page[after]", "%C3%A9"),
    )


@pytest.mark.parametrize(
    "cursor",
    [
        "abc",
        7,
        {"page": "2"},
        [["page"]],
        [["page", 2]],
        ["page", "2"],
        [["page", "2", "3"]],
        [["page", "x" * 20_000]],
        [["a", "b"]] * 65,
        [None],
    ],
)
def test_what_is_no_cursor_is_refused(cursor: object) -> None:
    with pytest.raises(CallError, match="a cursor is what the page before gave for the next") as caught:
        turned(plan_of(), PAGED, cursor)
    assert caught.value.kind == "invalid_arguments"


def test_a_forged_cursor_cannot_change_another_argument() -> None:
    with pytest.raises(CallError, match="a cursor cannot change the parameter 'state'"):
        turned(plan_of(("state", "open")), PAGED, [["page", "2"], ["state", "all"]])


def test_a_link_that_repeats_the_credential_does_not_give_it_to_the_script() -> None:
    remember("canary-a1a1-in-a-link")
    link = "<https://api.test/things?api_key=canary-a1a1-in-a-link&page=2>; rel=next"
    assert answered([1], ("Link", link), of=PAGED) == [["page", "2"]]
