"""`--connect`: what gives connectors, and what is said of everything else."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from isolith.configuration.config import read_config
from isolith.configuration.connect import connect, connect_all
from isolith.errors import ConnectError
from isolith_bindings.testing import a_context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLASSES = """
from __future__ import annotations
from dataclasses import dataclass
from isolith_bindings.functions import connector

@dataclass
class Contact:
    name: str

@connector("crm")
class Crm:
    def get(self, name: str) -> Contact:
        return Contact(name)

@connector
class Billing:
    def total(self) -> int:
        return 3

def not_a_connector() -> int:
    return 1
"""
FUNCTIONS = """
import json
from json import dumps

def add(a: int, b: int) -> int:
    return a + b

def _helper() -> int:
    return 1
"""


@pytest.fixture(autouse=True)
def imports_are_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield
    assert sys.path == path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def write(path: Path, text: str | bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def names(spec: str) -> list[str]:
    return [connector.name for connector in connect(spec)]


def failure(*specs: str) -> str:
    with pytest.raises(ConnectError) as caught:
        connect_all(specs)
    return str(caught.value)


# ---------------------------------------------------------------------------------------------- files


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


# ---------------------------------------------------------------------------------------------- modules


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


# ---------------------------------------------------------------------------------------------- servers and configurations

MCP = '{"mcpServers": {"docs": {"command": "npx"}, "my-files": {"url": "https://files.test/mcp"}}}'


@pytest.mark.parametrize("name", ["mcp.json", ".mcp.json", "servers.jsonc"])
def test_the_servers_of_a_file(tmp_path: Path, name: str) -> None:
    assert names(write(tmp_path / name, MCP)) == ["docs", "my_files"]


def test_a_server_by_its_command_or_address() -> None:
    assert names("docs=npx -y server") == ["docs"]
    assert names("my-docs=https://docs.test/mcp") == ["my_docs"]


def test_a_configuration_and_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    write(folder / "crm.py", CLASSES)
    write(folder / "sub" / "mcp.json", MCP)
    write(
        folder / "isolith.toml",
        """
        connect = ["crm.py", "sub/mcp.json", "time=uvx mcp-server-time"]
        [connectors.notes]
        command = "./serve"
        [connectors.off]
        url = "https://off.test"
        disabled = true
        [servers.late]
        command = "x"
        """,
    )
    expected = ["crm", "billing", "docs", "my_files", "time", "notes", "late"]
    assert names(str(folder / "isolith.toml")) == expected
    assert [connector.name for connector in connect_all((), config=read_config(folder / "isolith.toml"))] == expected


def test_a_configuration_connects_no_other_one(tmp_path: Path) -> None:
    write(tmp_path / "isolith.toml", 'connect = ["isolith.toml"]')
    assert failure("isolith.toml") == "`isolith.toml` is not a Python file; connect FILE.py, or module:object"


@pytest.mark.parametrize(
    ("beyond", "said"),
    [
        ('[policy]\npreset = "careful"\n[budgets]\ncpu_ms = 150', "a policy and budgets, which count only"),
        ('policy = "readonly"', "a policy, which counts only"),
        ("[ceilings]\ncpu_ms = 9", "ceilings, which count only"),
        ('[reverts]\n"a.b" = "a.c"\n[journal]\nurl = "x.db"', "reverts and a journal, which count only"),
    ],
)
def test_a_configuration_is_not_connected_without_what_it_allows(tmp_path: Path, beyond: str, said: str) -> None:
    """It was: `--connect` took the connectors, and a run that its policy denies was made."""
    write(tmp_path / "pay.py", FUNCTIONS)
    write(
        tmp_path / "pol.toml", f'connect = ["pay.py"]\n{beyond}' if "[" in beyond else f'{beyond}\nconnect = ["pay.py"]'
    )
    assert failure("pol.toml") == f"`pol.toml` has {said} where it is given with `--config pol.toml`"
    assert len(connect_all((), config=read_config(tmp_path / "pol.toml"))) == 1


def test_servers_in_json_are_not_connected_without_what_it_allows(tmp_path: Path) -> None:
    write(tmp_path / "mcp.json", MCP.replace("{", '{"connectors": {}, "policy": "readonly", ', 1))
    said = "`mcp.json` has a policy and `connectors`, which count only where it is given with `--config mcp.json`"
    assert failure("mcp.json") == said


def test_a_name_that_is_in_a_configuration_already(tmp_path: Path) -> None:
    write(tmp_path / "isolith.toml", '[connectors.docs]\ncommand = "x"')
    with pytest.raises(ConnectError) as caught:
        connect_all(["docs=npx x"], config=read_config(tmp_path / "isolith.toml"))
    assert "a connector called `docs` comes from" in str(caught.value)


# ---------------------------------------------------------------------------------------------- what is wrong

WHAT_COUNTS = (
    "what counts: classes marked with `@connector`, a list named `connectors`, "
    "or else public functions that the file itself defines"
)
WHAT = "connect FILE.py, module:object, an mcp.json, an OpenAPI document, name=command, or name=https://..."


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


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("none.py", "`none.py`: there is no such file"),
        ("none.py:x", "`none.py`: there is no such file"),
        ("none", f"`none`: there is no such file; {WHAT}"),
        ("", f"``: there is no such file; {WHAT}"),
        ("a folder.py", "`a folder.py` is not a Python file; connect FILE.py, or module:object"),
        ("notes.txt", "`notes.txt` is not a Python file; connect FILE.py, or module:object"),
        ("mcp.json", "`mcp.json`: there is no such file"),
        ("isolith.toml", "`isolith.toml`: there is no such file"),
        (
            "other.json",
            (
                "`other.json` holds neither MCP servers, under `mcpServers` or `servers`, nor an OpenAPI document, "
                "which says `openapi` or `swagger`"
            ),
        ),
        ("list.json", "`list.json` holds no table of names and values"),
        (
            "broken.json",
            "`broken.json` is not JSON: line 1, column 2: Expecting property name enclosed in double quotes",
        ),
        ("bytes.json", "`bytes.json` is not UTF-8 at byte 0: save it as UTF-8"),
        ("other.yaml", "`other.yaml` is no OpenAPI document: it begins with `openapi: 3...` or `swagger: '2.0'`"),
        ("files=", "`files=`: there is no command after the `=`: write files=command argument ..."),
        ("nowhere_at_all:x", "`nowhere_at_all:x`: there is no module `nowhere_at_all`; is it installed, or here?"),
        ("json.nowhere:x", "`json.nowhere:x`: there is no module `json.nowhere`; is it installed, or here?"),
        ("json:dumbs", "`json:dumbs`: there is no `dumbs` in `json`; did you mean `dumps` or `dump`?"),
        ("json:zzzzz", "`json:zzzzz`: there is no `zzzzz` in `json`"),
        (
            "json:dumps",
            "`json:dumps`: `dumps` is one function: put it in a list, with what else belongs to the connector",
        ),
        (
            "math:pi",
            "`math:pi`: what is of type float is no connector: give a class, an instance, a module, or functions",
        ),
    ],
)
def test_what_is_wrong_with_a_spec(tmp_path: Path, spec: str, message: str) -> None:
    (tmp_path / "a folder.py").mkdir()
    write(tmp_path / "notes.txt", "hello")
    write(tmp_path / "other.json", '{"name": "openapi", "servers": []}')
    write(tmp_path / "list.json", "[1]")
    write(tmp_path / "broken.json", "{")
    write(tmp_path / "bytes.json", b"\xff\xfe{\0}\0")
    write(tmp_path / "other.yaml", "mcpServers:\n  openapi: 3.1.0\n")
    assert failure(spec) == message


@pytest.mark.parametrize("spec", ["x" * 5000, "x" * 5000 + ".py", "\0", "\0.py"])
def test_a_name_that_no_file_could_have(spec: str) -> None:
    assert "there is no such file" in failure(spec)


def test_a_module_that_raises_says_where(tmp_path: Path) -> None:
    spec = write(tmp_path / "broken_module.py", "\nraise LookupError('gone')")
    assert failure("broken_module:x") == f"`broken_module:x`, line 2 of {spec}: raised LookupError: gone"
    write(tmp_path / "half_module.py", "import nowhere_at_all")
    assert failure("half_module:x").endswith("raised ModuleNotFoundError: No module named 'nowhere_at_all'")


def test_two_connectors_of_one_name(tmp_path: Path) -> None:
    write(tmp_path / "one.py", CLASSES)
    write(tmp_path / "two.py", CLASSES)
    assert failure("one.py", "two.py") == (
        "`two.py`: a connector called `crm` comes from `one.py` already; "
        'give one of them another name, in its file or by @connector("...")'
    )
    assert failure("one.py:Crm", "one.py").startswith("`one.py`: a connector called `crm` comes from `one.py:Crm`")


def test_two_servers_of_one_name(tmp_path: Path) -> None:
    servers = '{"mcpServers": {"a-b": {"command": "x"}}}'
    write(tmp_path / "one.json", servers)
    write(tmp_path / "two.json", servers)
    said = "a connector called `a_b` comes from `one.json` already"
    mend = "change its key in that file, or, for an OpenAPI document, write NAME=PATH"
    assert failure("one.json", "two.json") == f"`two.json`: {said}; {mend}"
    assert failure("one.json", "a_b=x y.py") == f"`a_b=x y.py`: {said}; write another name before the `=`"


def test_two_entries_of_a_configuration_that_scripts_would_call_the_same(tmp_path: Path) -> None:
    write(tmp_path / "isolith.toml", '[connectors.a-b]\ncommand = "x"\n[connectors.a_b]\ncommand = "x"')
    with pytest.raises(ConnectError) as caught:
        connect_all((), config=read_config(tmp_path / "isolith.toml"))
    assert "`a-b` and `a_b` would both be called `a_b` in scripts; change the key of one" in str(caught.value)


def test_several_specs(tmp_path: Path) -> None:
    write(tmp_path / "one.py", CLASSES)
    write(tmp_path / "two.py", FUNCTIONS)
    assert [connector.name for connector in connect_all(["one.py", "two.py"])] == ["crm", "billing", "two"]
    assert connect_all([]) == []


def test_a_file_that_failed_can_be_mended_and_connected(tmp_path: Path) -> None:
    spec = write(tmp_path / "mine.py", "raise ValueError")
    failure(spec)
    write(tmp_path / "mine.py", FUNCTIONS)
    assert names(spec) == ["mine"]


def test_an_interrupt_while_loading_passes_through(tmp_path: Path) -> None:
    write(tmp_path / "mine.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        connect("mine.py")
