"""Connectors out of configuration files that hold secrets, and the servers that are sent these and give them away."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from tests.security.desk import CANARY

from isolith.configuration.config import read_config
from isolith.configuration.connect import connect_all

if TYPE_CHECKING:
    from isolith_bindings.connector import Connector

CONFIGURATION = """
connect = ["mcp.json"]

[connectors.shop]
openapi = "shop.json"
server = "{url}"
private = ["loopback"]
auth = {{ header = "X-Shop-Key", value = "{canary}-sent-key" }}
"""
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "A shop that tells everybody what it was sent", "version": "1"},
    "security": [{"key": []}],
    "paths": {
        "/thing": {"get": {"operationId": "get_thing", "responses": {"200": {"description": "It."}}}},
        "/broken": {"get": {"operationId": "get_broken", "responses": {"200": {"description": "It."}}}},
    },
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Shop-Key"}}},
}
PROGRAM = """
import os, sys
open(sys.argv[1], "w").write(os.environ["TOKEN"])
sys.stderr.write("no server: " + os.environ["TOKEN"])
sys.exit(f"{os.environ['TOKEN']} is no good")
"""


@dataclass
class Upstream:
    """A server on this machine: it keeps the headers of each request, and answers with them."""

    folder: Path
    url: str = ""
    sent: list[str] = field(default_factory=list[str])

    def connectors(self) -> list[Connector]:
        """Those of the configuration, new ones; each is connected to when a script first needs it."""
        return connect_all((), config=read_config(self.folder / "isolith.toml"))

    def started(self) -> str:
        """What the program of the stdio server found in its environment; empty where it was never started."""
        note = self.folder / "started"
        return note.read_text() if note.exists() else ""


@contextmanager
def upstream(folder: Path) -> Generator[Upstream]:
    """The server and the files that name it."""
    made = Upstream(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.sent.append(str(self.headers))
            told = json.dumps({"you_sent": dict(self.headers)}).encode()
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(200 if self.path == "/thing" else 500)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(told)))
            for name in ("X-Shop-Key", "X-Remote-Key"):
                self.send_header("X-You-Sent", self.headers.get(name, ""))
            self.end_headers()
            self.wfile.write(told)

        do_POST = do_GET  # noqa: N815 - as above

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Into no stream that is looked at for secrets."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    _write(made)
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _write(upstream: Upstream) -> None:
    folder = upstream.folder
    (folder / "isolith.toml").write_text(CONFIGURATION.format(url=upstream.url, canary=CANARY))
    (folder / "shop.json").write_text(json.dumps(DOCUMENT))
    (folder / "program.py").write_text(PROGRAM)
    program = {
        "command": sys.executable,
        "args": ["-I", str(folder / "program.py"), str(folder / "started")],
        "env": {"TOKEN": f"{CANARY}-given-environment"},
    }
    remote = {
        "type": "http",
        "url": f"{upstream.url}/mcp",
        "headers": {"X-Remote-Key": f"{CANARY}-sent-header", "Authorization": f"Bearer {CANARY}-sent-bearer"},
    }
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"local": program, "remote": remote}}))
