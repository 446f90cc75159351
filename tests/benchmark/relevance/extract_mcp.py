"""The catalogues of MCP servers, made anew: `python -m tests.benchmark.relevance.extract_mcp`. Needs npm.

The server of fixtures/mcp that speaks both eras, and the three of the protocol's own authors that the tests call.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests.benchmark.relevance.extract import Json, write
from tests.bindings.mcp.bench import connected

from isolith_bindings.mcp.descriptions import StdioServer

if TYPE_CHECKING:
    from isolith_bindings.connector import Method

ROOT = Path(__file__).parents[3]
PACKAGES = ("filesystem", "memory", "everything")
VERSION = "2026.8.31"


async def main() -> None:
    """Start each server, ask it for its tools, and write them."""
    with tempfile.TemporaryDirectory() as folder:
        names = [f"@modelcontextprotocol/server-{package}@{VERSION}" for package in PACKAGES]
        command = ["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", *names]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=300)
        programs = Path(folder) / "node_modules" / ".bin"
        servers = {
            "filesystem": StdioServer(str(programs / "mcp-server-filesystem"), (folder,)),
            "memory": StdioServer(str(programs / "mcp-server-memory")),
            "everything": StdioServer(str(programs / "mcp-server-everything")),
            "fixture": StdioServer(sys.executable, (str(ROOT / "fixtures" / "mcp" / "sdk_server.py"),)),
        }
        for name, server in servers.items():
            async with connected(server) as bench:
                write(f"mcp_{name}", [_tool(method) for method in bench.connector.methods.values()])


def _tool(method: Method) -> Json:
    properties = cast("dict[str, Json]", method.parameters.get("properties") or {})
    return {
        "name": method.original,
        "description": method.description[:500],
        "parameters": {key: str(schema.get("description", ""))[:160] for key, schema in properties.items()},
        "tags": list(method.tags),
    }


if __name__ == "__main__":
    asyncio.run(main())
