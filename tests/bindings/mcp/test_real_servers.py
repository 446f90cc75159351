"""Servers as other people wrote them, from npm and PyPI: what they offer can be called, and what they answer is data."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.bindings.mcp.bench import Bench, connected, free_port, python_server, serving

from isolith_bindings.connector import Answer, ArtifactRef
from isolith_bindings.mcp.descriptions import HttpServer, StdioServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_server_everything_over_stdio(npm_servers: Path) -> None:
    async with connected(StdioServer(str(npm_servers / "mcp-server-everything"))) as bench:
        assert bench.connector.status().era == "legacy"
        await everything(bench)
        # Its one tool that has to be called as a task, which asks in the middle.
        bench.answer = Answer("accept", {"interpretation": "snake"})
        report = await bench.call("simulate_research_query", topic="python", ambiguous=True)
        assert "# Research Report: python (snake)" in str(report)
        assert "Requesting clarification" in str(bench.progress.reports)


async def test_server_everything_over_http(npm_servers: Path) -> None:
    port = free_port()
    program = str(npm_servers / "mcp-server-everything")
    with serving(["env", f"PORT={port}", program, "streamableHttp"], port):
        async with connected(HttpServer(f"http://127.0.0.1:{port}/mcp")) as bench:
            await everything(bench)


async def everything(bench: Bench) -> None:
    assert await bench.call("echo", message="hi") == "Echo: hi"
    weather = await bench.call("get_structured_content", location="New York")
    assert isinstance(weather, dict)
    assert weather["conditions"] == "Cloudy"
    image = await bench.call("get_tiny_image")
    assert isinstance(image, dict)
    assert image["files"] == [ArtifactRef("art0", "image/png", 4033)]
    reference = await bench.call("get_resource_reference")
    assert isinstance(reference, dict)
    uri = reference["other"][0]["uri"]
    assert "plaintext resource" in str(await bench.call("read_resource", uri=uri))
    await bench.call("trigger_long_running_operation", duration=0.1, steps=2)
    assert [report[:2] for report in bench.progress.reports][-1] == (2.0, 2.0)
    bench.answer = Answer("accept", {"name": "Al", "check": True})
    assert "- Name: Al" in str(await bench.call("trigger_elicitation_request"))
    assert bench.connector.excluded == {}
    assert "wrong" in (await bench.failure("get_sum", a="wrong", b=1)).message


async def test_server_filesystem(npm_servers: Path, tmp_path: Path) -> None:
    (tmp_path / "pixel.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    server = StdioServer(str(npm_servers / "mcp-server-filesystem"), (str(tmp_path),))
    async with connected(server) as bench:
        path = str(tmp_path / "a.txt")
        await bench.call("write_file", path=path, content="one\ntwo\n")
        assert await bench.call("read_text_file", path=path) == {"content": "one\ntwo\n"}
        denied = await bench.failure("read_text_file", path="/etc/passwd")
        assert (denied.kind, denied.message.startswith("Access denied")) == ("tool_error", True)
        media = await bench.call("read_media_file", path=str(tmp_path / "pixel.png"))
        # Its structured content holds what its content holds: one file.
        assert media == {
            "content": [{"type": "image", "mimeType": "image/png", "data": ArtifactRef("art0", "image/png", 108)}]
        }
        assert len(bench.artifacts.kept) == 1


async def test_server_memory(npm_servers: Path, tmp_path: Path) -> None:
    env = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    async with connected(StdioServer(str(npm_servers / "mcp-server-memory"), env=env)) as bench:
        entity = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program"]}
        await bench.call("create_entities", entities=[entity])
        assert await bench.call("read_graph") == {"entities": [entity], "relations": []}
        wrong = await bench.failure("create_entities", entities=[{"name": "Ada"}])
        assert "entities[0]" in wrong.message


@pytest.fixture
def repository(tmp_path: Path) -> str:
    """A git repository of one commit."""
    commit = ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "begin"]
    for command in (["init", "-q"], commit):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return str(tmp_path)


async def test_server_git(repository: str) -> None:
    async with connected(StdioServer(sys.executable, ("-m", "mcp_server_git"))) as bench:
        log = await bench.connector.call(
            bench.connector.methods["git_log"], {"repo_path": repository, "max_count": 1}, bench.context()
        )
        assert "Message: begin" in str(log)
        assert bench.connector.methods["git_log"].annotations.read_only is True


async def test_server_time() -> None:
    async with connected(StdioServer(sys.executable, ("-m", "mcp_server_time"))) as bench:
        arguments = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        converted = await bench.call("convert_time", **arguments)
        assert isinstance(converted, dict)
        assert converted["time_difference"] == "+9.0h"
        assert "Invalid timezone" in (await bench.failure("get_current_time", timezone="Nowhere")).message


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/page" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<html><body><article><h1>Prices</h1><p>Tea is 3.</p></article></body></html>")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the standard library
        pass


async def test_server_fetch() -> None:
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        server = StdioServer(sys.executable, ("-m", "mcp_server_fetch", "--allow-private-ips"))
        async with connected(server) as bench:
            page = await bench.call("fetch", url=f"http://127.0.0.1:{site.server_port}/page")
            assert "Tea is 3." in str(page)
    finally:
        site.shutdown()
        site.server_close()


async def test_server_of_fastmcp() -> None:
    async with connected(python_server("fast_server.py")) as bench:
        assert await bench.call("words", text="a bc") == ["a", "bc"]
        assert bench.connector.methods["words"].returns == {"items": {"type": "string"}, "type": "array"}
        assert await bench.call("lengths", text="a bc") == {"a": 1, "bc": 2}
        assert (await bench.failure("refuse", reason="because\nof that")).message == "because\nof that"
