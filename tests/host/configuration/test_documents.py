"""Files that people write, and what is said of broken ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, ValidationError

from isolith.configuration.documents import MAX_BYTES, explain, parse_json, read_document
from isolith.errors import UsageError
from isolith_bindings.predicates import Condition
from isolith_bindings.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path

VS_CODE = """// servers of this project
{
  /* asked once */ "inputs": [ {"id": "k", "url": "https://x//y" /* kept */,}, ],
  "text": "a // b /* c */ , ] \\" // d",
}
"""


def test_comments_and_trailing_commas_are_read_as_vs_code_does() -> None:
    assert parse_json(VS_CODE, "it") == {
        "inputs": [{"id": "k", "url": "https://x//y"}],
        "text": 'a // b /* c */ , ] " // d',
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_plain_json_is_read_as_it_is(value: object) -> None:
    import json

    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=2)):
        assert parse_json(text, "it") == value


def test_a_mistake_is_where_it_was_written() -> None:
    with pytest.raises(UsageError, match="it is not JSON: line 3, column 4"):
        parse_json("// one\n{ /* two */\n   x }", "it")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.toml", b"x = ", "the file `{path}` is not TOML"),
        ("a.json", b"[1]", "the file `{path}` holds no table of names and values"),
        ("a.json", b"\xff", "the file `{path}` is not UTF-8 at byte 0"),
        ("a.json", b" " * (MAX_BYTES + 1), "the file `{path}` is larger than 4,194,304 bytes"),
        ("a.json", b"[" * 100_000, "the file `{path}` is nested too deep to be read"),
        ("a.json", b'{"a":' * 1500 + b"1" + b"}" * 1500, "the file `{path}` is nested too deep to be read"),
        ("a.json", b'{"a":' * 1500 + b"1," + b"}" * 1500, "the file `{path}` is nested too deep to be read"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_document(path, "the file")
    assert said.format(path=path) in str(caught.value)


def test_what_stands_in_comments_is_not_nested(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('// an odd " and ' + "[" * 300 + '\n{"a": [1,]}')
    assert read_document(path, "the file") == {"a": [1]}


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file or directory"):
        read_document(tmp_path / "none.toml", "the file")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_document(path, "the file") == {"a": 1}


class Key(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    token: int
    rules: tuple[Rule, ...] = ()
    limit: Condition | None = None


@pytest.mark.parametrize(
    ("given_data", "said"),
    [
        ({"token": "sk-5512-secret"}, "`token` has to be a valid integer"),
        ({}, "`token` is missing"),
        ({"token": 1, "tokens": "sk-5512-secret"}, "`tokens` is not known here"),
        (
            {"token": 1, "limit": {"less_than": []}},
            "`limit.less_than` has to be a valid integer, or has to be a valid number, or has to be a valid string",
        ),
        ({"token": 1, "limit": {}}, "`limit` it asks for nothing"),
    ],
)
def test_what_is_wrong_is_said_without_what_was_given(given_data: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Key.model_validate(given_data)
    assert said in explain(caught.value)
    assert "5512" not in explain(caught.value)
