"""MCP servers from what was written of them: entries of a configuration file, or `name=command ...`.

The SDK is loaded by the first server that is connected, and only then.
"""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isolith.configuration.documents import read_bytes
from isolith.configuration.server_entries import OAuthEntry, ServerEntry, inputs_in, read_entry, servers_in
from isolith.configuration.variables import Unanswered, Variables, no_prompt
from isolith.errors import ConnectError, UsageError
from isolith.folders import data_folder
from isolith.run.readiness import Absent
from isolith_bindings.errors import BindError
from isolith_bindings.names import connector_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from isolith.configuration.variables import Input
    from isolith_bindings.connector import Connector
    from isolith_bindings.mcp.descriptions import Credential, Server
    from isolith_bindings.mcp.oauth import OAuth

_FEWEST_WORDS = 2
_MAX_ENV_FILE = 1 << 20


def _unheard(_: str) -> None:
    """Where nobody listens."""


@dataclass(frozen=True)
class Person:
    """Who connects: answers what a file asks of a person, and is told what does not stop anything."""

    prompt: Callable[[Input], str] = no_prompt
    say: Callable[[str], None] = _unheard


NOBODY = Person()


def from_document(document: Mapping[str, object], path: Path, person: Person = NOBODY) -> list[Connector]:
    """The servers of an `mcp.json` that are switched on. Raises ConnectError, which names the server."""
    where = f"`{path}`"
    servers = servers_in(document)
    if servers is None:
        raise ConnectError(f"{where} holds no MCP servers: they belong under `mcpServers` or `servers`")
    variables = Variables(path.parent, inputs_in(document, where), person.prompt)
    entries = {name: read_entry(name, entry, where) for name, entry in servers.items()}
    used = {name: entry for name, entry in entries.items() if entry.used}
    if not used:
        raise ConnectError(f"{where} has no server that is switched on")
    found = [(name, connected(name, entry, variables, where, person)) for name, entry in used.items()]
    return told_apart(found, where)


def told_apart(found: list[tuple[str, Connector]], where: str) -> list[Connector]:
    """Connectors that one file names. Raises ConnectError where scripts would call two of them the same."""
    keys: dict[str, str] = {}
    for key, connector in found:
        other = keys.setdefault(connector.name, key)
        if other != key:
            raise ConnectError(
                f"{where}: `{other}` and `{key}` would both be called `{connector.name}` in scripts; "
                "change the key of one of them in that file"
            )
    return [connector for _, connector in found]


def connected(name: str, entry: ServerEntry, variables: Variables, where: str, person: Person = NOBODY) -> Connector:
    """One server as a connector, which starts when it is first needed. Raises ConnectError.

    One that wants a variable which is not set is as one that cannot be started: the others are there without it.
    """
    for problem in _one_text(entry):
        person.say(f"{where}: the server `{name}`: {problem}")
    if entry.unsandboxed:
        person.say(f"{where}: the server `{name}` is to run in a sandbox of its editor; here it runs without one")
    try:
        try:
            return _server(name, _place(entry, variables), entry, _roots(entry, variables))
        except Unanswered as error:
            return Absent(connector_name(name), str(error))
    except (BindError, UsageError) as error:
        raise ConnectError(f"{where}: the server `{name}`: {error}") from error


def _one_text(entry: ServerEntry) -> list[str]:
    """What is said of a command line in one text, as shells take it: here it names one program."""
    command = entry.command or ""
    words = command.split()
    if len(words) < _FEWEST_WORDS or entry.args or shutil.which(command) is not None or Path(command).exists():
        return []
    if shutil.which(words[0]) is None:  # perhaps the path of a program, with a blank in it
        return []
    written = f"{json.dumps(words[0])} there, and {json.dumps(words[1:])} as `args`"
    return [f"`command` is one program, without its arguments: write {written}"]


def from_command(spec: str, folder: Path) -> Connector:
    """`name=command argument ...` for a program, `name=https://...` for a server elsewhere. Raises ConnectError."""
    name, _, rest = spec.partition("=")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise ConnectError(f"`{spec}`: the command cannot be split into words: {error}") from None
    if not words:
        raise ConnectError(f"`{spec}`: there is no command after the `=`: write {name}=command argument ...")
    if len(words) == 1 and words[0].startswith(("http://", "https://")):
        entry = ServerEntry(url=words[0])
    else:
        entry = ServerEntry(command=words[0], args=tuple(words[1:]))
    return connected(name, entry, Variables(folder), f"`--connect {name}=...`")


def _server(name: str, server: Server, entry: ServerEntry, roots: tuple[str, ...]) -> Connector:
    from isolith_bindings.mcp.connector import McpServer  # noqa: PLC0415 - slow to load
    from isolith_bindings.mcp.options import Options  # noqa: PLC0415
    from isolith_bindings.mcp.scopes import Sharing  # noqa: PLC0415

    options = entry.isolith
    return McpServer(
        name,
        server,
        trusted=options.trusted,
        sharing=Sharing(options.scope, options.exclusive, options.least, options.most, options.idle_s),
        options=Options(start_s=options.start_s, identify=options.identify, roots=roots),
    )


def _roots(entry: ServerEntry, variables: Variables) -> tuple[str, ...]:
    """As the addresses that the protocol wants."""
    given = map(variables.text, entry.isolith.roots)
    return tuple(
        root if root.startswith("file://") else (variables.workspace / root).resolve().as_uri() for root in given
    )


def _place(entry: ServerEntry, variables: Variables) -> Server:
    from isolith_bindings.mcp.descriptions import HttpServer, SseServer, StdioServer  # noqa: PLC0415 - as above

    if entry.command is not None:
        folder = variables.workspace / variables.text(entry.cwd or "")
        command = variables.text(entry.command)
        return StdioServer(
            # A path is meant from where the program runs; a plain name is looked for on PATH.
            str(folder / command) if Path(command).name != command else command,
            tuple(map(variables.text, entry.args)),
            _environment(entry, variables),
            str(folder),
        )
    kind = SseServer if entry.kind == "sse" else HttpServer
    headers = {name: variables.credential(value) for name, value in entry.headers.items()}
    return kind(variables.text(entry.url or ""), headers, oauth=_oauth(entry, variables))


def _environment(entry: ServerEntry, variables: Variables) -> dict[str, Credential]:
    """What the file of variables says, and above it what the entry says; null takes a variable away."""
    found: dict[str, Credential] = {}
    if entry.env_file is not None:
        path = variables.workspace / variables.text(entry.env_file)
        found.update(env_file(read_bytes(path, "the file of variables", _MAX_ENV_FILE).decode("utf-8-sig", "replace")))
    for name, value in entry.env.items():
        if value is None:
            found.pop(name, None)
        elif isinstance(value, str):
            found[name] = variables.credential(value)
        else:
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def env_file(text: str) -> dict[str, str]:
    """`NAME=value` lines; `#` begins a comment, quotes are taken off, `export` is passed over."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if not equals or name.startswith("#"):
            continue
        if value[:1] in {'"', "'"} and value.find(value[0], 1) > 0:
            value = value[1 : value.find(value[0], 1)]
        else:
            value = value.partition(" #")[0].rstrip()
        found[name] = value
    return found


def _oauth(entry: ServerEntry, variables: Variables) -> OAuth | None:
    """How tokens are obtained, where the server asks for any; what is written as a header needs none."""
    if entry.oauth is False or any(name.casefold() == "authorization" for name in entry.headers):
        return None
    from isolith_bindings.mcp.oauth import OAuth  # noqa: PLC0415 - as above
    from isolith_bindings.mcp.tokens import FileTokenStore  # noqa: PLC0415

    store = FileTokenStore(data_folder() / "tokens.json")
    if not isinstance(entry.oauth, OAuthEntry):
        return OAuth(store=store)
    told = entry.oauth
    return OAuth(
        client_id=None if told.client_id is None else variables.text(told.client_id),
        client_secret=None if told.client_secret is None else variables.credential(told.client_secret),
        scopes=told.scopes,
        grant=told.grant,
        redirect_port=told.redirect_port,
        issuer=told.issuer,
        store=store,
    )
