"""Wrong input to the command line: a message with the place and the mend, the exit code, and no traceback of ours."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Isolith

FILES: dict[str, bytes] = {
    "empty.py": b"",
    "large.py": b"x" * 10_000_000,
    "nul.py": b"x = 1\ny = '\0'\n",
    "latin.py": "x = 1\ny = 'ü'\n".encode("latin-1"),
    "utf16.py": "x = 1".encode("utf-16"),
    "raises.py": b"import os\n\nraise RuntimeError('no settings')\n",
    "imports.py": b"import no_such_module\n",
    "broken.py": b"def (:\n",
    "exits.py": b"raise SystemExit(0)\n",
    "nothing.py": b"x = 1\n",
    "bare.py": b"def add(a, b=1):\n    return a + b\n",
    "private.py": b"import os\ndef _hidden(): ...\n",
    "unbindable.py": b"import socket\ndef f(x: socket.socket) -> int:\n    return 1\n",
    "one.py": b"from isolith import connector\n@connector('crm')\nclass A:\n    def f(self) -> int: return 1\n",
    "two.py": b"from isolith import connector\n@connector('crm')\nclass B:\n    def g(self) -> int: return 1\n",
    "builtin.py": b"from isolith import connector\n@connector('print')\nclass C:\n    def g(self) -> int: return 1\n",
    "bad.json": b"{\n  'a': 1}",
    "empty.json": b'{"mcpServers": {}}',
    "latin.json": b'{"a": "\xfc"}',
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return tmp_path


WRONG = [
    (["run", "empty.py"], 1, ["error[not_a_script]: the script is empty", "a script is Python with top-level `await`"]),
    (["run", "large.py"], 2, ["error[invalid_input]: the script is larger than its budget: `script_bytes` is 262,144", "as `input`"]),
    (["run", "nul.py"], 2, ["error[invalid_input]: the script holds a NUL byte", "line 2, column 6", "remove it"]),
    (["run", "latin.py"], 2, ["the script is not UTF-8: byte 0xfc is no part of a character", "line 2, column 6", "save it as UTF-8"]),
    (["run", "utf16.py"], 2, ["the script is encoded as UTF-16", "save it as UTF-8"]),
    (["run", "missing.py"], 2, ["isolith: the script `missing.py` does not exist: give the path of a file"]),
    (["run", "folder"], 2, ["isolith: the script `folder` is a folder: give the path of a file"]),
    (["run"], 2, ["isolith: no script: give a file, `-` for stdin, or `-c CODE`"]),
    (["run", "x.py", "-c", "1"], 2, ["isolith: both a script, `x.py`, and `-c` are given: keep one"]),
    (["run", "-c", "1", "--json", "--stream"], 2, ["isolith: both `--json` and `--stream` are given: keep one"]),
    (["run", "-c", "1", "--input", "{'a': 1}"], 2, ["isolith: `--input` is not JSON: line 1, column 2", "quote it for the shell"]),
    (["run", "-c", "1", "--input", "@bad.json"], 2, ["isolith: the input `bad.json` is not JSON: line 2, column 3", "mend it there"]),
    (["run", "-c", "1", "--input", "@none.json"], 2, ["isolith: the input `none.json` does not exist"]),
    (["run", "-c", "1", "--input", "@latin.json"], 2, ["isolith: the input `latin.json` is not UTF-8 at byte 7: save it as UTF-8"]),
    (["run", "-c", "1", "--input", "NaN"], 2, ["isolith: `--input` is not JSON"]),
    (["run", "-c", "1", "--connect", "missing.py"], 2, ["isolith: `missing.py`: there is no such file"]),
    (["run", "-c", "1", "--connect", "no_module:thing"], 2, ["isolith: `no_module:thing`: there is no module `no_module`"]),
    (["run", "-c", "1", "--connect", "one.py:Nope"], 2, ["isolith: `one.py:Nope`: there is no `Nope` in `one.py`"]),
    (["run", "-c", "1", "--connect", "raises.py"], 2, ["isolith: `raises.py`, line 3: raised RuntimeError: no settings"]),
    (["run", "-c", "1", "--connect", "imports.py"], 2, ["isolith: `imports.py`, line 1: raised ModuleNotFoundError"]),
    (["run", "-c", "1", "--connect", "broken.py"], 2, ["isolith: `broken.py` is not Python, line 1"]),
    (["run", "-c", "1", "--connect", "exits.py"], 2, ["isolith: `exits.py`, line 1: raised SystemExit: 0"]),
    (["run", "-c", "1", "--connect", "nothing.py"], 2, ["isolith: `nothing.py`: there is nothing in it to connect", "@connector"]),
    (["run", "-c", "1", "--connect", "private.py"], 2, ["isolith: `private.py`: there is nothing in it to connect"]),
    (["run", "-c", "1", "--connect", "unbindable.py"], 2, ["unbindable.f: its parameter `x` is annotated `socket`", "use plain types"]),
    (["run", "-c", "1", "--connect", "builtin.py"], 2, ["builtin.py", "`print` cannot name a connector", "Choose another"]),
    (["run", "-c", "1", "--connect", "mcp.json"], 2, ["isolith: `mcp.json`: there is no such file"]),
    (["run", "-c", "1", "--connect", "empty.json"], 2, ["isolith: `empty.json` has no server that is switched on"]),
    (["run", "-c", "1", "--connect", "bad.json"], 2, ["isolith: `bad.json`", "line 2"]),
    (["run", "-c", "1", "--connect", "one.py", "--connect", "two.py"], 2,
     ["isolith: `two.py`: a connector called `crm` comes from `one.py` already; give one of them another name"]),
    (["run", "-c", "1", "--cpu-ms", "-5"], 2, ["isolith: budget `cpu_ms` must be greater than or equal to 1, not -5"]),
    (["run", "-c", "1", "--memory-mb", "5"], 2, ["isolith: budget `memory_mb` must be greater than or equal to 64, not 5"]),
    (["run", "-c", "1", "--timeout", "inf"], 2, ["isolith: budget `wall_s` has to be finite"]),
    (["run", "-c", "1", "--cpu-ms", "much"], 2, ["Invalid value for '--cpu-ms'"]),
    (["run", "-c", "1", "--nonsense"], 2, ["No such option"]),
    (["describe", "crm.nope", "--connect", "one.py"], 2, ["isolith: crm has no method `nope`"]),
    (["search", "x", "--connect", "one.py", "--limit", "0"], 2, ["isolith: search: `limit`: expected a whole number"]),
    (["frobnicate"], 2, ["No such command"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "said"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_what_is_wrong_is_said_with_its_place_and_mend(
    isolith: Isolith, files: Path, arguments: list[str], code: int, said: list[str]
) -> None:
    done = isolith(*arguments)
    assert done.returncode == code
    if "--json" in arguments:  # whoever reads JSON is told in JSON, too
        assert json.loads(done.stdout)["error"]["message"] in said[0]
    else:
        assert done.stdout == ""
    shown = " ".join(done.stderr.replace("│", " ").split())
    for part in said:
        assert part in shown
    assert "Traceback" not in done.stderr
    assert "site-packages" not in done.stderr


def test_a_function_without_annotations_takes_and_gives_anything(isolith: Isolith, files: Path) -> None:
    done = isolith(
        "run",
        "-c",
        "[bare.add(a=1), bare.add(a='x', b='y'), describe('bare.add')['signature']]",
        "--connect",
        "bare.py",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2" in done.stdout
    assert '"xy"' in done.stdout
    assert "def add(*, a, b=1)" in done.stdout


def test_an_empty_stdin_is_an_empty_script(isolith: Isolith) -> None:
    done = isolith("run", "-")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the script is empty" in done.stderr


def test_an_input_that_is_too_large_is_said(isolith: Isolith, tmp_path: Path) -> None:
    (tmp_path / "large.json").write_text('"' + "x" * 2_000_000 + '"')
    done = isolith("run", "-c", "1", "--input", "@large.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[invalid_input]: the input is 2,000,002 bytes; `input_bytes` is 1,048,576" in done.stderr
