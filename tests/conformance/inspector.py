"""The command line of MCP's inspector, from npm, in a folder beside pytest's cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import anyio
from tests.conformance.run import FOLDER, installed

if TYPE_CHECKING:
    from anyio.abc import Process

PACKAGE = "@modelcontextprotocol/inspector@2.12.0"
_FOLDER = FOLDER.with_name("mcp-inspector")
_QUIET = ("--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev", "--omit=optional")

Era = Literal["legacy", "modern"]


@dataclass(frozen=True)
class Inspector:
    """Each call is a process of its own."""

    command: tuple[str, ...]

    async def call(self, url: str, era: Era, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of a tool, as the inspector prints it."""
        done = await anyio.run_process(self._of(url, era, tool, arguments), check=False)
        assert done.stdout, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return result

    async def begin(self, url: str, era: Era, tool: str, **arguments: object) -> Process:
        """A call that goes on until it is answered, or until its process is ended."""
        return await anyio.open_process(self._of(url, era, tool, arguments))

    def _of(self, url: str, era: Era, tool: str, arguments: dict[str, object]) -> list[str]:
        called = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        return [*self.command, "--cli", url, "--protocol-era", era, "--format", "json", *called]


def inspector() -> Inspector | None:
    """The inspector, which is installed if it is not there; None where there is no npm to do that."""
    suite = installed()
    npm = shutil.which("npm")
    program = _FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    if suite is None or (npm is None and not program.exists()):
        return None
    if npm is not None and not program.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([npm, "install", "--prefix", str(_FOLDER), *_QUIET, PACKAGE], check=True, capture_output=True)
    return Inspector((suite[0], str(program)))
