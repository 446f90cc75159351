"""Answers: what comes back for which media type and status, and what is too long for a value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.bindings.openapi.exchanges import answered, get, refused, run, sent
from tests.bindings.openapi.loopback import Reply, Server

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.egress import Limits
from isolith_bindings.errors import CallError
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from tests.bindings.openapi.bench import Client


@pytest.mark.parametrize(
    ("content_type", "content", "value"),
    [
        ("application/json", b'{"a": [1]}', {"a": [1]}),
        ("application/problem+json; charset=utf-8", b"[]", []),
        ("text/plain; charset=latin-1", b"\xfc", "ü"),
        ("text/html", b"<p>", "<p>"),
        ("application/x-ndjson", b'{"a":1}\n\n2\n', [{"a": 1}, 2]),
        ("application/x-www-form-urlencoded", b"a=1&b=", {"a": "1", "b": ""}),
        *((f"text/plain; charset={name}", b"a\xff", "a\ufffd") for name in ("nonsense", "idna", "hex", "a\x7f", "undefined")),
        ("application/json", b"", None),
    ],
)  # fmt: skip
def test_answers_by_their_media_type(content_type: str, content: bytes, value: object) -> None:
    assert answered(get(), Reply(content, headers=(("content-type", content_type),)))[0] == value


def test_an_empty_answer_is_none() -> None:
    assert answered(get(), Reply(status=204))[0] is None


def test_bytes_are_kept_as_an_artifact() -> None:
    headers = (("content-type", "image/png"), ("content-disposition", 'attachment; filename="../../etc/a b.png"'))
    value, client = answered(get(), Reply(b"\x89PNG", headers=headers))
    assert isinstance(value, ArtifactRef)
    assert (value.mime, value.size, value.name, client.artifacts.read(value)) == ("image/png", 4, "a b.png", b"\x89PNG")


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "image/png"])
def test_an_answer_that_is_too_long_is_an_error_with_its_beginning(content_type: str) -> None:
    reply = Reply(b"[" + b"1," * 600 + b"1]", headers=(("content-type", content_type),))

    async def use(client: Client, _server: Server) -> None:
        with pytest.raises(CallError, match="is longer than the 1,000 bytes that are read") as caught:
            await client.call("read")
        kept = caught.value.data
        assert isinstance(kept, ArtifactRef)
        assert (caught.value.kind, kept.mime, kept.size) == ("invalid_result", content_type, 1000)
        assert client.artifacts.read(kept) == reply.content[:1000]
        assert "ask for less" in str(caught.value.hint)

    run(get(), use, lambda _: reply, limits=Limits(body_bytes=500, answer_bytes=1000))


def test_what_says_it_is_json_and_is_not_keeps_its_text() -> None:
    with pytest.raises(CallError, match="says it is application/json and is not") as caught:
        answered(get(), Reply(b"<html>", headers=(("content-type", "application/json"),)))
    assert (caught.value.kind, caught.value.data) == ("invalid_result", "<html>")


TYPED = {"200": {"content": {"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}}}


def test_answers_are_believed_unless_they_are_to_be_checked() -> None:
    document = get(responses=TYPED)
    assert answered(document, Reply.of(["x"]))[0] == ["x"]
    assert answered(document, Reply.of([1]), strict_responses=True)[0] == [1]
    for reply, told in [
        (Reply.of(["x"]), "expected integer"),
        (Reply.of([1], 201), "status 201 is not in the document"),
        (
            Reply(b"x", headers=(("content-type", "text/plain"),)),
            "text/plain was answered; documented: application/json",
        ),
    ]:
        with pytest.raises(CallError, match=told) as caught:
            answered(document, reply, strict_responses=True)
        assert caught.value.kind == "invalid_result"
        assert caught.value.data == (json.loads(reply.content) if reply.status == 201 or reply.content != b"x" else "x")


def test_what_a_redirect_led_to_may_answer_as_it_likes() -> None:
    """Of what GitHub's archives lead to its description says nothing but 302."""
    answers = [Reply(status=302, headers=(("location", "/elsewhere"),)), Reply.of(["x"])]
    document = get(responses={"302": {"description": "where it is"}, "404": {"description": "not there"}})

    async def use(client: Client, server: Server) -> None:
        assert await client.call("read") == ["x"]
        assert [got.path for got in server.got] == ["/things", "/elsewhere"]

    run(document, use, lambda _: answers.pop(0), strict_responses=True)


def test_a_script_chooses_what_is_answered() -> None:
    answers = {
        "200": {
            "content": {"application/json": {"schema": {"type": "object"}}, "text/csv": {"schema": {"type": "string"}}}
        }
    }
    assert sent(get(responses=answers), "read", accept="text/csv").header("accept") == "text/csv"
    assert "accept" in refused(get(responses=answers), "read", accept="text/html").message


def test_raw_is_the_answer_as_it_came() -> None:
    async def use(client: Client, _server: Server) -> None:
        found = await client.call("read", "raw")
        assert (found["status"], found["body"], found["headers"]["x-a"]) == (201, {"b": 1}, "c")

    run(get(), use, lambda _: Reply.of({"b": 1}, 201, x_a="c"))


@pytest.mark.parametrize(
    ("auth", "hint"),
    [
        (
            None,
            "the call was sent without a credential: whoever configured the connector has to give it one, as `auth`",
        ),
        (Secret.literal("a-credential"), "the server does not accept the connector's credential"),
    ],
)
def test_who_is_not_known_is_told_whether_a_credential_was_sent(auth: Secret | None, hint: str) -> None:
    """A document need not say that one is wanted: FastAPI's says nothing of one that is read from a header by hand."""
    with pytest.raises(CallError) as caught:
        answered(get(), Reply.of({"detail": "Not authenticated"}, 401), auth=auth)
    assert str(caught.value.hint).startswith(hint)


def test_what_is_no_success_is_an_error() -> None:
    with pytest.raises(CallError) as caught:
        answered(get(), Reply.of({"message": "no such thing"}, 404))
    assert caught.value.kind == "tool_error"
    assert isinstance(caught.value.data, dict)
    assert caught.value.data["status"] == 404
    assert caught.value.data["body"] == {"message": "no such thing"}
