"""Documents as plain data: what is read, and what is refused before it costs anything."""

from __future__ import annotations

import pytest

from isolith_bindings.openapi.tree import DocumentError, read


def test_json_and_yaml_are_the_same() -> None:
    as_json = b'{"openapi": "3.1.0", "paths": {"/a": {"get": {"responses": {"200": {"description": "fine"}}}}}}'
    as_yaml = b"openapi: 3.1.0\npaths:\n  /a:\n    get:\n      responses:\n        200: {description: fine}\n"
    assert read(as_json, "a") == read(as_yaml, "a")


def test_a_mark_at_the_beginning_is_no_content() -> None:
    assert read(b'\xef\xbb\xbf{"a": 1}', "a") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("2025-11-29", "2025-11-29"), ("12:30:00", "12:30:00"), ("0123", 123),
        ("1e3", 1000.0), ("0x1f", 31), ("0o17", 15), (".5", 0.5), ("true", True), ("~", None), ("", None), ("'1'", "1"),
        ("1_000", "1_000"), ("=", "="), ("null", None), ("-7", -7), ("3.0.3", "3.0.3"),
    ],
)  # fmt: skip
def test_yaml_is_read_by_the_rules_of_1_2(text: str, value: object) -> None:
    found = read(f"a: {text}".encode(), "a")["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text_as_it_was_written() -> None:
    assert read(b"a: {200: x, on: y, 1.0: z, true: w}", "a") == {"a": {"200": "x", "on": "y", "1.0": "z", "true": "w"}}


def test_aliases_and_merges() -> None:
    assert read(b"a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}", "a") == {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}}


def bomb() -> bytes:
    lines = [f"a{index}: &a{index} [{','.join([f'*a{index - 1}'] * 10)}]" for index in range(1, 12)]
    return "\n".join(["a0: &a0 [x,x,x,x,x,x,x,x,x,x]", *lines]).encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (bomb(), "too many aliases"),
        (b"a: &a [*a]", "inside of what it stands for"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a":' * 300 + b"1" + b"}" * 300, "nested deeper"),
        (b"a: !!python/object/apply:os.system [id]", "neither JSON nor YAML"),
        (b"a: !!binary aGk=\nb: !!set {x}", "neither JSON nor YAML"),
        (b"? [a]\n: b", "neither JSON nor YAML"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
        (b'{"a": ' + b"9" * 5000 + b"}", "neither JSON nor YAML"),
        (b"- a", "holds a list"),
        (b"", "holds nothing"),
        (b"hello", "holds text"),
        (b'{"a": 1', "line 1 column 8"),
    ],
)
def test_what_is_no_document_says_so(content: bytes, told: str) -> None:
    with pytest.raises(DocumentError, match=told) as caught:
        read(content, "x.yaml")
    assert str(caught.value).startswith("x.yaml")
