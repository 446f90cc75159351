"""What no client of ours would send: each gets its status as problem+json, and leaves no trace."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from isolith.http import bodies
from isolith.http.problems import MEDIA_TYPE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.host.http.conftest import Api

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}

BODIES: dict[str, tuple[bytes, dict[str, str], int]] = {
    "nothing": (b"", JSON, 400),
    "no JSON": (b"{", JSON, 400),
    "no UTF-8": (b'{"script": "\xff"}', JSON, 400),
    "not a number": (b'{"script": "1", "input": NaN}', JSON, 400),
    "a name twice": (b'{"script": "1", "script": "2"}', JSON, 400),
    "nested deeply": (b'{"script": "1", "input": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", JSON, 400),
    "nested as deep as some Pythons read": (b'{"script": "1", "input": ' + b"[" * 1500 + b"]" * 1500 + b"}", JSON, 400),
    "a huge number": (b'{"script": "1", "input": ' + b"1" * 10_000 + b"}", JSON, 400),
    "a list": (b"[]", JSON, 422),
    "no script": (b"{}", JSON, 422),
    "more than is known": (b'{"script": "1", "principal": "root"}', JSON, 422),
    "another type": (b'{"script": 1}', JSON, 422),
    "a budget that is none": (b'{"script": "1", "budgets": {"cpu": 1}}', JSON, 422),
    "to wait for ever": (b'{"script": "1", "wait_s": 1e9}', JSON, 422),
    "a NUL": (b'{"script": "1", "session": "\\u0000"}', JSON, 422),
    "a form": (b"script=1", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "text": (b'{"script": "1"}', {"Content-Type": "text/plain"}, 415),
    "no type": (b'{"script": "1"}', {}, 415),
    "another charset": (b'{"script": "1"}', {"Content-Type": "application/json; charset=utf-16"}, 415),
    "compressed": (b"\x1f\x8b", {**JSON, "Content-Encoding": "gzip"}, 415),
}


@pytest.mark.parametrize("name", BODIES)
async def test_bodies(api: Api, name: str) -> None:
    content, headers, status = BODIES[name]
    answer = await api.ask("POST", "/v1/executions", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert (answer.headers["content-type"], problem["status"], problem["kind"]) == (MEDIA_TYPE, status, "invalid_input")
    assert (await api.get("/v1/executions")).json() == {"executions": [], "next": None}


async def test_a_body_is_read_no_further_than_it_may_be(api: Api) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 100 * bodies.MAX_BODY:
            sent += 65_536
            yield b" " * 65_536

    answer = await api.ask("POST", "/v1/executions", content=endless(), headers=JSON)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")
    assert sent <= bodies.MAX_BODY + 2 * 65_536
    declared = await api.ask("POST", "/v1/executions", content=b"{}", headers={**JSON, "Content-Length": "9" * 12})
    assert declared.status_code == 413


async def test_a_body_that_never_ends_is_not_waited_for(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_S", 0.05)
    gone = asyncio.Event()

    async def dripping() -> AsyncIterator[bytes]:
        yield b"{"
        await gone.wait()

    answer = await api.ask("POST", "/v1/executions", content=dripping(), headers=JSON)
    assert (answer.status_code, answer.json()["retriable"]) == (408, True)


PATHS = {
    "/v1/executions/": 404,
    "//v1/executions": 404,
    "/V1/executions": 404,
    "/v1/executions/..%2f..%2fhealthz": 404,
    "/v1/executions/%2e%2e/healthz": 404,
    "/v1/executions/a%00b": 404,
    "/v1/executions/%ff": 404,
    f"/v1/executions/{'a' * 300}": 404,
    "/v1/executions/a b": 404,
    "/v1/artifacts/x/..%2f..%2fetc%2fpasswd": 404,
    "/v1/snippets/x/99999999999999999999": 404,
    "/v1/snippets/x/-1": 404,
    "/metrics/": 404,
    "/": 404,
    "/v1/executions?limit=0": 422,
    "/v1/executions?limit=1&limit=2": 422,
    "/v1/executions?nothing=1": 422,
    "/v1/executions?status=' OR 1=1 --": 422,
    "/v1/executions?cursor=%00": 422,
    "/v1/search?query=%00": 200,
    "/v1/search?query=' OR \"": 200,
}


@pytest.mark.parametrize("path", PATHS)
async def test_paths(api: Api, path: str) -> None:
    answer = await api.get(path)
    assert answer.status_code == PATHS[path], answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == MEDIA_TYPE


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"script": 1,}', "the body is no JSON: line 1, column "),
        (b'{\n "script" 1}', "the body is no JSON: line 2, column 11: Expecting ':' delimiter"),
        (b'{"script": "\xff"}', "the body is no UTF-8: byte 13"),
        (b'{"script": NaN}', "the body is no JSON: NaN is no number of it"),
        (b'{"script": "1", "script": "2"}', "the body is no JSON: an object has a name twice"),
        (b'{"script": ' + b"1" * 10_000 + b"}", "the body is no JSON: a number is too long"),
    ],
)
async def test_what_is_no_json_is_told_where(api: Api, content: bytes, said: str) -> None:
    answer = await api.ask("POST", "/v1/executions", content=content, headers=JSON)
    assert answer.json()["detail"].startswith(said)


async def test_what_a_query_takes_is_told_and_where_there_is_something(api: Api) -> None:
    asked = await api.get("/v1/search?q=contacts")
    assert asked.status_code == 422
    assert asked.json()["detail"].startswith("there is no `q` in a query here: it takes `query`, `connector`")
    root = await api.get("/", None)
    assert root.status_code == 404
    assert all(path in root.json()["detail"] for path in ("/mcp", "/v1", "/v1/openapi.json"))


async def test_methods(api: Api) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FROB"):
        answer = await api.ask(method, "/v1/executions")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert (await api.ask("HEAD", "/v1/executions")).status_code == 200
    assert (await api.ask("HEAD", "/v1/executions/x/events")).status_code == 405


async def test_a_bug_is_told_by_its_id_and_nothing_else(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the password is hunter2")

    monkeypatch.setattr(api.code_mode.catalog, "listing", broken)
    answer = await api.get("/v1/catalog")
    problem = answer.json()
    assert (answer.status_code, problem["kind"], "hunter2" in answer.text) == (500, "internal", False)
    assert problem["error_id"]


async def test_events_in_either_form_from_any_point(api: Api) -> None:
    made = await api.run("emit('a\\u2028b\\nc')\nlog.info('x')\nawait bank.balance(name='Ada')")
    where = f"/v1/executions/{made['execution_id']}/events"
    lines = (await api.get(where, headers={"Accept": "application/x-ndjson"})).text.splitlines()
    told = [json.loads(line) for line in lines]
    assert [one["seq"] for one in told] == list(range(1, len(told) + 1))
    assert [one["event"] for one in told] == ["status", "emit", "log", "call_started", "call_ended", "outcome"]
    assert (told[-1]["status"], told[1]["value"]) == ("completed", "a\u2028b\nc")
    stream = (await api.get(where)).text
    assert stream.count("\n\n") == len(told)
    assert [line for line in stream.splitlines() if line.startswith("id:")] == [f"id: {one['seq']}" for one in told]
    for later in (
        await api.get(f"{where}?after=4", headers={"Accept": "application/x-ndjson"}),
        await api.get(where, headers={"Accept": "application/x-ndjson", "Last-Event-ID": "4"}),
    ):
        assert [json.loads(line) for line in later.text.splitlines()] == told[4:]
    assert (await api.get(where, headers={"Accept": "image/png"})).status_code == 406
    assert (await api.get(f"{where}?after=99")).text == ""
