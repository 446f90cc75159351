"""What is taken off a script, that lines and columns stay the user's, and what is refused."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isolith.run import normalize
from isolith.run.markdown import Block, fenced_blocks, string_after
from isolith.run.normalize import Prepared, Refused, prepare

if TYPE_CHECKING:
    from types import FrameType

MAX = 262_144
ALONE = "send the script alone, without fences and prose around it"


def prepared(source: str | bytes, max_bytes: int = MAX) -> Prepared:
    result = prepare(source, max_bytes)
    assert isinstance(result, Prepared), result
    return result


def refused(source: str | bytes, max_bytes: int = MAX) -> tuple[str, str, int | None, int | None]:
    result = prepare(source, max_bytes)
    assert isinstance(result, Refused), result
    diagnostic = result.diagnostic
    assert diagnostic.hint
    return diagnostic.kind, diagnostic.message, diagnostic.line, diagnostic.column


def warned(result: Prepared) -> list[tuple[str, int | None]]:
    assert {warning.kind for warning in result.warnings} <= {"not_a_script"}
    return [(warning.message, warning.line) for warning in result.warnings]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\nx",
        "x = 1\nx\n",
        "\n\nx = 1\n\n\n",
        "if True:\n    x = 1\nx",
        "'''\n```python\ny = 2\n```\n'''\nx = 1",
        'report = f"""\n```json\n{data}\n```\n"""\nreport',
        "x = '''a'''  # it's \"\"\"fine\nx",
        "~~~x",
        "# a remark\nx",
    ],
)
def test_a_plain_script_stays_as_it_is(source: str) -> None:
    result = prepared(source)
    assert (result.text, result.source, result.warnings) == (source, source, ())


@pytest.mark.parametrize("source", ["# only a remark", "\n  # one\n# two\n", "```python\n# TODO\n```"])
def test_a_script_of_comments_says_that_it_answers_nothing(source: str) -> None:
    *_, said = prepared(source).warnings
    assert (said.kind, said.message) == ("check", "the script holds nothing but comments, so it answers null")
    assert "the value of its last expression is the result" in (said.hint or "")


def test_prose_and_fences_become_blank_lines() -> None:
    source = "Here is the script:\n\n```python\nx = 1\nx\n```\n\nIt answers 1."
    result = prepared(source)
    assert result.text == "\n\n\nx = 1\nx\n\n\n"
    assert warned(result) == [
        ("removed lines 1 to 3 around the script", 1),
        ("removed lines 6 to 8 around the script", 6),
    ]
    assert (result.warnings[0].source_line, result.warnings[0].hint) == ("Here is the script:", ALONE)
    assert result.source_line(4) == "x = 1"


@pytest.mark.parametrize("tag", ["", "python", "Python", "py", "python3", "python title=x", "{.python}", "tool_code"])
@pytest.mark.parametrize("fence", ["```", "````", "~~~"])
def test_every_fence_of_python(tag: str, fence: str) -> None:
    assert prepared(f"{fence}{tag}\nx = 1\n{fence}").text == "\nx = 1\n"


def test_a_fence_that_never_closes() -> None:
    assert prepared("```python\nx = 1\nx").text == "\nx = 1\nx"


def test_a_closing_fence_alone() -> None:
    result = prepared("x = 1\nx\n```\n")
    assert result.text == "x = 1\nx\n\n"
    assert warned(result) == [("removed line 3 around the script", 3)]


def test_several_blocks_are_one_script() -> None:
    result = prepared("First:\n```python\nx = 1\n```\nthen:\n```python\nx + 1\n```")
    assert result.text == "\n\nx = 1\n\n\n\nx + 1\n"
    assert [message for message, _ in warned(result)] == [
        "removed lines 1 to 2 around the script",
        "removed lines 4 to 6 around the script",
        "removed line 8 around the script",
    ]


def test_what_is_tagged_python_wins_over_what_is_not() -> None:
    source = "```bash\npip install x\n```\n```python\nx = 1\n```\n```\noutput: 1\n```"
    assert prepared(source).text == "\n\n\n\nx = 1\n\n\n\n"


def test_many_parts_are_not_many_warnings() -> None:
    result = prepared("prose\n```python\nx = 1\n```\n" * 50)
    assert len(result.warnings) == 11
    assert result.warnings[-1].message == "removed 41 more parts between the blocks"


def test_a_fence_in_a_string_of_the_fenced_code_does_not_close_it() -> None:
    source = '```python\nx = """\n```json\n{}\n```\n"""\nx\n```\nDone.'
    assert prepared(source).text == '\nx = """\n```json\n{}\n```\n"""\nx\n\n'


def test_a_string_that_never_ends_does_not_swallow_the_fence() -> None:
    assert prepared('Code:\n```python\nx = """oops\n```\nDone.').text == '\n\nx = """oops\n\n'


def test_indentation_that_all_share_is_taken_off_and_columns_can_be_given_back() -> None:
    result = prepared("\n    if x:\n        y = 1\n  \n    y\n")
    assert result.text == "\nif x:\n    y = 1\n\ny\n"
    assert warned(result) == [("removed 4 columns of indentation", 2)]
    assert [result.column_offset(line) for line in range(8)] == [0, 0, 4, 4, 2, 4, 0, 0]
    assert result.source_line(2) == "    if x:"
    assert (result.source_line(0), result.source_line(7)) == (None, None)


def test_each_block_has_its_own_indentation() -> None:
    result = prepared("1. First\n\n   ```python\n   x = 1\n   ```\n2. Then\n\n  ```python\n  x\n  ```\n")
    assert result.text == "\n\n\nx = 1\n\n\n\n\nx\n\n"
    assert (result.column_offset(4), result.column_offset(9)) == (3, 2)


def test_tabs_and_spaces_share_what_is_equal() -> None:
    assert prepared("\t x = 1\n\t  y = 2").text == "x = 1\n y = 2"
    assert prepared("\tx = 1\n    y = 2").text == "\tx = 1\n    y = 2"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("x = 1\r\nx\r\n", "x = 1\nx\n"),
        ("x = 1\rx\r", "x = 1\nx\n"),
        ("\ufeffx = 1", "x = 1"),
        (b"\xef\xbb\xbfx = 1\r\nx", "x = 1\nx"),
        ("x = 'é'".encode(), "x = 'é'"),
        ("x = '\u2028'\nx", "x = '\u2028'\nx"),
    ],
)
def test_bytes_marks_and_line_ends(source: str | bytes, text: str) -> None:
    result = prepared(source)
    assert (result.text, result.warnings) == (text, ())


@pytest.mark.parametrize("source", ["", " \n\t\n", b"", b"\xef\xbb\xbf"])
def test_an_empty_script_is_told_what_a_script_is(source: str | bytes) -> None:
    result = prepare(source, MAX)
    assert isinstance(result, Refused)
    assert result.diagnostic.message == "the script is empty"
    assert result.diagnostic.kind == "not_a_script"
    assert (result.diagnostic.hint or "").startswith("a script is Python with top-level `await`;")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\ny = '\0'", ("invalid_input", "the script holds a NUL byte", 2, 6)),
        (b"x = 1\ny = \0", ("invalid_input", "the script holds a NUL byte", 2, 5)),
        (
            b"x = 1\r\ny = '\xe9'",
            ("invalid_input", "the script is not UTF-8: byte 0xe9 is no part of a character", 2, 6),
        ),
        ("x = 1".encode("utf-16"), ("invalid_input", "the script is encoded as UTF-16", None, None)),
        ("x = '\ud800'", ("invalid_input", "the script holds '\\ud800', half of a character", 1, 6)),
        (
            "```bash\nls\n```",
            ("not_a_script", "there is no Python between the fences: the block at line 1 is tagged `bash`", 1, 1),
        ),
        (
            "```python\n\n```",
            ("not_a_script", "there is no Python between the fences: the block at line 1 is tagged `python`", 1, 1),
        ),
        ("```", ("not_a_script", "there is no Python between the fences: the block at line 1 is empty", 1, 1)),
        ('```\n{"ok": true}\n```', ("not_a_script", "this is JSON, not Python", 2, None)),
        ('{"code": "1 + 1"}', ("not_a_script", "this is JSON, not Python", 1, None)),
    ],
)
def test_what_cannot_be_a_script(source: str | bytes, expected: tuple[str, str, int | None, int | None]) -> None:
    assert refused(source) == expected


@pytest.mark.parametrize("source", ["x" * 11, b"x" * 11, "é" * 6, "x" * 10_000_000])
def test_too_large_names_the_budget(source: str | bytes) -> None:
    message = "the script is larger than its budget: `script_bytes` is 10"
    assert refused(source, 10) == ("invalid_input", message, None, None)


def test_exactly_as_large_as_allowed() -> None:
    assert prepared("é" * 5, 10).text == "é" * 5


LINES = st.lists(
    st.sampled_from(
        ["x = 1", "    y = 2", "  ", "", "```", "```python", "```bash", "~~~", '"""', "'''", "Text.", "\t#"]
    ),
    max_size=30,
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_each_line_stays_where_it_was(lines: list[str], end: str) -> None:
    result = prepare(end.join(lines), MAX)
    if isinstance(result, Refused):
        return
    assert result.source == "\n".join(lines)
    out = result.text.split("\n")
    assert len(out) == len(lines)
    for number, (line, source_line) in enumerate(zip(out, lines, strict=True), 1):
        assert line in {"", source_line[result.column_offset(number) :]}
    again = prepare(result.text, MAX)
    if "```" not in result.text and "~~~" not in result.text:
        assert isinstance(again, Prepared)
        assert again.text == result.text


@given(st.text() | st.binary())
def test_anything_is_prepared_or_refused(source: str | bytes) -> None:
    result = prepare(source, 100)
    assert isinstance(result, (Prepared, Refused))


@pytest.mark.parametrize(
    ("line", "inside", "after"),
    [
        ("x = 1", "", ""),
        ('x = """', "", '"""'),
        ("x = '''", "", "'''"),
        ('x = """a"""', "", ""),
        ('end"""', '"""', ""),
        ('end"""', "'''", "'''"),
        ("x = 'it' + '''", "", "'''"),
        ('# """', "", ""),
        ("'#' + '''", "", "'''"),
        ('x = "a\\"" + """', "", '"""'),
        (r'\"""', '"""', '"""'),
        ("don't", "", ""),
        ('x = ""', "", ""),
        ('x = "a"""', "", ""),
    ],
)
def test_which_string_is_open_at_the_end_of_a_line(line: str, inside: str, after: str) -> None:
    assert string_after(line, inside) == after


def test_blocks_are_named_by_their_lines() -> None:
    lines = ["text", "```py", "x", "```", "```json", "{}"]
    assert fenced_blocks(lines) == [Block("py", 2, 3, closed=True), Block("json", 5, 6, closed=False)]


def steps(text: str) -> int:
    """How many lines of ours run to prepare `text`: the measure of its time that no machine changes."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    try:
        prepare(text, 10 * MAX)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "```\nx\n```\n",
        "```\n",
        "```python\n",
        '```python\n\\"""\n```\n',
        "```python\n'''\n```\n",
        "```python\nx = \"\"\"\n```\ny = '''\n```\n",
        '"""\n```\n',
        "    x\n",
        "text\n",
        " \n",
        "`~\n",
        '" \' # \\ """\n',
        "{[\n",
    ],
)
def test_the_work_grows_with_the_text_and_no_faster(piece: str) -> None:
    assert steps(piece * 600) <= 2.5 * steps(piece * 300)


@pytest.mark.anyio
@pytest.mark.parametrize(("script", "apart"), [("1 + 1", False), ("#\n" * 100_000 + "1", True)])
async def test_a_long_script_is_prepared_beside_the_loop(
    script: str, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of thousands of lines held up the loop, before the run had any budget."""
    threads: list[int] = []

    def noted(source: str | bytes, max_bytes: int) -> Prepared | Refused:
        threads.append(threading.get_ident())
        return prepare(source, max_bytes)

    monkeypatch.setattr(normalize, "prepare", noted)
    assert await normalize.prepared(script, 1 << 20) == prepare(script, 1 << 20)
    assert [thread != threading.get_ident() for thread in threads] == [apart]
