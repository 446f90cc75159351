from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING

import pytest

from isolith_bindings.egress import Response
from isolith_bindings.openapi.failures import MAX_BODY, MAX_SAID, failure
from isolith_bindings.openapi.plan import MAX_PATH, RequestPlan
from isolith_bindings.secrets import MASK, remember

if TYPE_CHECKING:
    from isolith_bindings.errors import CallError

NOW = 1_700_000_000.0
NESTED = '{"message": {"message": {"message": {"message": "deep"}}}}'
JSON = ("Content-Type", "application/json; charset=utf-8")


def failed(
    status: int, body: object = b"", *headers: tuple[str, str], method: str = "GET", truncated: bool = False
) -> CallError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = headers if isinstance(body, bytes) else (JSON, *headers)
    plan = RequestPlan("issues.create", method, "https://api.test", "/issues")
    return failure(plan, Response(status, told, content, truncated=truncated, url=plan.url), now=NOW)


def data_of(error: CallError) -> dict[str, object]:
    assert isinstance(error.data, dict)
    return error.data


def test_all_that_it_says() -> None:
    error = failed(
        422,
        {"message": "Validation\n Failed", "errors": [{"field": "title"}]},
        ("X-Request-Id", "r1"),
        ("Set-Cookie", "sid=1"),
        ("Server", "x"),
    )
    assert (error.kind, error.message) == (
        "tool_error",
        f"issues.create (GET /issues) was answered 422 {HTTPStatus(422).phrase}: Validation Failed",
    )
    assert error.data == {
        "status": 422,
        "reason": HTTPStatus(422).phrase,
        "headers": {"content-type": "application/json; charset=utf-8", "x-request-id": "r1"},
        "body": {"message": "Validation\n Failed", "errors": [{"field": "title"}]},
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "a"}, "a"),
        ({"detail": "a", "title": "b"}, "a"),
        ({"title": "b"}, "b"),
        ({"error": "invalid_grant", "error_description": "a"}, "a"),
        ({"error": {"message": "a", "code": 7}}, "a"),
        ({"errors": [{"detail": "a"}, {"detail": "b"}]}, "a; b"),
        ({"errors": [{"detail": each} for each in "abcde"]}, "a; b; c; and 2 more"),
        ({"errors": ["a"]}, "a"),
        ({"detail": {"why": "because", "code": 7}}, '{"why": "because", "code": 7}'),
        ({"detail": {"why": "x" * MAX_SAID}}, f'{{"why": "{"x" * (MAX_SAID - 12)}...'),
        ({"detail": [{"loc": ["body"], "msg": "x"}]}, "body: x"),
        (
            {"detail": [{"loc": ["query", "a"], "msg": "x"}, {"loc": ["body", "b", 0], "msg": "y"}]},
            "query.a: x; body.b.0: y",
        ),
        ({"name": ["required", "short"], "age": ["a number"]}, "name: required; short; age: a number"),
        ({each: ["no"] for each in "abcd"}, "a: no; b: no; c: no; and 1 more"),
        ({"items": [1, {"x": []}]}, '{"items": [1, {"x": []}]}'),
        ({"message": {"message": {"message": {"message": "deep"}}}}, NESTED),
        ({"code": 7}, '{"code": 7}'),
        ({"error": {"code": 7}}, '{"error": {"code": 7}}'),
        ({}, ""),
        ([], ""),
        ("a text", "a text"),
        (b"a  plain\ntext", "a plain text"),
        (b"<html><body>No</body></html>", ""),
        (b"", ""),
        (b"{broken", "{broken"),
        ({"message": "x" * 1000}, "x" * MAX_SAID),
    ],
)
def test_the_servers_own_words(body: object, said: str) -> None:
    error = failed(400, body)
    assert error.message == "issues.create (GET /issues) was answered 400 Bad Request" + (f": {said}" if said else "")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/books/50", "/books/50"),
        ("", "/"),
        ("/a%20b", "/a%20b"),
        ("/" + "x" * MAX_PATH, "/" + "x" * (MAX_PATH - 1) + "..."),
        ("/a/canary-of-a-path/b", f"/a/{MASK}/b"),
    ],
)
def test_which_request_it_was(path: str, told: str) -> None:
    remember("canary-of-a-path")
    plan = RequestPlan("get", "GET", "https://ada:pw@api.test", path, query=(("api_key", "canary-2"), ("page", "2")))
    error = failure(plan, Response(404, (), b"", truncated=False, url=plan.url))
    assert error.message == f"get (GET {told}) was answered 404 Not Found"


@pytest.mark.parametrize(
    ("status", "method", "retriable"),
    [
        (429, "POST", True),
        (503, "GET", True),
        (503, "POST", False),
        (502, "DELETE", True),
        (504, "PATCH", False),
        (500, "GET", False),
        (404, "GET", False),
        (408, "GET", True),
    ],
)
def test_whether_to_try_again(status: int, method: str, retriable: bool) -> None:
    assert failed(status, method=method).retriable is retriable


@pytest.mark.parametrize(
    ("status", "headers", "hint"),
    [
        (429, (("Retry-After", "60"),), "the server limits requests: come back in 60 s"),
        (
            403,
            (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Limit", "60"), ("X-RateLimit-Reset", "1700000900")),
            "the server limits requests: 0 of 60 requests are left, come back in 900 s",
        ),
        (403, (), "the connector's credential does not allow this"),
        (401, (), "the server does not accept the connector's credential; no argument changes that"),
        (409, (), "it changed meanwhile, or exists already: read it again first"),
        (400, (), None),
        (429, (), None),
    ],
)
def test_what_to_do(status: int, headers: tuple[tuple[str, str], ...], hint: str | None) -> None:
    error = failed(status, b"", *headers)
    assert error.hint == hint
    assert set(headers) <= {(name, value) for name, value in headers}
    kept = data_of(error)["headers"]
    assert kept == {name.lower(): value for name, value in headers}


def test_a_long_body_is_cut_and_says_so() -> None:
    for body in (b"x" * (MAX_BODY + 1), {"a": "x" * MAX_BODY}):
        data = data_of(failed(500, body))
        assert len(str(data["body"])) == MAX_BODY
        assert data["truncated"] is True
    assert data_of(failed(500, b"x", truncated=True))["truncated"] is True


@pytest.mark.parametrize("mime", ["image/png", "application/octet-stream", "application/zip"])
def test_bytes_are_no_text(mime: str) -> None:
    assert data_of(failed(500, b"\x89PNG", ("Content-Type", mime)))["body"] is None


def test_a_body_that_is_not_what_it_says_is_text() -> None:
    assert data_of(failed(500, b"<html>", JSON))["body"] == "<html>"
    assert data_of(failed(500, b"[" * 9000, JSON))["body"] == "[" * 9000
    deep = "[" * 1500 + "]" * 1500
    assert data_of(failed(500, deep.encode(), JSON))["body"] == deep
    assert data_of(failed(500, b"\xff\xfe"))["body"] == "\ufffd\ufffd"


def test_no_secret_is_in_it_wherever_the_server_puts_it() -> None:
    secret = "canary-e0d1-in-an-error"  # noqa: S105 - the point of it
    remember(secret)
    told = {"message": f"bad token {secret}", "nested": [{"token": secret}], "url": f"https://api.test/?k={secret}"}
    error = failed(
        401,
        told,
        ("WWW-Authenticate", f'Bearer realm="{secret}"'),
        ("Location", f"/?k={secret}"),
        ("X-RateLimit-Resource", secret),
    )
    assert MASK in error.message
    assert "canary" not in f"{error!r} {error.message} {error.data} {error.hint}"
    cut = failed(401, b"x" * (MAX_BODY - 8) + secret.encode())
    assert "canary" not in str(cut.data)


def test_a_status_of_nobody() -> None:
    assert failed(799).message == "issues.create (GET /issues) was answered 799"


def test_an_answer_as_deep_as_can_just_be_read_is_told() -> None:
    """One depth, where the stack ended between reading it and writing it into the message, was an error of ours."""
    for depth in range(900, 1000):
        error = failed(400, b'{"a":' * depth + b"1" + b"}" * depth, JSON)
        assert error.message.startswith("issues.create")


def test_a_secret_at_the_end_of_what_is_shown_of_a_path_is_not_shown_by_half() -> None:
    remember("canary-at-the-end")
    plan = RequestPlan("issues.create", "GET", "https://api.test", f"/{'x' * (MAX_PATH - 10)}canary-at-the-end")
    assert "can" not in plan.told
