"""What `--connect` takes, told apart by what it is: Python, MCP servers, an OpenAPI document, a configuration.

crm.py  crm.py:Crm  package.module:object           Python, which runs in this process
mcp.json  docs="npx -y docs-server"  docs=https://...   MCP servers, which start when they are first needed
github.yaml  https://api.test/openapi.json  package:NAME/PATH   an OpenAPI document; shop=openapi.json, and
                                                     shop=https://api.test/openapi.json, give it a name
isolith.toml                                         everything that a configuration connects, if it says no more
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from isolith.configuration.config import BEYOND, only_configured, read_config
from isolith.configuration.connect_mcp import NOBODY, Person, connected, from_command, from_document, told_apart
from isolith.configuration.connect_openapi import from_entry, from_source
from isolith.configuration.connect_python import exists, from_file, from_object
from isolith.configuration.credential_entries import written_out
from isolith.configuration.documents import MAX_BYTES, parse_json, read_bytes
from isolith.configuration.server_entries import servers_in
from isolith.configuration.variables import Variables
from isolith.errors import ConnectError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith.configuration.config import ConfigFile
    from isolith.configuration.connector_entries import ConnectorEntry
    from isolith_bindings.connector import Connector

_ELSEWHERE = re.compile(r"https?://\S+|package:\S+")
_COMMAND = re.compile(r"[\w.-]+=.*", re.DOTALL)
_OPENAPI = re.compile(rb"""^(?:\{\s*)?["']?(?:openapi|swagger)["']?\s*:""", re.MULTILINE)
_SUFFIXES = frozenset({".json", ".jsonc", ".yaml", ".yml"})
_BEYOND_SERVERS = {**BEYOND, "connect": "`connect`", "connectors": "`connectors`"}
"""A configuration that is JSON is connected as an `mcp.json` would be: by its servers alone."""
_WHAT = "connect FILE.py, module:object, an mcp.json, an OpenAPI document, name=command, or name=https://..."


def connect(spec: str, person: Person = NOBODY, folder: Path | None = None) -> list[Connector]:
    """The connectors of one SPEC, at least one. Raises ConnectError, which names the place and the mend.

    A configuration that says more than what to connect is refused: what it allows would be ignored without a word.
    `folder`: where paths are meant from, in place of the working directory.
    """
    here = Path() if folder is None else folder
    path = here / spec
    if _ELSEWHERE.fullmatch(spec):
        return [from_source(spec)]
    if not spec or not exists(path):
        return _from_words(spec, here)
    if path.suffix in _SUFFIXES and path.is_file():
        return _from_data(path, person)
    if path.suffix == ".toml" and path.is_file():
        if folder is not None:
            raise ConnectError(f"`{spec}`: a configuration connects no other one: write here what that connects")
        file = read_config(path)
        only_configured(file.document, Path(spec), BEYOND)
        return connect_config(file, person)
    return from_file(spec, path)


def anchored(spec: str) -> str:
    """A SPEC, or the name of another file, that means the same from any folder: files by their whole path."""
    if exists(Path(spec)):
        return str(Path(spec).absolute())
    name, equals, rest = spec.partition("=")
    return f"{name}={Path(rest).absolute()}" if equals and _names_data(rest, Path()) else spec


def connect_all(specs: Iterable[str], person: Person = NOBODY, config: ConfigFile | None = None) -> list[Connector]:
    """The connectors of a configuration and of several SPECs. Raises ConnectError where two have one name."""
    places: dict[str, str] = {}
    found = [(str(config.path), connector) for connector in connect_config(config, person)] if config else []
    found += [(spec, connector) for spec in specs for connector in connect(spec, person)]
    for spec, connector in found:
        if connector.name in places:
            raise ConnectError(
                f"`{spec}`: a connector called `{connector.name}` comes from `{places[connector.name]}` already; "
                f"{_other_name(spec)}"
            )
        places[connector.name] = spec
    return [connector for _, connector in found]


def _other_name(spec: str) -> str:
    """How what a SPEC connects gets another name."""
    if _COMMAND.fullmatch(spec) and not exists(Path(spec)):
        return "write another name before the `=`"
    if Path(spec).suffix in _SUFFIXES | {".toml"}:
        return "change its key in that file, or, for an OpenAPI document, write NAME=PATH"
    return 'give one of them another name, in its file or by @connector("...")'


def connect_config(file: ConfigFile, person: Person = NOBODY) -> list[Connector]:
    """Everything that a configuration connects; paths in it are meant from its folder. Raises ConnectError."""
    folder, where = file.path.parent, f"`{file.path}`"
    found = [connector for spec in file.config.connect for connector in connect(spec, person, folder)]
    variables = Variables(folder, prompt=person.prompt)
    named: list[tuple[str, Connector]] = []
    for name, entry in file.config.connectors.items():
        if entry.disabled:
            continue
        if entry.openapi is not None:
            for line in _instead(entry):
                told = f"a secret stands in this file, and is sent as it is; `{line}` takes it from the environment"
                person.say(f"{where}: `{name}`: {told}")
            named.append((name, from_entry(name, entry, variables)))
        else:
            named.append((name, connected(name, entry.as_server(), variables, where, person)))
    found += told_apart(named, where)
    if file.has_servers:
        found += from_document(file.document, file.path, person)
    return found


def _instead(entry: ConnectorEntry) -> list[str]:
    """For each credential that is written out: the line that would be in its place."""
    other = '{ env = "NAME" }'
    schemes = [scheme for scheme, given in entry.auth_by_scheme.items() if written_out(given)]
    lines = [f"auth_by_scheme = {{ {json.dumps(scheme)} = {other} }}" for scheme in schemes]
    return lines if entry.auth is None or not written_out(entry.auth) else [f"auth = {other}", *lines]


def _from_words(spec: str, folder: Path) -> list[Connector]:
    """What names no file that is there: a command, an object, or a mistake."""
    if _COMMAND.fullmatch(spec):
        name, _, rest = spec.partition("=")
        if _is_document_elsewhere(rest):
            return [from_source(rest, name)]
        if _names_data(rest, folder):
            return _from_data(folder / rest, NOBODY, name)
        return [from_command(spec, folder)]
    if not spec.endswith(".py"):
        found = from_object(spec, folder)
        if found is not None:
            return found
    if Path(spec).suffix in _SUFFIXES | {".py", ".toml"}:
        raise ConnectError(f"`{spec}`: there is no such file")
    raise ConnectError(f"`{spec}`: there is no such file; {_WHAT}")


def _is_document_elsewhere(text: str) -> bool:
    """Whether a text is an address that ends as documents do, and no MCP server's, or lies in a package."""
    return bool(_ELSEWHERE.fullmatch(text)) and Path(urlsplit(text).path).suffix in _SUFFIXES


def _names_data(text: str, folder: Path) -> bool:
    """Whether a text is the path of a JSON or YAML file that is there: a document, and no program."""
    path = folder / text
    return path.suffix in _SUFFIXES and exists(path) and path.is_file()


def _from_data(path: Path, person: Person, name: str | None = None) -> list[Connector]:
    """What a JSON or YAML file holds. A large one is an OpenAPI document, and is not read twice.

    `name`: what an OpenAPI document is called; MCP servers have names of their own.
    """
    content = read_bytes(path, "the file", MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        return [from_source(str(path), name)]
    if path.suffix in {".yaml", ".yml"}:
        if _OPENAPI.search(content.removeprefix(b"\xef\xbb\xbf")):
            return [from_source(str(path), name)]
        raise ConnectError(f"`{path}` is no OpenAPI document: it begins with `openapi: 3...` or `swagger: '2.0'`")
    document = _document(content, path)
    if "openapi" in document or "swagger" in document:
        return [from_source(str(path), name)]
    only_configured(document, path, _BEYOND_SERVERS)
    if servers_in(document) is not None:
        if name is not None:
            raise ConnectError(f"`{path}` gives its servers their names itself: leave out `{name}=`")
        return from_document(document, path, person)
    raise ConnectError(
        f"`{path}` holds neither MCP servers, under `mcpServers` or `servers`, nor an OpenAPI document, "
        "which says `openapi` or `swagger`"
    )


def _document(content: bytes, path: Path) -> Mapping[str, object]:
    try:
        found = parse_json(content.decode("utf-8-sig"), f"`{path}`")
    except UnicodeDecodeError as error:
        raise ConnectError(f"`{path}` is not UTF-8 at byte {error.start}: save it as UTF-8") from None
    except UsageError as error:
        raise ConnectError(str(error)) from error
    if not isinstance(found, dict):
        raise ConnectError(f"`{path}` holds no table of names and values")
    return cast("dict[str, object]", found)
