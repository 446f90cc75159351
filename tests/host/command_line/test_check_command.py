"""`isolith check`, without a process of its own: what is said of each script, and the code it ends with."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Literal

import pytest
from tests.bindings.check.corpus import Script, scripts, shop

from isolith.command_line.check_command import Checked, Place, answer, check_all, check_script
from isolith.command_line.terminal import Terminal
from isolith.outcome import Diagnostic
from isolith_bindings.check import source
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio


def guest_says(place: Place | None) -> Callable[[str], Awaitable[Place | None]]:
    async def ask(_text: str) -> Place | None:
        return place

    return ask


async def checked(text: str | bytes, ask: Callable[[str], Awaitable[Place | None]] | None = None) -> Checked:
    return await check_script("s.py", text, shop(), 100_000, lambda: ask)


async def test_the_guest_is_looked_for_only_where_it_is_to_be_asked() -> None:
    looked: list[None] = []
    for text, times in (("await crm.list_contacts()\ncrm.nope()", 0), ("x = = 1", 1)):
        await check_script("s.py", text, shop(), 10_000, lambda: looked.append(None))
        assert len(looked) == times


async def test_what_parses_and_does_not_compile_is_an_error_whatever_the_guest_s_parser_says() -> None:
    async def parses(_text: str) -> Place | None:
        return None

    found = await checked("def load():\n    return await crm.list_contacts()\nload()", parses)
    [error] = found.errors
    assert (error.kind, error.line, error.message) == ("syntax", 2, "'await' outside async function")
    assert error.hint is not None
    assert error.hint.startswith("write `async def`")


@pytest.mark.parametrize("script", scripts("broken"), ids=lambda script: script.name)
async def test_each_broken_script_of_the_corpus_is_told(script: Script) -> None:
    found = await checked(script.text)
    told = [*found.errors, *found.warnings]
    assert len(told) == len(script.expected)
    for expected in script.expected:
        # Without a guest this Python's own syntax errors are doubtful, unless it is as new.
        certain = found.errors if expected.certain and expected.kind != "syntax" else told
        assert any(
            one.line == expected.line
            and one.kind in {expected.kind, "check"}
            and (expected.kind == "syntax" or expected.says in f"{one.message} {one.hint}")
            for one in certain
        ), told


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("x = [1].map(len) && 3", "`and` instead of `&&`"),
        ("y = x || 3", "`or` instead of `||`"),
        ("if !x:", "`not x`"),
        ("y = x === 3", "`==` instead of `===`"),
        ("y = x > 3 ? 1 : 2", "`a if condition else b`"),
        ("y = x?.name", "x.get('key')"),
        ("y = x ?? 3", "is not None else"),
        ("y = `${x} rows`", "f-string"),
        ("x++", "`x += 1`"),
        ("// nothing", "begins with `#`"),
        ("y = new Date()", "without `new`"),
        ("if (x == 1) { y() }", "blocks have a colon"),
        ("y = typeof x", "isinstance"),
        ("if x => 3:", "`>=` instead of `=>`"),
    ],
)
async def test_a_piece_of_javascript_is_answered_with_what_to_write(line: str, instead: str) -> None:
    text = f"total = 0\nfor row in await crm.list_contacts():\n    total += 1\nx = total\n{line}"
    found = await checked(text, guest_says(("invalid syntax", 5, 1)))
    [error] = found.errors
    assert (error.kind, error.line) == ("syntax", 5)
    assert "this is Python, not JavaScript: " in (error.hint or "")
    assert instead in (error.hint or "")


@pytest.mark.parametrize("line", ["y = (x", "if x", "y = 'a && b' 'c", "def f(x)", "y = x y  # a || b"])
async def test_python_that_is_only_broken_is_not_called_javascript(line: str) -> None:
    found = await checked(f"x = 1\n{line}", guest_says(("invalid syntax", 2, 1)))
    assert found.errors[0].hint is None


class Changing(RecordingConnector):
    """A server that says that its tools may change."""

    changing = True


async def test_what_a_server_offers_now_is_what_a_script_is_held_to() -> None:
    notes = Changing("notes", {"add": 1})
    found = await check_script("s.py", "await notes.ad()", {"notes": notes}, 10_000, lambda: None)
    assert [error.message for error in found.errors] == ["notes has no method 'ad'"]


async def test_against_no_connector_a_name_that_is_not_there_says_how_to_connect() -> None:
    [found] = await check_all([("s.py", "await crm.list_contacts()\nlen(3, no)")], {}, 10_000, "off")
    assert "`--connect FILE`" in (found.errors[0].hint or "")


def test_what_is_wrong_is_told_in_the_order_of_the_lines() -> None:
    def one(line: int, kind: Literal["check", "exception"]) -> Diagnostic:
        return Diagnostic(kind=kind, message=f"line {line}", line=line, column=1)

    out = io.StringIO()
    found = Checked("s.py", (one(2, "exception"), one(9, "exception")), (one(1, "check"), one(5, "check")))
    answer([found], Terminal(out, io.StringIO()), json=False)
    told = [line.split(":")[1] for line in out.getvalue().splitlines() if line.startswith("s.py")]
    assert told == ["1", "2", "5", "9"]


@pytest.mark.parametrize(
    ("place", "errors", "looked"),
    [(("invalid syntax", 1, 5), [("syntax", "invalid syntax", 1, 5)], True), (None, [], False)],
)
async def test_the_guest_decides_what_is_python(
    place: Place | None, errors: list[tuple[str, str, int, int]], looked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_GUEST_VERSION", (3, 99))  # or this Python's own parser may be as good
    found = await checked("x = = 1", guest_says(place))
    assert [(error.kind, error.message, error.line, error.column) for error in found.errors] == errors
    assert found.looked == looked
    assert found.warnings == ()


async def test_a_script_that_is_too_large_to_be_looked_at_is_no_error() -> None:
    found = await checked("x = 1\n" * 12_000)
    assert (found.errors, found.warnings, found.looked) == ((), (), False)


async def test_a_foreign_language_is_named_without_the_guest() -> None:
    found = await checked("const x = 1;\nconsole.log(x);", guest_says(("invalid syntax", 1, 7)))
    assert [error.message for error in found.errors] == ["this is JavaScript, not Python"]


async def test_what_is_no_script_is_an_error() -> None:
    assert [error.kind for error in (await checked(b"\xff\xfe")).errors] == ["invalid_input"]
    assert [error.kind for error in (await checked("")).errors] == ["not_a_script"]


async def test_what_was_taken_off_is_a_warning() -> None:
    found = await checked("Sure:\n```python\ncrm.revenue(year=2025)\n```")
    assert found.errors == ()
    assert [warning.kind for warning in found.warnings] == ["not_a_script", "not_a_script"]


# the answer

ERROR = Diagnostic(
    kind="unknown_tool", message="no \x1b[31m", line=2, column=3, source_line="  crm.nope()", hint="mend it"
)
WARNING = Diagnostic(kind="check", message="perhaps")


def answered(found: list[Checked], *, as_json: bool = False) -> tuple[int, str]:
    out = io.StringIO()
    code = answer(found, Terminal(out, io.StringIO()), json=as_json)
    return code, out.getvalue()


def test_people_read_the_place_the_line_and_the_mend() -> None:
    code, text = answered([Checked("a.py", (ERROR,), (WARNING,)), Checked("b.py"), Checked("c.py", looked=False)])
    assert code == 1
    assert text.splitlines() == [
        "a.py:2:3: error[unknown_tool]: no \\x1b[31m",
        "    2 |   crm.nope()",
        "      |   ^",
        "  hint: mend it",
        "a.py: warning[check]: perhaps",
        "c.py: Python that is too large, too deep or too new for this machine's own, and was not looked at further",
        "3 scripts, 1 error, 1 warning",
    ]


def test_only_what_is_certain_fails() -> None:
    assert answered([Checked("a.py", (), (WARNING,))]) == (
        0,
        "a.py: warning[check]: perhaps\n1 script, 0 errors, 1 warning\n",
    )


def test_json_is_one_document() -> None:
    code, text = answered([Checked("a.py", (ERROR,)), Checked("b.py")], as_json=True)
    document = json.loads(text)
    assert code == 1
    assert [(one["script"], one["ok"], one["checked"]) for one in document["scripts"]] == [
        ("a.py", False, True),
        ("b.py", True, True),
    ]
    assert document["scripts"][0]["errors"] == [ERROR.model_dump()]
