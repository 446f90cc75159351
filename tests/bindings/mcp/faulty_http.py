"""An MCP server over HTTP, in this process, that misbehaves as told and remembers what it was sent."""

from __future__ import annotations

import contextlib
import http.server
import json
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from isolith_bindings.mcp.descriptions import HttpServer

if TYPE_CHECKING:
    from collections.abc import Generator

JSON = dict[str, object]


@dataclass
class Faulty:
    """What the server does. `calls`: how often `tools/call` came in; `seen`: the headers of each request."""

    modern: bool = True
    status: int | None = None
    body: bytes = b""
    kind: str = "text/plain"
    silent: bool = False
    breaks: int = 0
    large: int = 0
    sessions: bool = False
    forget: bool = False
    redirect: str = ""
    header_mismatch: int = 0
    calls: int = 0
    lists: int = 0
    listens: int = 0
    initialised: int = 0
    seen: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    released: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    @property
    def server(self) -> HttpServer:
        return HttpServer(self.url)


@contextlib.contextmanager
def faulty_http(faulty: Faulty | None = None, handler: type[Handler] | None = None) -> Generator[Faulty]:
    """Serve on a port of this machine."""
    told = faulty or Faulty()
    kind = type("Told", (handler or Handler,), {"faulty": told})
    site = _Site(("127.0.0.1", 0), cast("type[Handler]", kind))
    told.url = f"http://127.0.0.1:{site.server_port}/mcp"
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        told.released.set()
        site.shutdown()
        site.server_close()
        thread.join()


class _Site(http.server.ThreadingHTTPServer):
    """Says nothing of clients that went away: what stands on stderr is what the command says, in this process too."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(http.server.BaseHTTPRequestHandler):
    faulty: Faulty
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the standard library
        pass

    def do_GET(self) -> None:
        self._end(405)

    def do_DELETE(self) -> None:
        if self.faulty.silent:
            self.faulty.released.wait(60)
        self._end(200)

    def do_POST(self) -> None:
        told = self.faulty
        message = cast("JSON", json.loads(self.rfile.read(int(self.headers["content-length"]))))
        told.seen.append({key.lower(): value for key, value in self.headers.items()})
        method = str(message.get("method"))
        if told.redirect:
            self.send_response(307)
            self.send_header("Location", told.redirect)
            self._no_body()
        elif told.status is not None:
            self._send(told.status, told.body, told.kind)
        elif "id" not in message:
            self._end(202)
        elif told.sessions and method != "initialize" and self._forgotten():
            self._end(404)
        elif method == "tools/call":
            self._call(message)
        else:
            self._answer(message, method)

    def _forgotten(self) -> bool:
        return self.headers.get("mcp-session-id") != f"s{self.faulty.initialised}" or self.faulty.forget

    def _answer(self, message: JSON, method: str) -> None:
        told = self.faulty
        if told.silent:
            told.released.wait(60)
        capabilities: JSON = {"tools": {}}
        if method == "tools/list":
            told.lists += 1
            schema: JSON = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
            tools = [{"name": "work", "inputSchema": schema}]
            self._result(message, {"tools": tools})
        elif method == "server/discover" and told.modern:
            self._result(message, {"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
        elif method == "initialize" and not told.modern:
            told.initialised += 1
            told.forget = False
            info = {"name": "faulty", "version": "1"}
            self._result(message, {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info})
        elif method == "ping":
            self._result(message, {})
        else:
            error = {"code": -32601, "message": "no such method"}
            self._json({"jsonrpc": "2.0", "id": message["id"], "error": error}, 200 if not told.modern else 404)

    def _call(self, message: JSON) -> None:
        told = self.faulty
        told.calls += 1
        if told.silent:
            told.released.wait(60)
        if told.header_mismatch:
            told.header_mismatch -= 1
            error = {"code": -32020, "message": "Mcp-Param-Region does not match"}
            self._json({"jsonrpc": "2.0", "id": message["id"], "error": error}, 400)
        elif told.breaks:
            told.breaks -= 1
            self._begin_events()
            self.close_connection = True
        elif told.large:
            self._begin_events()
            result = {"content": [{"type": "text", "text": "x" * told.large}], **self._more()}
            self._event({"jsonrpc": "2.0", "id": message["id"], "result": result})
            self.close_connection = True
        else:
            params = cast("JSON", message["params"])
            text = json.dumps(params.get("arguments"))
            self._result(message, {"content": [{"type": "text", "text": text}]})

    def _begin_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": hello\n\n")

    def _event(self, message: JSON) -> None:
        self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")

    def _more(self) -> JSON:
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if self.faulty.modern else {}

    def _result(self, message: JSON, result: JSON) -> None:
        self._json({"jsonrpc": "2.0", "id": message["id"], "result": {**result, **self._more()}})

    def _json(self, message: JSON, status: int = 200) -> None:
        self._send(status, json.dumps(message).encode(), "application/json")

    def _send(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if self.faulty.sessions:
            self.send_header("Mcp-Session-Id", f"s{self.faulty.initialised}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _end(self, status: int) -> None:
        self.send_response(status)
        self._no_body()

    def _no_body(self) -> None:
        self.send_header("Content-Length", "0")
        self.end_headers()
