"""Parts by position, as another parser and another validator read them: the examples of OpenAPI 3.2, and made-up ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bindings.openapi.exchanges import post, sent
from tests.bindings.openapi.parts_judge import Judge, Sent, read, taken_apart

if TYPE_CHECKING:
    from tests.bindings.openapi.loopback import Got

Made = tuple[dict[str, Any], dict[str, Any], object, object]
"""The schema and the encoding of a part, what a script gives for it, and what is in it."""


def document_of(media: str, said: dict[str, Any], components: object = None) -> dict[str, Any]:
    made = post({"required": True, "content": {media: said}})
    return {**made, "openapi": "3.2.0", "components": components or {}}


def judged(media: str, said: dict[str, Any], value: list[object], components: object = None) -> tuple[Got, list[str]]:
    document = document_of(media, said, components)
    got = sent(document, "make", body=value)
    return got, Judge(document).problems(media, said, str(got.header("content-type")), got.body)


# ------------------------------------------------------------------------------------------- parts of every kind


def part(schema: object, encodings: list[object], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Made]:
    return st.tuples(st.just(schema), st.sampled_from(encodings), values).map(lambda made: (*made, made[2]))  # type: ignore[arg-type, return-value]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(["\r\n--", "--b--\r\n", "\n"])
OBJECT = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
PLAIN = st.one_of(
    part(OBJECT, [{}, {"contentType": "application/vnd.a+json"}], st.fixed_dictionaries({"a": st.integers()})),
    part({"type": "array", "items": {"type": "integer"}}, [{}], st.lists(st.integers())),
    part({"type": "string"}, [{}, {"contentType": "text/csv, text/html"}], TEXT),
    part({"type": "integer"}, [{}, {"contentType": "text/plain"}], st.integers()),
    part({"type": "number"}, [{}], st.floats(allow_nan=False, allow_infinity=False, width=32)),
    part({"type": "boolean"}, [{}], st.booleans()),
    part({}, [{}, {"contentType": "image/png"}, {"contentType": "*/*"}], st.binary(max_size=60)),
    part({"type": "string", "contentEncoding": "base64"}, [{}], st.just("YQ==")),
)
HEADERS: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "X-Kind": ({"schema": {"type": "string", "maxLength": 9}}, st.text(st.sampled_from("ab: ;=\"'~"), max_size=7).map(lambda text: f"a{text}b")),
    "X-Number": ({"required": True, "schema": {"type": "integer"}}, st.integers()),
    "X-Codes": ({"schema": {"type": "array", "items": {"type": "integer"}}}, st.lists(st.integers(), min_size=1, max_size=3)),
    "X-Fixed": ({"required": True, "schema": {"const": "v"}}, st.none()),
    "Content-Type": ({"schema": {"const": "text/evil"}}, st.none()),
}  # fmt: skip


@st.composite
def with_headers(draw: st.DrawFn, plain: st.SearchStrategy[Made]) -> Made:
    schema, encoding, given_, inside = draw(plain)
    names = draw(st.lists(st.sampled_from(sorted(HEADERS)), unique=True))
    values = {name: draw(HEADERS[name][1]) for name in names}
    values = {name: value for name, value in values.items() if value is not None}
    described = {"headers": {name: HEADERS[name][0] for name in names}} if names else {}
    whole = {"content": given_, "headers": values} if values else given_
    return schema, {**encoding, **described}, whole, inside


@st.composite
def multipart(draw: st.DrawFn, parts: st.SearchStrategy[Made]) -> Made:
    first = draw(st.lists(parts, min_size=1, max_size=3))
    encoding = {"contentType": "multipart/mixed", "prefixEncoding": [each[1] for each in first]}
    schema = {"type": "array", "prefixItems": [each[0] for each in first]}
    return schema, encoding, [each[2] for each in first], [each[3] for each in first]


PARTS = with_headers(PLAIN) | multipart(with_headers(PLAIN))


@st.composite
def bodies(draw: st.DrawFn) -> tuple[dict[str, Any], list[object], list[object]]:
    """A Media Type Object, what is given, and what is in the parts: some in front, any number of one kind behind."""
    first = draw(st.lists(PARTS, max_size=4))
    schema, encoding, *_ = behind = draw(with_headers(PLAIN))
    count = draw(st.integers(0 if first else 1, 3))
    said = {
        "schema": {"type": "array", "prefixItems": [each[0] for each in first], "items": schema},
        "prefixEncoding": [each[1] for each in first],
        "itemEncoding": encoding,
    }
    every = [*first, *([behind] * count)]
    return said, [each[2] for each in every], [each[3] for each in every]


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies(), st.sampled_from(["multipart/mixed", "multipart/related", "multipart/x-own"]))
def test_what_is_sent_by_position_is_what_the_document_says(
    made: tuple[dict[str, Any], list[object], list[object]], media: str
) -> None:
    said, value, inside = made
    got, problems = judged(media, said, value)
    assert problems == []
    assert contents(taken_apart(str(got.header("content-type")), got.body), said) == inside


def contents(parts: list[Sent], said: dict[str, Any]) -> list[object]:
    schema, encodings = said["schema"], said.get("prefixEncoding", [])
    first = schema.get("prefixItems", [])
    found: list[object] = []
    for at, each in enumerate(parts):
        one = first[at] if at < len(first) else schema.get("items", {})
        if each.headers.get("content-type", "").startswith("multipart/"):
            inner = taken_apart(each.headers["content-type"], each.content)
            found.append(contents(inner, {"schema": one, "prefixEncoding": encodings[at].get("prefixEncoding", [])}))
        else:
            found.append(read(each, one))
    return found


# ------------------------------------------------------------------------ the specification's own, and mistakes told

LOCATION = {"required": True, "schema": {"type": "string", "format": "uri"}}
EXAMPLES: dict[str, tuple[str, dict[str, Any], list[object]]] = {
    "Ordered, Unnamed Multipart": (
        "multipart/mixed",
        {"schema": {"prefixItems": [{"type": "object"}, {}]}, "prefixEncoding": [{}, {"contentType": "image/*"}]},
        [{"author": "Ada"}],
    ),
    "Ordered Multipart With Required Header": (
        "multipart/related",
        {
            "schema": {"prefixItems": [{"type": "string"}], "items": {"anyOf": [{"type": "string"}, {}]}},
            "prefixEncoding": [{"contentType": "text/html", "headers": {"Content-Location": LOCATION}}],
            "itemEncoding": {"contentType": "text/css,text/javascript,image/*", "headers": {"Content-Location": LOCATION}},
        },
        [{"content": text, "headers": {"Content-Location": f"http://a.test/{at}"}} for at, text in enumerate(["<p>", "p {}", "1"])],
    ),
    "Streaming Multipart": (
        "multipart/mixed",
        {"itemSchema": {"$comment": "A single data image from the device"}, "itemEncoding": {"contentType": "image/jpg"}},
        [b"1", b"\r\n--", b""],
    ),
    "Streaming byte ranges": (
        "multipart/byteranges",
        {"itemSchema": {"$comment": "A single range"}, "itemEncoding": {"contentType": "application/pdf", "headers": {"Content-Range": {"required": True, "schema": {"$ref": "#/components/schemas/Range"}}}}},
        [{"content": b"%PDF", "headers": {"Content-Range": "bytes 0-3/9"}}],
    ),
    "Nested multipart/mixed": (
        "multipart/mixed",
        {
            "schema": {"prefixItems": [{"type": "array"}, {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}, {}]}]},
            "prefixEncoding": [{}, {"contentType": "multipart/mixed", "prefixEncoding": [{"contentType": "application/xml"}, {}, {"contentType": "image/png"}]}],
        },
        [[], ["<a/>", "t", b"\x89"]],
    ),
}  # fmt: skip
SHARED = {"schemas": {"Range": {"type": "string", "pattern": r"^bytes \d+-\d+/\d+$"}}}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_specification_are_sent_as_it_says(name: str) -> None:
    media, said, value = EXAMPLES[name]
    got, problems = judged(media, said, value, SHARED)
    assert problems == []
    assert len(taken_apart(str(got.header("content-type")), got.body)) == len(value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ((b"http://a.test/1", b""), "the header content-location is missing"),
        ((b"Content-Location: http://a.test/1", b"X-Other: 1"), "nothing describes the header x-other"),
        ((b"text/html", b"text/plain"), "part 0: it is text/plain"),
        ((b"text/css", b"text/csv"), "part 1: it is text/csv"),
        ((b"multipart/related", b"multipart/mixed"), "the body is multipart/mixed"),
    ],
)
def test_the_judge_sees_what_is_wrong(change: tuple[bytes, bytes], told: str) -> None:
    media, said, value = EXAMPLES["Ordered Multipart With Required Header"]
    got, _ = judged(media, said, value)
    head = str(got.header("content-type")).replace(change[0].decode(), change[1].decode())
    body = got.body.replace(b"Content-Location: " + change[0] + b"\r\n", b"") if not change[1] else got.body
    problems = Judge({}).problems(media, said, head, body.replace(*change) if change[1] else body)
    assert any(told in each for each in problems), problems


def test_the_judge_sees_another_order() -> None:
    said = {"schema": {"type": "array", "prefixItems": [{"type": "object"}, {"type": "string"}], "items": False}}
    got, problems = judged("multipart/mixed", said, [{"a": 1}, "b"])
    assert problems == []
    first, second = taken_apart(str(got.header("content-type")), got.body)
    mark = b"--" + str(got.header("content-type")).partition("boundary=")[2].encode()
    written = [b"".join(f"{name}: {value}\r\n".encode() for name, value in each.headers.items()) + b"\r\n" + each.content for each in (second, first)]  # fmt: skip
    turned = b"".join(mark + b"\r\n" + each + b"\r\n" for each in written) + mark + b"--\r\n"
    wrong = Judge({}).problems("multipart/mixed", cast("dict[str, Any]", said), str(got.header("content-type")), turned)
    assert wrong == [
        "part 0: it is text/plain; charset=utf-8: application/json",
        "part 0: the content: 'b' is not of type 'object'",
        "part 1: it is application/json: text/plain",
        "part 1: the content: {'a': 1} is not of type 'string'",
    ]
