"""Outbound HTTP leaves through `egress` only; what speaks MCP uses the client that the MCP SDK takes."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NETWORK = frozenset(
    "aiohttp ftplib http.client httpcore httpcore2 httplib2 httpx httpx2 imaplib poplib pycurl requests smtplib socket socketserver ssl telnetlib urllib.request urllib3 websocket websockets xmlrpc".split()  # noqa: SIM905
)
CONNECTING = frozenset(
    {
        "create_connection",
        "create_datagram_endpoint",
        "open_connection",
        "open_unix_connection",
        "connect_tcp",
        "connect_unix",
    }
)
# File or folder, and what it may import of the network.
ALLOWED = {
    "bindings/isolith_bindings/egress": {"httpcore2", "socket", "ssl"},
    "bindings/isolith_bindings/mcp": {"httpx2", "ssl"},  # the SDK is handed a client of this library
    "host/isolith/command_line/serving.py": {"socket"},  # it listens
    "host/isolith/http/server.py": {"socket"},  # it is handed what listens
    "bindings/isolith_bindings/openapi/auth.py": {"ssl"},  # a client certificate is loaded; egress connects with it
}
# The guest's own file says what there is instead of a network; a host names itself in the journal.
NOT_OURS_TO_JUDGE = ("runtime/isolith_runtime/guest/absent.py", "host/isolith/journal/owners.py")


def imports(module: ast.Module) -> set[str]:
    """Every module that a file imports, wherever in it; `from a import b` counts as `a` and as `a.b`."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def network(path: Path) -> set[str]:
    found = imports(tree(path))
    return {known for known in NETWORK for name in found if name == known or name.startswith(f"{known}.")}


def files() -> dict[str, Path]:
    packages = ("bindings", "host", "runtime")
    return {
        str(path.relative_to(ROOT)): path for package in packages for path in sorted((ROOT / package).rglob("*.py"))
    }


def test_http_leaves_through_egress_only() -> None:
    wrong: dict[str, set[str]] = {}
    for name, path in files().items():
        if name.startswith(("runtime/isolith_runtime/image", *NOT_OURS_TO_JUDGE)):
            continue  # the image is built with what npm and pip fetched
        allowed = next((names for place, names in ALLOWED.items() if name.startswith(place)), set[str]())
        if extra := network(path) - allowed:
            wrong[name] = extra
    assert wrong == {}


def test_no_socket_is_opened_elsewhere() -> None:
    for name, path in files().items():
        if name.startswith("bindings/isolith_bindings/egress"):
            continue
        calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
        names = {call.attr for call in calls if isinstance(call, ast.Attribute)}
        assert not names & CONNECTING, name


def test_the_rule_sees_what_it_is_for() -> None:
    egress = {name for name in files() if name.startswith("bindings/isolith_bindings/egress/")}
    assert {name for name in egress if "httpcore2" in network(ROOT / name)} == {
        "bindings/isolith_bindings/egress/client.py",
        "bindings/isolith_bindings/egress/network.py",
    }
