"""`isolith test`: exit codes, what is said, what is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from typer.testing import Result

    Put = Callable[[str, str, object], Path]
    Run = Callable[..., Result]


def cases(put: Put) -> None:
    put("good", "print('seen')\nawait crm.revenue(year=input)", {"input": 4, "value": 8, "calls": ["crm.revenue"]})
    put("sub/fails", "x = 1\nx / 0", {"status": "failed", "error": {"kind": "exception", "line": 2}})
    put("waits", "await crm.delete(id=1)", {"status": "paused", "pending": ["crm.delete"]})
    put("loops", "while True:\n    pass", {"status": "failed", "error": {"kind": "cpu_exceeded", "line": 2}})
    put("helper", "this is no case", None)


def test_all_as_expected(put: Put, run: Run) -> None:
    cases(put)
    done = run("cases")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "4 scripts, 0 failed, 0 written"


def test_one_that_differs_is_told_and_ends_with_1(put: Put, run: Run, folder: Path) -> None:
    put("good", "1", {"value": 1})
    put("wrong", "print('a \\x00 b ]]> <c>')\n1 / 0", {"value": 8})
    done = run("cases", "--junit", "out/results.xml")
    assert done.exit_code == 1
    for text in (
        "FAILED  cases/wrong.py",
        "expected completed, was failed",
        "ZeroDivisionError",
        "2 scripts, 1 failed",
    ):
        assert text in done.output
    (suite,) = ET.fromstring((folder / "out" / "results.xml").read_bytes())  # noqa: S314 - ours
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    good, wrong = suite
    assert [good.get("name"), good.get("classname"), list(good)] == ["good", "cases", []]
    failure, out = wrong
    assert (failure.tag, failure.get("type"), out.text) == ("failure", "exception", "a \\x00 b ]]> <c>")
    assert "line 2" in str(failure.text)


def test_as_json(put: Put, run: Run) -> None:
    put("wrong", "7", {"value": 8})
    done = run("cases", "--json")
    (told,) = json.loads(done.stdout)["results"]
    assert (told["script"], told["passed"], told["outcome"]["value"]) == ("cases/wrong.py", False, 7)
    assert told["differences"] == ["value: expected 8, was 7"]


def test_what_scripts_come_to_is_written_and_holds(put: Put, run: Run, folder: Path) -> None:
    changed = put("changed", "input['n'] + 1", {"input": {"n": 1}, "value": 8})
    new = put("new", "x = 1\nx / 0", None)
    kept = put("kept", "1", {"value": 1.0 and 1})
    before = (folder / "cases" / "kept.expect.json").read_bytes()
    assert run("cases", str(new), "--update").exit_code == 0
    assert json.loads(changed.with_name("changed.expect.json").read_text()) == {
        "input": {"n": 1},
        "status": "completed",
        "value": 2,
    }
    assert json.loads(new.with_name("new.expect.json").read_text())["error"] == {"kind": "exception", "line": 2}
    assert kept.with_name("kept.expect.json").read_bytes() == before
    assert run("cases").exit_code == 0


def test_a_script_that_is_named_need_only_complete(put: Put, run: Run) -> None:
    assert run(str(put("fine", "1", None))).exit_code == 0
    assert run(str(put("not", "1 / 0", None))).exit_code == 1


def test_wrong_use(put: Put, run: Run, folder: Path) -> None:
    assert "there are no cases" in run("cases").output
    put("twice", "1", {"value": 1})
    (folder / "cases" / "twice.expect.toml").write_text("value = 1")
    assert "two expectations" in run("cases").output
    (folder / "cases" / "twice.expect.json").unlink()
    assert run("cases").exit_code == 0
    (folder / "cases" / "twice.py").unlink()
    for arguments, said in ((("cases",), "has no script"), (("nowhere",), "does not exist")):
        done = run(*arguments)
        assert (done.exit_code, said in done.output) == (2, True)
    assert "name its script" in run("cases/twice.expect.toml").output


def test_toml_is_left_to_its_author_and_holds_up_no_other(put: Put, run: Run, folder: Path) -> None:
    changed = put("changed", "2", {"value": 1})
    put("passes", "3", None)
    (folder / "cases" / "passes.expect.toml").write_text("value = 3")
    done = run("cases", "--update")
    assert (done.exit_code, "by hand" in done.output) == (0, False)
    assert json.loads(changed.with_name("changed.expect.json").read_text())["value"] == 2
    differs = folder / "cases" / "passes.expect.toml"
    differs.write_text("# why\nvalue = 4")
    put("changed", "2", {"value": 1})
    done = run("cases", "--update")
    assert (done.exit_code, differs.read_text()) == (1, "# why\nvalue = 4")
    assert "`--update` writes JSON: change `cases/passes.expect.toml` by hand" in done.output
    assert json.loads(changed.with_name("changed.expect.json").read_text())["value"] == 2


def test_all_that_is_wrong_with_expectations_is_told_at_once(put: Put, run: Run, folder: Path) -> None:
    put("bad", "1", {"valeu": 1})
    put("orphan", "1", {"value": 1}).unlink()
    put("twice", "1", {"value": 1})
    (folder / "cases" / "twice.expect.toml").write_text("value = 1")
    done = run("cases", "nowhere")
    assert done.exit_code == 2
    for said in ("`valeu`", "`cases/orphan.expect.json` has no script", "two expectations", "`nowhere` does not exist"):
        assert done.output.count(said) == 1, said


def test_a_bug_of_ours_is_an_error_and_ends_with_5(
    put: Put, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("expected", "1", {"status": "failed", "error": {"kind": "internal"}})

    def broken(*_: object) -> None:
        raise RuntimeError("of ours")

    monkeypatch.setattr("isolith.run.execution.prepared", broken)
    done = run("cases", "--junit", "results.xml", "--update")
    assert done.exit_code == 5
    (suite,) = ET.fromstring((folder / "results.xml").read_bytes())  # noqa: S314 - ours
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    assert "internal" in (folder / "cases" / "expected.expect.json").read_text()  # it is not taken for what is right
