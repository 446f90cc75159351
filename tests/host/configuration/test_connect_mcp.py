"""MCP servers as other programs write them, and what is said of those that are wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from isolith.configuration.connect import connect
from isolith.configuration.connect_mcp import Person, env_file, from_command, from_document
from isolith.configuration.documents import parse_json
from isolith.configuration.server_entries import table
from isolith.errors import ConnectError
from isolith_bindings.availability import why_absent
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import HttpServer, SseServer, StdioServer
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.configuration.variables import Input
    from isolith_bindings.connector import Connector

CLAUDE = """{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "server-filesystem", "${ROOT_OF:-/srv}"], "env": {"TOKEN": "${DOCS_TOKEN}"}},
    "remote": {"type": "http", "url": "${BASE:-https://api.test}/mcp", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}},
    "old": {"type": "sse", "url": "https://old.test/sse"}
  }
}"""
VS_CODE = """{
  // as VS Code writes it
  "inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": true},],
  "servers": {
    "files": {
      "type": "stdio", "command": "${workspaceFolder}/bin/serve", "args": ["--root", "${workspaceFolder}"],
      "env": {"KEY": "${input:key}", "LEVEL": 3, "QUIET": true, "HOME": null}, "envFile": "${workspaceFolder}/.env",
      "dev": {"watch": "src/**"}, "sandboxEnabled": true,
    },
    "remote": {"type": "http", "url": "https://api.test/mcp", "headers": {"X-Key": "${input:key}"}, "gallery": true},
  },
}"""
CURSOR = """{
  "mcpServers": {
    "files": {"command": "python", "args": ["${workspaceFolder}/server.py"], "env": {"TOKEN": "${env:DOCS_TOKEN}"}},
    "remote": {"url": "https://api.test/mcp", "headers": {"Authorization": "Bearer ${env:DOCS_TOKEN}"}},
    "off": {"command": "nothing", "disabled": true}
  }
}"""


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCS_TOKEN", "tok-2231-zz")


def read(text: str, folder: Path, person: Person | None = None) -> dict[str, McpServer]:
    document = table(parse_json(text, "it"))
    found = from_document(document, folder / "mcp.json", person or Person())
    return {connector.name: as_server(connector) for connector in found}


def as_server(connector: Connector) -> McpServer:
    assert isinstance(connector, McpServer)
    return connector


async def shown(values: Mapping[str, str | Secret]) -> dict[str, str]:
    return {name: await value.reveal() if isinstance(value, Secret) else value for name, value in values.items()}


@pytest.mark.anyio
async def test_the_shape_of_claude(tmp_path: Path) -> None:
    found = read(CLAUDE, tmp_path)
    files, remote, old = (found[name].server for name in ("files", "remote", "old"))
    assert isinstance(files, StdioServer)
    assert (files.command, files.args, files.cwd) == ("npx", ("-y", "server-filesystem", "/srv"), str(tmp_path))
    assert await shown(files.env) == {"TOKEN": "tok-2231-zz"}
    assert isinstance(remote, HttpServer)
    assert not isinstance(remote, SseServer)
    assert (remote.url, await shown(remote.headers)) == (
        "https://api.test/mcp",
        {"Authorization": "Bearer tok-2231-zz"},
    )
    assert isinstance(old, SseServer)


@pytest.mark.anyio
async def test_the_shape_of_vs_code(tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".env").write_text("FROM_FILE=1\nHOME=/nowhere\nKEY=overruled\n")
    asked: list[str] = []
    said: list[str] = []

    def prompt(question: Input) -> str:
        asked.append(question.description)
        return "typed-8829"

    found = read(VS_CODE, tmp_path / ".vscode", Person(prompt, said.append))
    files, remote = found["files"].server, found["remote"].server
    assert isinstance(files, StdioServer)
    assert isinstance(remote, HttpServer)
    assert (files.command, files.args, files.cwd) == (f"{tmp_path}/bin/serve", ("--root", str(tmp_path)), str(tmp_path))
    assert await shown(files.env) == {"FROM_FILE": "1", "KEY": "typed-8829", "LEVEL": "3", "QUIET": "true"}
    assert await shown(remote.headers) == {"X-Key": "typed-8829"}
    assert asked == ["API key"]
    assert said == [
        f"`{tmp_path}/.vscode/mcp.json`: the server `files` is to run in a sandbox of its editor; here it runs without one"
    ]
    assert "8829" not in repr(found)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"command": f"{sys.executable} srv.py --all"}, True),
        ({"command": sys.executable, "args": ["srv.py"]}, False),
        ({"command": "no-such-program srv.py"}, False),
    ],
)
def test_a_command_with_its_arguments_in_it_is_told_where_they_belong(
    tmp_path: Path, entry: dict[str, object], *, told: bool
) -> None:
    said: list[str] = []
    from_document({"mcpServers": {"docs": entry}}, tmp_path / "mcp.json", Person(say=said.append))
    mend = f'write "{sys.executable}" there, and ["srv.py", "--all"] as `args`'
    where = f"`{tmp_path}/mcp.json`: the server `docs`"
    assert said == ([f"{where}: `command` is one program, without its arguments: {mend}"] if told else [])


@pytest.mark.anyio
async def test_the_shape_of_cursor(tmp_path: Path) -> None:
    found = read(CURSOR, tmp_path / ".cursor")
    assert list(found) == ["files", "remote"]
    files, remote = found["files"].server, found["remote"].server
    assert isinstance(files, StdioServer)
    assert isinstance(remote, HttpServer)
    assert files.args == (f"{tmp_path}/server.py",)
    assert await shown(files.env) == {"TOKEN": "tok-2231-zz"}
    assert await shown(remote.headers) == {"Authorization": "Bearer tok-2231-zz"}


def test_the_settings_of_vs_code_hold_them_deeper(tmp_path: Path) -> None:
    assert list(read('{"editor.tabSize": 2, "mcp": {"inputs": [], "servers": {"a": {"command": "x"}}}}', tmp_path)) == [
        "a"
    ]


def test_what_only_isolith_knows_stands_beside_it(tmp_path: Path) -> None:
    text = '{"mcpServers": {"browser": {"command": "x", "isolith": {"trusted": true, "scope": "session", "exclusive": true, "most": 3, "idle_s": 60, "start_s": 5, "identify": true}}}}'
    found = read(text, tmp_path)["browser"]
    assert (found.sharing.scope, found.sharing.exclusive, found.sharing.most, found.sharing.idle_s) == (
        "session",
        True,
        3,
        60,
    )
    assert (found.options.start_s, found.options.identify, found.options.roots) == (5, True, ())


def test_roots_are_folders_from_where_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOLITH_TEST_ROOT", "/data/a b")
    roots = '["docs", "${ISOLITH_TEST_ROOT}", "file:///srv"]'
    text = f'{{"mcpServers": {{"files": {{"command": "x", "isolith": {{"roots": {roots}}}}}}}}}'
    assert read(text, tmp_path)["files"].options.roots == (
        (tmp_path / "docs").resolve().as_uri(),
        "file:///data/a%20b",
        "file:///srv",
    )


def test_where_a_program_is_looked_for(tmp_path: Path) -> None:
    def command(entry: str) -> tuple[str, str | None]:
        server = read(f'{{"mcpServers": {{"a": {entry}}}}}', tmp_path)["a"].server
        assert isinstance(server, StdioServer)
        return server.command, server.cwd

    assert command('{"command": "node"}') == ("node", str(tmp_path))
    assert command('{"command": "./bin/x"}') == (f"{tmp_path}/bin/x", str(tmp_path))
    assert command('{"command": "./x", "cwd": "sub"}') == (f"{tmp_path}/sub/x", f"{tmp_path}/sub")
    assert command('{"command": "/usr/bin/x", "cwd": "/srv"}') == ("/usr/bin/x", "/srv")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('{"args": ["tok-9932"]}', "it needs a `command` or a `url`"),
        ('{"comand": "x-tok-9932"}', "it needs a `command` or a `url`; `comand`: did you mean `command`?"),
        ('{"srverUrl": "https://tok-9932.test"}', "`srverUrl`: did you mean `serverUrl`?"),
        ('{"command": "x", "url": "https://x.test"}', "it needs a `command` or a `url`, and not both"),
        ('{"type": "http", "command": "x"}', "`http` does not go with a `command`"),
        ('{"type": "stdio", "url": "https://x.test"}', "`stdio` does not go with a `url`"),
        ('{"type": "ws", "url": "wss://x.test"}', "there is no transport `ws`"),
        ('{"command": "x", "args": "tok-9932"}', "`args` has to be"),
        ('{"command": "x", "env": {"A": ["tok-9932"]}}', "`env.A` has to be"),
        ('{"command": "x", "isolith": {"trust": true}}', "`isolith.trust` is not known here"),
        ('{"command": "x", "isolith": {"trusted": "yes"}}', "`isolith.trusted` has to be true or false"),
        ('{"command": "x", "isolith": {"scope": "world"}}', "`isolith.scope` has to be"),
        ('{"command": "x", "isolith": {"least": 9}}', "`most` is at least 1, and `least` between 0 and that"),
        ('{"url": "ftp://user:tok-9932@x.test"}', "is no URL of an MCP server"),
        ('{"command": "${command:x}"}', "`${command:x}` is no reference"),
        ('{"command": "x", "envFile": "none.env"}', "the file of variables"),
        ('"npx -y tok-9932"', "the server `docs`:"),
    ],
)
def test_a_mistake_names_the_server_and_shows_no_value(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(ConnectError) as caught:
        read(f'{{"mcpServers": {{"docs": {entry}}}}}', tmp_path)
    message = str(caught.value)
    assert message.startswith(f"`{tmp_path}/mcp.json`: the server `docs`: ")
    assert said in message
    assert "9932" not in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('{"command": "x", "env": {"K": "${NOT_THERE}"}}', "`${NOT_THERE}`: NOT_THERE is not set in the environment"),
        ('{"url": "https://x.test", "headers": {"K": "${env:NOT_THERE}"}}', "NOT_THERE is not set in the environment"),
        ('{"command": "x", "args": ["${input:key}"]}', "set ISOLITH_INPUT_KEY in the environment"),
    ],
)
def test_a_variable_that_is_not_set_costs_its_server_alone(tmp_path: Path, entry: str, why: str) -> None:
    """All servers of the file used to be refused for it."""
    text = f'{{"servers": {{"a-b": {entry}, "docs": {{"command": "x"}}}}, "inputs": [{{"id": "key"}}]}}'
    (tmp_path / "mcp.json").write_text(text)
    keyed, docs = connect(str(tmp_path / "mcp.json"))
    assert (keyed.name, dict(keyed.methods), as_server(docs).name) == ("a_b", {}, "docs")
    assert why in str(why_absent(keyed))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {}}', "has no server that is switched on"),
        ('{"mcpServers": {"a": {"command": "x", "enabled": false}}}', "has no server that is switched on"),
        ('{"mcpServers": []}', "holds no MCP servers"),
        ('{"servers": {"a": {"command": "x"}}, "inputs": {}}', "`inputs` has to be a list"),
        (
            '{"servers": {"a": {"command": "x"}}, "inputs": [{"type": "ask", "id": "a"}]}',
            "in `inputs`, `type` has to be",
        ),
        ('{"mcpServers": {"print": {"command": "x"}}}', "`print` cannot name a connector"),
    ],
)
def test_a_document_without_servers(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConnectError) as caught:
        read(text, tmp_path)
    assert said in str(caught.value)


# ---------------------------------------------------------------------------------------------- signing in


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ('{"url": "https://a.test"}', (None, (), "authorization_code", 33418)),
        (
            '{"url": "https://a.test", "oauth": {"clientId": "c", "callbackPort": 8123}}',
            ("c", (), "authorization_code", 8123),
        ),
        (
            '{"url": "https://a.test", "auth": {"CLIENT_ID": "c", "CLIENT_SECRET": "s", "scopes": ["a", "b"]}}',
            ("c", ("a", "b"), "authorization_code", 33418),
        ),
        (
            '{"url": "https://a.test", "oauth": {"client_id": "c", "scopes": "a b", "grant": "client_credentials"}}',
            ("c", ("a", "b"), "client_credentials", 33418),
        ),
        ('{"url": "https://a.test", "oauth": false}', None),
        ('{"url": "https://a.test", "headers": {"authorization": "Bearer x"}}', None),
    ],
)
def test_how_a_server_is_signed_in_to(tmp_path: Path, entry: str, expected: tuple[object, ...] | None) -> None:
    server = read(f'{{"mcpServers": {{"a": {entry}}}}}', tmp_path)["a"].server
    assert isinstance(server, HttpServer)
    found = server.oauth
    assert (found and (found.client_id, found.scopes, found.grant, found.redirect_port)) == expected


# ---------------------------------------------------------------------------------------------- name=command


def test_a_command_or_an_address_by_name(tmp_path: Path) -> None:
    found = as_server(from_command("my-docs=uvx 'mcp server' --root \"a b\"", tmp_path))
    assert found.name == "my_docs"
    assert found.server == StdioServer("uvx", ("mcp server", "--root", "a b"), {}, str(tmp_path))
    remote = as_server(from_command("docs=https://api.test/mcp?key=1", tmp_path)).server
    assert isinstance(remote, HttpServer)
    assert remote.url == "https://api.test/mcp?key=1"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("docs=", "there is no command after the `=`"),
        ("docs=uvx 'x", "the command cannot be split into words: No closing quotation"),
        ("print=uvx x", "`--connect print=...`: the server `print`: `print` cannot name a connector"),
    ],
)
def test_a_command_that_is_none(tmp_path: Path, spec: str, said: str) -> None:
    with pytest.raises(ConnectError) as caught:
        from_command(spec, tmp_path)
    assert said in str(caught.value)


def test_a_file_of_variables() -> None:
    text = "# one\n\nA=1\nexport B = two words # said\nC='# kept'\nD=\"x\" # y\nno equals\nE=\nF='open\n"
    assert env_file(text) == {"A": "1", "B": "two words", "C": "# kept", "D": "x", "E": "", "F": "'open"}


def test_two_servers_that_scripts_would_call_the_same(tmp_path: Path) -> None:
    text = '{"mcpServers": {"a-b": {"command": "x"}, "c": {"command": "x"}, "a_b": {"command": "x"}}}'
    with pytest.raises(ConnectError) as caught:
        read(text, tmp_path)
    assert str(caught.value) == (
        f"`{tmp_path / 'mcp.json'}`: `a-b` and `a_b` would both be called `a_b` in scripts; "
        "change the key of one of them in that file"
    )
    assert list(read(text.replace('"a_b": {', '"a_b": {"disabled": true, '), tmp_path)) == ["a_b", "c"]
