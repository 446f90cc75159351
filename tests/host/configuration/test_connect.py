"""`--connect`: what gives connectors, and what is said of everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.host.configuration.specs import CLASSES, FUNCTIONS, failure, names, write

from isolith.configuration.config import read_config
from isolith.configuration.connect import connect_all
from isolith.errors import ConnectError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("imports_are_undone")


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
    """It was said to be no Python file."""
    write(tmp_path / "api" / "isolith.toml", '[connectors.docs]\ncommand = "x"')
    write(tmp_path / "isolith.toml", 'connect = ["api/isolith.toml"]')
    told = "`api/isolith.toml`: a configuration connects no other one: write here what that connects"
    assert failure("isolith.toml") == told


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


WHAT = "connect FILE.py, module:object, an mcp.json, an OpenAPI document, name=command, or name=https://..."


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
