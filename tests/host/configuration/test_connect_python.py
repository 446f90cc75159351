"""Connectors in Python: the files and modules that give them, and what is said of those that do not."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest
from tests.host.configuration.specs import CLASSES, FUNCTIONS, failure, names, write

from isolith.configuration.connect import connect
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("imports_are_undone")

WHAT_COUNTS = (
    "what counts: classes marked with `@connector`, a list named `connectors`, "
    "or else public functions that the file itself defines"
)


def test_the_classes_of_a_file(tmp_path: Path) -> None:
    assert names(write(tmp_path / "any.py", CLASSES)) == ["crm", "billing"]


def test_the_functions_of_a_file_are_called_like_the_file(tmp_path: Path) -> None:
    [connector] = connect(write(tmp_path / "my-math.py", FUNCTIONS))
    assert (connector.name, list(connector.methods)) == ("my_math", ["add"])
    call = connector.call(connector.methods["add"], {"a": 1, "b": 2}, a_context())
    assert asyncio.run(call) == 3


def test_a_list_of_connectors(tmp_path: Path) -> None:
    assert names(write(tmp_path / "any.py", CLASSES + "\nconnectors = [Billing()]\n")) == ["billing"]


def test_a_file_by_a_path_from_here(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "mine.py", FUNCTIONS)
    assert names("sub/mine.py") == ["mine"]


def test_a_file_imports_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path / "sub" / "neighbour_of_it.py", "LIMIT = 3")
    spec = write(tmp_path / "sub" / "mine.py", "from neighbour_of_it import LIMIT\ndef limit() -> int: return LIMIT")
    [connector] = connect(spec)
    assert asyncio.run(connector.call(connector.methods["limit"], {}, a_context())) == 3


def test_a_file_hides_no_module_of_its_name(tmp_path: Path) -> None:
    import json

    spec = write(tmp_path / "json.py", FUNCTIONS)
    assert names(spec) == ["json"]
    assert sys.modules["json"] is json


def test_two_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    one = write(tmp_path / "a" / "mine.py", "def one() -> int: return 1")
    two = write(tmp_path / "b" / "mine.py", "def two() -> int: return 2")
    assert [list(connect(spec)[0].methods) for spec in (one, two)] == [["one"], ["two"]]


def test_one_object_of_a_file(tmp_path: Path) -> None:
    assert names(write(tmp_path / "any.py", CLASSES) + ":Crm") == ["crm"]


def test_module_and_object(tmp_path: Path) -> None:
    listed = (
        "\nitems = [Crm(), Billing]\nfunctions = [not_a_connector]\nnamed = {'one': not_a_connector}\ncrm = Crm()\n"
    )
    write(tmp_path / "pack_of_mine" / "inner.py", CLASSES + listed)
    write(tmp_path / "pack_of_mine" / "__init__.py", "")
    assert names("pack_of_mine.inner:Crm") == ["crm"]
    assert names("pack_of_mine.inner:crm") == ["crm"]
    assert names("pack_of_mine.inner:items") == ["crm", "billing"]
    assert names("pack_of_mine.inner:functions") == ["functions"]
    assert names("pack_of_mine.inner:named") == ["named"]
    assert names("pack_of_mine:inner") == ["crm", "billing"]
    assert names("pack_of_mine:inner.Billing") == ["billing"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nraise ValueError('no key')", "`mine.py`, line 2: raised ValueError: no key"),
        ("def f():\n    1 / 0\n\nf()\n", "`mine.py`, line 2: raised ZeroDivisionError: division by zero"),
        ("raise RuntimeError", "`mine.py`, line 1: raised RuntimeError"),
        ("import sys\nsys.exit(3)", "`mine.py`, line 2: raised SystemExit: 3"),
        ("import asyncio\nraise asyncio.CancelledError", "`mine.py`, line 2: raised CancelledError"),
        ("import not_there", "`mine.py`, line 1: raised ModuleNotFoundError: No module named 'not_there'"),
        ("\nimport json\njson.loads('{')", None),
        (
            "from isolith_bindings.functions import connector\n@connector('print')\nclass P: pass",
            (
                "`mine.py`, line 2: raised InvalidName: `print` cannot name a connector: every script has a `print` "
                'already. Choose another, such as @connector("print_tools")'
            ),
        ),
        ("def f(:\n", "`mine.py` is not Python, line 1: invalid syntax: `def f(:`"),
        ("const x = 1;", "`mine.py` is not Python, line 1: invalid syntax: `const x = 1;`"),
        ("x = 1\n  y = 2", "`mine.py` is not Python, line 2: unexpected indent: `y = 2`"),
        ("", f"`mine.py`: there is nothing in it to connect; {WHAT_COUNTS}"),
        (
            "x = 3\ndef _f(): ...\nfrom json import dumps",
            f"`mine.py`: there is nothing in it to connect; {WHAT_COUNTS}",
        ),
        ("connectors = []", f"`mine.py`: there is nothing in it to connect; {WHAT_COUNTS}"),
        (
            "connectors = [3]",
            "`mine.py`: what is of type int is no connector: give a class, an instance, a module, or functions",
        ),
        (
            "def f(a, /): ...",
            (
                "`mine.py`: mine.f takes `a` by position only, and scripts give arguments by name: "
                "take the `/` out of its parameters"
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, message: str | None) -> None:
    write(tmp_path / "mine.py", text)
    expected = message or (
        "`mine.py`, line 3: raised JSONDecodeError: "
        "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    )
    assert failure("mine.py") == expected
    left = [name for name in sys.modules if name.startswith("isolith_connected") and name.endswith("_mine")]
    assert not left or "mine.py`:" in expected


@pytest.mark.parametrize("content", [b"x = 1\n\x00", b"x = '\xff'\n", b"\xff\xfex\x00=\x001\x00"])
def test_bytes_that_are_no_python(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "mine.py", content)
    message = failure("mine.py")
    assert message.startswith(("`mine.py` is not Python", "`mine.py`: raised ValueError: source code string"))
    assert "Traceback" not in message
    assert "\n" not in message


def test_a_neighbour_that_is_no_python_is_named(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad_neighbour.py", "x =")
    write(tmp_path / "mine.py", "import bad_neighbour")
    assert failure("mine.py") == f"`mine.py` is not Python, line 1 (in {bad}): invalid syntax: `x =`"


def test_a_module_that_raises_says_where(tmp_path: Path) -> None:
    spec = write(tmp_path / "broken_module.py", "\nraise LookupError('gone')")
    assert failure("broken_module:x") == f"`broken_module:x`, line 2 of {spec}: raised LookupError: gone"
    write(tmp_path / "half_module.py", "import nowhere_at_all")
    assert failure("half_module:x").endswith("raised ModuleNotFoundError: No module named 'nowhere_at_all'")


def test_a_module_that_was_written_just_now_is_found(tmp_path: Path) -> None:
    """Python looks into a folder anew where its time is another, and many a file system has one for some milliseconds."""
    assert "there is no module `late_module`" in failure("late_module:x")
    looked = tmp_path.stat()
    spec = write(tmp_path / "late_module.py", "from late_neighbour import items")
    write(tmp_path / "late_neighbour.py", CLASSES + "\nitems = [Crm]")
    os.utime(tmp_path, ns=(looked.st_atime_ns, looked.st_mtime_ns))
    assert names("late_module:items") == names(f"{spec}:items") == ["crm"]


def test_a_file_that_failed_can_be_mended_and_connected(tmp_path: Path) -> None:
    spec = write(tmp_path / "mine.py", "raise ValueError")
    failure(spec)
    write(tmp_path / "mine.py", FUNCTIONS)
    assert names(spec) == ["mine"]


def test_an_interrupt_while_loading_passes_through(tmp_path: Path) -> None:
    write(tmp_path / "mine.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        connect("mine.py")
