"""What `run` is given: each wrong thing is named with its place and its mend."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from isolith.budgets import Budgets
from isolith.command_line.request import Request, read_request
from isolith.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_script_from_a_file_is_bytes_not_yet_decoded(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_bytes(b"'\xff'")
    assert read_request(str(script), None, None, {}) == Request(b"'\xff'", None, Budgets())


def test_a_script_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 + 1")))
    assert read_request("-", None, None, {}).script == b"1 + 1"


def test_of_a_large_file_only_so_much_is_read_as_shows_it(tmp_path: Path) -> None:
    script = tmp_path / "x.py"
    script.write_bytes(b"#" * 10_000_000)
    assert len(read_request(str(script), None, None, {}).script) == Budgets().script_bytes + 1


def test_code_budgets_and_input() -> None:
    request = read_request(None, "input", '{"a": [1, null]}', {"cpu_ms": 5, "fuel": None, "wall_s": 1.5})
    assert request == Request("input", {"a": [1, None]}, Budgets(cpu_ms=5, wall_s=1.5), given=True)
    assert request.budgets.model_fields_set == {"cpu_ms", "wall_s"}


def test_input_from_a_file(tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    data.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_request(None, "1", f"@{data}", {}).input == {"a": 1}


def test_input_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 1}')))
    assert read_request(None, "1", "@-", {}).input == {"a": 1}


@pytest.mark.parametrize(("script", "code", "data"), [("-", None, None), (None, "1", "@-")])
def test_stdin_that_is_closed(
    monkeypatch: pytest.MonkeyPatch, script: str | None, code: str | None, data: str | None
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="cannot be read: stdin is closed"):
        read_request(script, code, data, {})


QUOTE = "quote it for the shell, or put it into a file and write `--input @FILE`"


@pytest.mark.parametrize(
    ("script", "code", "data", "message"),
    [
        (None, None, None, "no script: give a file, `-` for stdin, or `-c CODE`, as in `isolith run -c '1 + 1'`"),
        ("x.py", "1", None, "both a script, `x.py`, and `-c` are given: keep one"),
        ("none.py", None, None, "the script `none.py` does not exist: give the path of a file"),
        ("folder", None, None, "the script `folder` is a folder: give the path of a file"),
        ("a\0b", None, None, "the script `a\0b` cannot be read: embedded null byte"),
        (
            None,
            "1",
            '{"a": 1,\n "b" 2}',
            f"`--input` is not JSON: line 2, column 6: Expecting ':' delimiter; {QUOTE}",
        ),
        (None, "1", "", f"`--input` is not JSON: line 1, column 1: Expecting value; {QUOTE}"),
        (None, "1", "[NaN]", f"`--input` is not JSON: `NaN` is not in it, `null` is; {QUOTE}"),
        (
            None,
            "1",
            f"[-{'1' * 6000}]",
            "`--input` holds an integer of 6,000 digits, too many to be read: make it a text",
        ),
        ("-", None, "@-", "both the script and the input are to come from stdin: put one of them into a file"),
        (None, "1", "[" * 100_000, "`--input` is nested too deep to be read"),
        (None, "1", "[" * 1500 + "]" * 1500, "`--input` is nested too deep to be read"),
        (None, "1", "@none.json", "the input `none.json` does not exist: give the path of a file"),
        (None, "1", "@bad.json", "the input `bad.json` is not JSON: line 1, column 2: Expecting value; mend it there"),
        (None, "1", "@latin.json", "the input `latin.json` is not UTF-8 at byte 1: save it as UTF-8"),
    ],
)
def test_wrong_use_is_named_with_its_place_and_its_mend(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str | None,
    code: str | None,
    data: str | None,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad.json").write_text("[")
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    with pytest.raises(UsageError) as caught:
        read_request(script, code, data, {})
    assert str(caught.value) == message


def test_a_budget_that_makes_no_sense() -> None:
    with pytest.raises(UsageError) as caught:
        read_request(None, "1", None, {"cpu_ms": -1})
    assert str(caught.value) == "budget `cpu_ms` must be greater than or equal to 1, not -1"
