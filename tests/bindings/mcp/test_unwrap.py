"""From the result of a tool to the value of a call: error, structured content, text, mixed content."""

from __future__ import annotations

import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bindings.mcp.bench import Artifacts

from isolith_bindings.connector import ArtifactRef
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.unwrap import tool_value
from isolith_bindings.schema.validate import Validator

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(2000)).decode()


def text(*texts: str) -> list[object]:
    return [{"type": "text", "text": t} for t in texts]


def value(result: dict[str, object], schema: dict[str, object] | None = None, *, wrapped: bool = False) -> object:
    return tool_value("box.tool", result, Validator(schema) if schema else None, Artifacts(), wrapped=wrapped)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["007"], "007"),
        (["1e999"], "1e999"),
        (["true"], "true"),
        (["null"], "null"),
        (['"a"'], '"a"'),
        (["[1, 2]"], [1, 2]),
        ([' {"a": 1}\n'], {"a": 1}),
        (['{"a": 12345678901234567890}'], {"a": 12345678901234567890}),
        (['{"a": NaN}'], '{"a": NaN}'),
        (['{"a": 1, "a": 2}'], '{"a": 1, "a": 2}'),
        (["[" * 100_000], "[" * 100_000),
        (["[" * 1500 + "]" * 1500], "[" * 1500 + "]" * 1500),
        (["{not json}"], "{not json}"),
        (["[" + "9" * 5000 + "]"], "[" + "9" * 5000 + "]"),
        (["one", "two"], "one\ntwo"),
        (['{"a": 1}', '{"a": 2}'], '{"a": 1}\n{"a": 2}'),
        ([], None),
        ([""], ""),
    ],
)
def test_text_stays_text_unless_it_is_an_object_or_an_array(texts: list[str], expected: object) -> None:
    assert value({"content": text(*texts)}) == expected


@given(st.text())
def test_no_text_is_changed_that_is_not_json(said: str) -> None:
    if not said.lstrip().startswith(("{", "[")):
        assert value({"content": text(said)}) == said


@pytest.mark.parametrize("structured", [None, 0, False, "", [], {}, {"a": None}, 2**70, "007"])
def test_structured_content_wins(structured: object) -> None:
    found = value({"content": text("a summary"), "structuredContent": structured})
    assert found == structured
    assert type(found) is type(structured)


def test_the_wrapper_of_a_library_is_taken_off() -> None:
    assert value({"content": [], "structuredContent": {"result": [1]}}, wrapped=True) == [1]
    assert value({"content": [], "structuredContent": {"result": 1, "more": 2}}, wrapped=True) == {
        "result": 1,
        "more": 2,
    }
    assert value({"content": [], "structuredContent": {"result": [1]}}) == {"result": [1]}


def test_what_was_promised_is_checked_and_what_came_is_kept() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert value({"content": [], "structuredContent": {"n": 1}}, schema) == {"n": 1}
    with pytest.raises(CallError) as caught:
        value({"content": [], "structuredContent": {"n": "x"}}, schema)
    assert caught.value.kind == "invalid_result"
    assert caught.value.message.startswith("box.tool answered what it did not promise: `n`: ")
    assert caught.value.data == {"n": "x"}
    with pytest.raises(CallError, match="promised structured content") as missing:
        value({"content": text('{"n": 1}')}, schema)
    assert missing.value.data == {"n": 1}


def test_a_schema_that_cannot_be_read_promises_nothing() -> None:
    assert value({"content": text("x")}, {"type": "nonsense"}) == "x"
    assert value({"content": [], "structuredContent": 3}, {"type": "nonsense"}) == 3


def test_images_and_sounds_are_kept_outside() -> None:
    blocks = [*text("two"), {"type": "image", "data": PNG, "mimeType": "image/png"}, {"type": "audio", "data": "AAAA"}]
    assert value({"content": blocks}) == {
        "text": "two",
        "files": [ArtifactRef("art0", "image/png", 2008), ArtifactRef("art1", "audio/wav", 3)],
    }


def test_what_is_no_base64_stays_what_it_is() -> None:
    block = {"type": "image", "data": "not base64!", "mimeType": "image/png"}
    assert value({"content": [block]}) == {"text": "", "files": [], "other": [block]}


def test_resources_in_content() -> None:
    blocks = [
        {"type": "resource", "resource": {"uri": "file:///a/b.txt", "mimeType": "text/plain", "text": "hi"}},
        {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAEC"}},
        {"type": "resource_link", "uri": "file:///c", "name": "c"},
    ]
    assert value({"content": blocks}) == {
        "text": "",
        "files": [ArtifactRef("art0", "application/octet-stream", 3, "b.bin")],
        "other": [{"uri": "file:///a/b.txt", "mime": "text/plain", "text": "hi"}, blocks[2]],
    }


@pytest.mark.parametrize(
    ("structured", "kept"),
    [
        ({"shot": PNG}, {"shot": ArtifactRef("art0", "image/png", 2008)}),
        ({"a": [f"data:image/png;base64,{PNG}"]}, {"a": [ArtifactRef("art0", "image/png", 2008)]}),
        ({"shot": PNG[:900]}, {"shot": PNG[:900]}),
        ({"long": "x" * 4000}, {"long": "x" * 4000}),
        ({"text": PNG + " and more"}, {"text": PNG + " and more"}),
        ({"url": "data:text/html;base64," + "!" * 2000}, {"url": "data:text/html;base64," + "!" * 2000}),
        (
            {"type": "image", "data": "AAEC", "mimeType": "image/png"},
            {"type": "image", "data": ArtifactRef("art0", "image/png", 3), "mimeType": "image/png"},
        ),
        (
            {"wav": base64.b64encode(b"RIFF\x00\x00\x00\x00WAVE" + bytes(1500)).decode()},
            {"wav": ArtifactRef("art0", "audio/wav", 1512)},
        ),
    ],
)
def test_files_inside_structured_content(structured: object, kept: object) -> None:
    assert value({"content": [], "structuredContent": structured}) == kept


def test_one_file_that_is_there_twice_is_kept_once() -> None:
    block = {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert value({"content": [block], "structuredContent": {"shot": PNG}}) == {
        "shot": ArtifactRef("art0", "image/png", 2008)
    }


def test_a_failure_says_all_that_was_said() -> None:
    with pytest.raises(CallError) as caught:
        value({"isError": True, "content": text("one", "two"), "structuredContent": {"code": 3}})
    assert (caught.value.kind, caught.value.message) == ("tool_error", "one\ntwo")
    assert caught.value.data == {"structured": {"code": 3}}


def test_a_failure_that_says_nothing() -> None:
    with pytest.raises(CallError, match=r"^box.tool failed and did not say why$"):
        value({"isError": True, "content": []})


def test_a_long_failure_is_whole_in_its_data_too() -> None:
    with pytest.raises(CallError) as caught:
        value({"isError": True, "content": [*text("x" * 50_000), {"type": "image", "data": PNG}]})
    assert isinstance(caught.value.data, dict)
    assert caught.value.data["text"] == "x" * 50_000
    assert caught.value.data["files"] == [ArtifactRef("art0", "image/png", 2008)]


@pytest.mark.parametrize("content", [None, "text", 3, {"a": 1}])
def test_content_that_is_no_list(content: object) -> None:
    assert value({"content": content}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError", "x"]), json_values))
def test_no_result_is_more_than_it_says_it_can_be(result: dict[str, object]) -> None:
    """An odd result is a value or a CallError, and nothing else."""
    with contextlib.suppress(CallError):
        value(result)
