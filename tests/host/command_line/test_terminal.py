"""What a person sees: plain in a pipe, with types and colour on a terminal, and never obeyed."""

from __future__ import annotations

import datetime as dt
import errno
import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from tests.work import calls_of

from isolith.command_line.command import refuse
from isolith.command_line.terminal import Terminal
from isolith.errors import UsageError
from isolith.json_form import to_json_text
from isolith.outcome import ArtifactRecord, CallRecord, Diagnostic, Outcome, PendingCall, Usage
from isolith.visible import mixed_words, visible, visible_in_json

if TYPE_CHECKING:
    from collections.abc import Callable


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class FullDisk(io.StringIO):
    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "dumb")


def piped(outcome: Outcome) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    Terminal(out, err).outcome(outcome)
    return out.getvalue(), err.getvalue()


def on_screen(outcome: Outcome) -> tuple[str, str]:
    out, err = Screen(), Screen()
    Terminal(out, err).outcome(outcome)
    return out.getvalue(), err.getvalue()


def test_a_line_in_a_colour_is_one_for_a_person_and_plain_for_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    screen, pipe = Screen(), io.StringIO()
    for out in (screen, pipe):
        Terminal(out, io.StringIO()).coloured("+[x]\x1b[2J", "green")
    assert (screen.getvalue(), pipe.getvalue()) == ("\x1b[32m+[x]\\x1b[2J\x1b[0m\n", "+[x]\x1b[2J\n")


def test_a_disk_that_is_full_is_no_bug_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="the result cannot be written: No space left on device"):
        Terminal(FullDisk(), io.StringIO()).outcome(completed([1]))
    monkeypatch.setattr(sys, "stdout", FullDisk())
    refuse("that is why", None, json=True)
    assert capsys.readouterr().err == "isolith: that is why\n"


def completed(value: object, **more: object) -> Outcome:
    return Outcome.model_validate({"execution_id": "e", "status": "completed", "value": value, **more})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("two\nlines", "two\nlines\n"),
        (None, "null\n"),
        ([1, {"a": dt.date(2026, 1, 2)}], '[\n  1,\n  {\n    "a": "2026-01-02"\n  }\n]\n'),
        ("x" * 300, "x" * 300 + "\n"),
        ("\x1b[31m", "\x1b[31m\n"),
    ],
)
def test_in_a_pipe_stdout_is_the_value_and_nothing_else(value: object, text: str) -> None:
    assert piped(completed(value, value_type="str")) == (text, "")


@pytest.mark.parametrize("shown", [piped, on_screen])
def test_a_value_that_was_cut_is_said_to_be(shown: Callable[[Outcome], tuple[str, str]]) -> None:
    whole = ArtifactRecord(handle="art_1", mime="application/json", bytes=70_000, name="value")
    said = "the value is shown in part: all of it is 70,000 bytes as JSON; `--value-tokens N` shows more\n"
    assert said in shown(completed(["x"], truncated=True, artifacts=[whole]))[1]
    assert said not in shown(completed(["x"], artifacts=[whole]))[1]  # a file of the script's own, of that name
    assert said not in shown(completed(["x"], truncated=True))[1]  # logs were


def test_where_it_is_kept_the_command_that_writes_it_whole_is_told() -> None:
    whole = ArtifactRecord(handle="art_1", mime="application/json", bytes=70_000, name="value")
    err = io.StringIO()
    terminal = Terminal(io.StringIO(), err)
    terminal.flags, terminal.kept = " --journal j.db", True
    terminal.outcome(completed(["x"], truncated=True, artifacts=[whole]))
    assert "`isolith executions artifact e art_1 --journal j.db` writes it" in err.getvalue()


def test_on_a_terminal_the_value_has_its_types() -> None:
    outcome = completed(
        [dt.date(2026, 1, 2), (1, 2)],
        value_type="list[date | tuple[int, int]]",
        calls=[CallRecord(call_id="1", connector="crm", method="list", status="completed", duration_ms=12.4)],
        usage=Usage(cpu_ms=3.25, wall_ms=12_500, memory_bytes=32 << 20, calls=1),
    )
    out, err = on_screen(outcome)
    assert out == "[datetime.date(2026, 1, 2), (1, 2)]\n"
    assert err.split("\n") == [
        "crm.list  completed  12 ms",
        "list[date | tuple[int, int]] · 1 call · 3.2 ms CPU · 12.5 s · 32 MiB",
        "",
    ]


def test_a_terminal_shows_some_of_many_calls() -> None:
    call = CallRecord(call_id="1", connector="crm", method="list", status="failed")
    _, err = on_screen(completed(1, calls=[call] * 25))
    assert err.count("crm.list") == 20
    assert "and 5 more calls\n" in err


FAILED = Diagnostic(
    kind="exception",
    message="ZeroDivisionError: division by zero",
    line=3,
    column=5,
    source_line="x = 1/0",
    hint="check the divisor",
)


def test_a_failure_has_its_line_a_caret_and_a_hint() -> None:
    outcome = Outcome(execution_id="e", status="failed", error=FAILED)
    expected = (
        "error[exception]: ZeroDivisionError: division by zero\n"
        "    3 | x = 1/0\n"
        "      |     ^\n"
        "  hint: check the divisor\n"
    )
    assert piped(outcome) == ("", expected)


@pytest.mark.parametrize(
    ("diagnostic", "lines"),
    [
        (FAILED.model_copy(update={"column": None, "hint": None}), ["    3 | x = 1/0"]),
        (FAILED.model_copy(update={"source_line": None, "hint": None}), ["  line 3, column 5"]),
        (FAILED.model_copy(update={"source_line": None, "column": None, "hint": None}), ["  line 3"]),
        (FAILED.model_copy(update={"line": None, "tool": "crm.list", "hint": None}), ["  in crm.list"]),
        (FAILED.model_copy(update={"line": None, "hint": None}), []),
        (
            FAILED.model_copy(update={"source_line": "\tyé名 = 1/0", "column": 7, "hint": None}),
            ["    3 |     yé名 = 1/0", "      |           ^"],
        ),
        (
            FAILED.model_copy(update={"source_line": "a" * 500 + "!" + "b" * 500, "column": 501, "hint": None}),
            ["    3 | …" + "a" * 50 + "!" + "b" * 49 + "…", "      |  " + " " * 50 + "^"],
        ),
        (
            FAILED.model_copy(update={"source_line": "ab", "column": 900, "hint": None}),
            ["    3 | ab", "      |   ^"],
        ),
    ],
)
def test_the_place_of_a_failure(diagnostic: Diagnostic, lines: list[str]) -> None:
    _, err = piped(Outcome(execution_id="e", status="failed", error=diagnostic))
    assert err.split("\n")[1:-1] == lines


def test_warnings_and_what_waits_for_an_answer() -> None:
    outcome = Outcome(
        execution_id="e",
        status="paused",
        warnings=(Diagnostic(kind="not_a_script", message="removed line 1 around the script"),),
        pending=(
            PendingCall(
                call_id="e.7", connector="crm", method="drop", arguments={"id": 3}, digest="d", reason="writes"
            ),
        ),
    )
    expected = (
        "warning[not_a_script]: removed line 1 around the script\n"
        "waiting for an answer: crm.drop(id=3): writes\n"
        "    isolith executions approve e 7 --digest d    # or: reject\n"
    )
    assert piped(outcome) == ("", expected)


def test_what_a_script_logs_is_shown_and_not_obeyed() -> None:
    err = Screen()
    terminal = Terminal(Screen(), err)
    terminal.log({"level": "info", "message": "[red]\x1b[2J\u202ehi"})
    terminal.log({"level": "warning", "message": "slow", "attrs": {"n": 1, "s": "a"}})
    assert err.getvalue() == '[red]\\x1b[2J\\u202ehi\nwarning: slow n=1 s="a"\n'


def test_a_text_on_a_terminal_is_shown_and_not_obeyed() -> None:
    out, _ = on_screen(completed("a\x1b]0;title\x07\nb", value_type="str"))
    assert out == "a\\x1b]0;title\\x07\nb\n"


def test_a_document_on_a_terminal_is_not_obeyed_and_still_says_the_same() -> None:
    said = {"text": "a\x1b[2J\u202eb\x9b31m\u2066", "name": "名"}
    screen, pipe = Screen(), io.StringIO()
    for out in (screen, pipe):
        Terminal(out, io.StringIO()).write(to_json_text(said))
    assert json.loads(screen.getvalue()) == json.loads(pipe.getvalue()) == said
    assert screen.getvalue() == '{"text": "a\\u001b[2J\\u202eb\\u009b31m\\u2066", "name": "名"}\n'
    assert "\x9b" in pipe.getvalue()


def test_the_code_that_somebody_reviews_shows_what_is_hidden_in_it() -> None:
    screen = Screen()
    Terminal(screen, io.StringIO()).write("if admin:\u202e # \u2066 return\n\tpass\r")
    assert screen.getvalue() == "if admin:\\u202e # \\u2066 return\n\tpass\\u000d\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ada\u200b@b.c", "ada\\u200b@b.c"),
        ("ada\u200d@b.c", "ada\\u200d@b.c"),
        ("é\u200c", "é\\u200c"),
        ("a\xadb\ufeffc\u2060d\u3164e", "a\\xadb\\ufeffc\\u2060d\\u3164e"),
        ("ok\U000e0068\U000e0069", "ok\\U000e0068\\U000e0069"),
        ("👍\ufe0f\ufe01\ufe02", "👍\ufe0f\\ufe01\\ufe02"),
        ("\u200d\u200d", "\\u200d\\u200d"),
    ],
)
def test_what_nobody_sees_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    document = json.dumps({"text": text}, ensure_ascii=False)
    assert json.loads(visible_in_json(document)) == {"text": text}


def test_words_that_mix_alphabets_are_found() -> None:
    assert mixed_words('{"to":"ada@p\u0430ypal.com"}') == ["`p\u0430ypal` has CYRILLIC SMALL LETTER A"]
    assert mixed_words("\u0441rm, \uff41bc, x\U0001d41a") == [
        "`\u0441rm` has CYRILLIC SMALL LETTER ES",
        "`\uff41bc` has FULLWIDTH LATIN SMALL LETTER A",
        "`x\U0001d41a` has MATHEMATICAL BOLD SMALL A",
    ]
    assert mixed_words("naïve Straße, Москва и Paris, iPhone手机, Αθήνα 3.14, 2µs") == []
    assert len(mixed_words("a\u0430 b\u0430 c\u0430 d\u0430")) == 3
    assert len(mixed_words("a" * 1000 + "\u0430" * 1000)[0]) < 150


@pytest.mark.parametrize("text", ["a\u0430 ", "a\u0430", "a\u037e"], ids=["words", "one-word", "no-letter"])
def test_what_mixes_alphabets_a_million_times_is_looked_at_a_thousand_times(text: str) -> None:
    """A script writes a megabyte of them, and all that wait for the event loop waited for seconds."""
    assert mixed_words(text * 100)
    assert calls_of(lambda: mixed_words(text * 300_000)) < 500_000


def test_visible_keeps_what_people_write() -> None:
    assert visible("é\t名\n👩\u200d💻") == "é\t名\n👩\u200d💻"
    for written in ("❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "©\ufe0f", "می\u200cخواهم", "क्\u200dष"):
        assert visible(written) == written
    assert visible("\r\x00\x9b\ud800") == "\\r\\x00\\x9b\\ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::add-mask::a", "\\x3a:add-mask::a"),
        ("no\n  ::error file=a::b", "no\n  \\x3a:error file=a::b"),
        ("a ##[group]b", "a \\x23#[group]b"),
        ("##vso[task.setvariable variable=a]b", "\\x23#vso[task.setvariable variable=a]b"),
        ("##teamcity[buildStop]", "\\x23#teamcity[buildStop]"),
        ("a::b::c", "a::b::c"),
        (":: a", ":: a"),
        ("## [1] and ##", "## [1] and ##"),
        ("std::move", "std::move"),
    ],
)
def test_no_command_of_a_script_reaches_a_ci_service(text: str, shown: str) -> None:
    """What its jobs print is obeyed by it, wherever in the log a line begins with one."""
    assert visible(text) == shown
    err = io.StringIO()
    Terminal(io.StringIO(), err).log({"level": "info", "message": text})
    assert err.getvalue() == f"{shown}\n"


def test_progress_is_for_terminals_only() -> None:
    err = io.StringIO()
    with Terminal(io.StringIO(), err).progress() as progress:
        progress.show("working")
    assert err.getvalue() == ""


@pytest.mark.parametrize(("value", "kind", "told"), [(b"x", "bytes", True), ("eA==", "str", False)])
def test_bytes_in_a_pipe_are_told_from_text(value: object, kind: str, told: bool) -> None:
    out, err = io.StringIO(), io.StringIO()
    Terminal(out, err).outcome(Outcome(execution_id="e", status="completed", value=value, value_type=kind))
    assert out.getvalue().strip().strip('"') == "eA=="
    assert ("the value is bytes: its bytes are written as base64" in err.getvalue()) is told
