"""`isolith run` as a person and a program use it: forms of answer, exit codes, stdin, input, budgets. Each is a process."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, cast

import jsonschema
import pytest
from tests.e2e.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Isolith

QUICKSTART = ROOT / "fixtures" / "quickstart"


def document(text: str) -> dict[str, object]:
    """The one JSON document that a text is."""
    assert text.count("\n") == 1
    return cast("dict[str, object]", json.loads(text))


def test_the_issue_s_own_command(isolith: Isolith) -> None:
    done = isolith("run", "-c", "[x*x for x in range(5)]", "--json")
    answer = document(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (answer["status"], answer["value"], answer["value_type"]) == ("completed", [0, 1, 4, 9, 16], "list[int]")


def test_every_document_is_as_the_published_schema_says(isolith: Isolith) -> None:
    schema = json.loads(isolith("schema", "outcome").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    scripts = [
        "import datetime\nprint(1)\nlog.info('x', a={1})\n{datetime.date(2026, 1, 2): [b'x', 1.5, float('nan'), (1,)]}",
        "1 / 0",
        "x = crm.list_contacts(limit=1)",
        "artifact('a')\n'x' * 100_000",
        "const x = 1;",
    ]
    for script in scripts:
        answer = document(isolith("run", "-c", script, "--connect", str(QUICKSTART / "crm.py"), "--json").stdout)
        jsonschema.validate(answer, schema, jsonschema.Draft202012Validator)
        assert set(answer) == set(schema["properties"])


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["-c", "1"], 0, None),
        (["-c", "1 / 0"], 1, "exception"),
        (["-c", "x = ("], 1, "syntax"),
        (["-c", ""], 1, "not_a_script"),
        (["-c", "await asyncio.Event().wait()"], 1, "deadlock"),
        (["-c", "x\0"], 2, "invalid_input"),
        (["-c", "while True: pass", "--cpu-ms", "100"], 3, "cpu_exceeded"),
        (["-c", "await asyncio.sleep(9)", "--timeout", "0.1"], 3, "wall_exceeded"),
        (["-c", "search('a')", "--max-calls", "0"], 3, "calls_exceeded"),
        (["-c", "bytearray(10**8)", "--memory-mb", "64"], 3, "memory_exceeded"),
        (["-c", "'x' * 99", "--max-output-bytes", "50"], 3, "output_exceeded"),
    ],
)
def test_the_exit_code_says_how_it_ended(isolith: Isolith, arguments: list[str], code: int, kind: str | None) -> None:
    if "\0" in "".join(arguments):
        done = isolith("run", "-", "--json", stdin=b"x\0")
    else:
        done = isolith("run", *arguments, "--json")
    error = cast("dict[str, object] | None", document(done.stdout)["error"])
    assert (done.returncode, error and error["kind"], done.stderr) == (code, kind, "")


def test_a_script_comes_from_a_file_from_stdin_or_from_the_command(isolith: Isolith, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("input['n'] + 1\n")
    (tmp_path / "input.json").write_text('{"n": 5}')
    for arguments, stdin in [
        (["script.py", "--input", '{"n": 5}'], None),
        (["-", "--input", "@input.json"], b"input['n'] + 1"),
        (["-c", "input['n'] + 1", "--input", "@input.json"], None),
    ]:
        done = isolith("run", *arguments, stdin=stdin)
        assert (done.stdout, done.stderr, done.returncode) == ("6\n", "", 0)


def test_piped_the_value_is_on_stdout_and_all_else_on_stderr(isolith: Isolith, tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text("print('loading')\ndef go(n: int) -> int:\n    print('called')\n    return n\n")
    script = "print('a line')\nlog.warning('careful', n=1)\nemit({'n': 1})\nx = noisy.go(n=2)"
    done = isolith("run", "-c", script, "--connect", "noisy.py")
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert done.stderr.splitlines() == [
        "loading",
        "a line",
        "warning: careful n=1",
        '{"n": 1}',
        "called",
        "warning[check]: the script ends with an assignment, so it answers with `x`; end with `x`",
        "    4 | x = noisy.go(n=2)",
    ]


def test_text_is_written_as_it_is(isolith: Isolith) -> None:
    assert isolith("run", "-c", "'grün\\n' * 2").stdout == "grün\ngrün\n\n"


def test_a_failure_shows_the_line_and_a_caret(isolith: Isolith) -> None:
    done = isolith("run", "-c", "total = 1\nprint(totl)")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "error[exception]: NameError: name 'totl' is not defined",
        "    2 | print(totl)",
        "      |       ^",
        "  hint: did you mean `total`?",
    ]


def test_a_stream_is_events_in_their_order_and_the_outcome_last(isolith: Isolith) -> None:
    script = (
        "print('first')\nemit({1: 'a'})\nc = crm.list_contacts(limit=1)\nprogress(1, 2, 'half')\nprint('last')\nlen(c)"
    )
    done = isolith("run", "-c", script, "--connect", str(QUICKSTART / "crm.py"), "--stream")
    lines = [cast("dict[str, object]", json.loads(line)) for line in done.stdout.splitlines()]
    assert [line["event"] for line in lines] == [
        "log",
        "emit",
        "call_started",
        "call_ended",
        "progress",
        "log",
        "outcome",
    ]
    assert [line["seq"] for line in lines[:-1]] == [1, 2, 3, 4, 5, 6]
    assert len({line["execution_id"] for line in lines}) == 1
    assert lines[1]["value"] == {"1": "a"}
    assert (lines[-1]["status"], lines[-1]["value"], done.returncode, done.stderr) == ("completed", 1, 0, "")


def test_the_quickstart(isolith: Isolith) -> None:
    done = isolith("run", str(QUICKSTART / "report.py"), "--connect", str(QUICKSTART / "crm.py"), "--json")
    answer = document(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert answer["value"] == [
        {"name": "Edsger", "since": "2023-01-15", "revenue": 560},
        {"name": "Grace", "since": "2021-09-09", "revenue": 3400},
    ]
    assert answer["value_type"] == "list[dict[str, str | date | int]]"
    calls = cast("list[dict[str, object]]", answer["calls"])
    assert [(call["connector"], call["method"], call["status"]) for call in calls] == [
        ("crm", "list_contacts", "completed"),
        ("crm", "revenue", "completed"),
    ]


def test_a_module_and_an_object_can_be_connected(isolith: Isolith, tmp_path: Path) -> None:
    shutil.copy(QUICKSTART / "crm.py", tmp_path / "quick_crm.py")
    done = isolith("run", "-c", "len(crm.list_contacts())", "--connect", "quick_crm:Crm")
    assert (done.stdout, done.returncode) == ("3\n", 0)


def test_search_describe_and_catalog(isolith: Isolith) -> None:
    connect = ["--connect", str(QUICKSTART / "crm.py")]
    assert "crm.revenue: Revenue in one year by company" in isolith("search", "revenue", *connect).stdout
    assert "async def revenue(*, year: int) -> dict[str, int]" in isolith("describe", "crm.revenue", *connect).stdout
    assert "crm.list_contacts(limit: int = 10)" in isolith("catalog", *connect).stdout


def test_a_ceiling_is_a_warning(isolith: Isolith) -> None:
    done = isolith("run", "-c", "1", "--cpu-ms", "99999999")
    assert (done.stdout, done.returncode) == ("1\n", 0)
    assert done.stderr.splitlines()[0] == (
        "warning[invalid_input]: budget `cpu_ms`: 99,999,999 asked, 60,000 given, which is the most this host allows"
    )


BREAKING = """
class Broken:
    name, description, excluded = "broken", "", {}

    def __init__(self):
        from isolith_bindings.testing import a_method
        self.methods = {"go": a_method("go")}

    async def call(self, method, arguments, context):
        raise RuntimeError("secret-4711")

    async def start(self): ...

    async def aclose(self): ...

connectors = [Broken()]
"""


@pytest.mark.parametrize("form", [[], ["--json"], ["--stream"]])
def test_a_bug_of_ours_is_exit_code_five_and_an_id_that_the_log_resolves(
    isolith: Isolith, tmp_path: Path, form: list[str]
) -> None:
    (tmp_path / "broken.py").write_text(BREAKING)
    done = isolith("run", "-c", "broken.go()", "--connect", "broken.py", *form)
    assert done.returncode == 5
    logged = json.loads(done.stderr.splitlines()[0])
    assert (logged["event"], logged["error"]) == ("internal error", "RuntimeError")
    assert logged["error_id"] in (done.stdout.splitlines()[-1] if form else done.stderr.split("\n", 1)[1])
    assert "secret-4711" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
