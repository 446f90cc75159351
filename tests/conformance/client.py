"""The client that the conformance suite of MCP drives: `McpServer`, and nothing beside it.

The suite appends the URL of its server, and says in the environment which scenario it plays.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import urllib.request
from dataclasses import replace
from typing import cast

from isolith_bindings.connector import Answer, CallContext, Question
from isolith_bindings.errors import CallError
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import HttpServer
from isolith_bindings.mcp.oauth import OAuth
from isolith_bindings.mcp.options import Options
from isolith_bindings.secrets import Secret
from isolith_bindings.testing import a_context

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
LEGACY = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "2026-07-28") < "2026-07-28"
GIVEN = cast("dict[str, object]", json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}"))
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"
"""What the suite knows a client by that has no registration."""
ARGUMENTS: dict[str, dict[str, object]] = {"add_numbers": {"a": 5, "b": 3}}
SAMPLES: dict[str, object] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}


async def answer(question: Question) -> Answer:
    """Whoever answers takes what the form suggests."""
    properties = cast("dict[str, dict[str, object]]", (question.schema or {}).get("properties", {}))
    content = {name: part.get("default", SAMPLES.get(str(part.get("type")))) for name, part in properties.items()}
    return Answer("accept", content)


async def model(_: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": {"type": "text", "text": "A model's answer."}, "model": "conformance"}


async def browse(url: str) -> None:
    """A browser that goes where it is sent, and back."""

    def go() -> None:
        with urllib.request.urlopen(url) as page:  # noqa: S310 - of this machine
            page.read()

    asyncio.get_running_loop().run_in_executor(None, go)


_kept: list[socket.socket] = []


def free_port() -> int:
    """One at which nobody listens but who is told of it: it stays bound here, so that no other process is given it."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    _kept.append(probe)
    return int(probe.getsockname()[1])


def description(url: str) -> HttpServer:
    if not SCENARIO.startswith("auth/"):
        return HttpServer(url)
    client_id, secret = GIVEN.get("client_id"), GIVEN.get("client_secret")
    credentials = SCENARIO.startswith("auth/client-credentials")
    oauth = OAuth(
        client_id=client_id if isinstance(client_id, str) else None,
        client_secret=Secret.literal(secret) if isinstance(secret, str) else None,
        grant="client_credentials" if credentials else "authorization_code",
        redirect_port=free_port(),
        client_metadata_url=CLIENT_METADATA,
        visit=browse,
    )
    return HttpServer(url, oauth=oauth)


def calls(connector: McpServer) -> list[tuple[str, dict[str, object]]]:
    """What is called: what the suite says, or each tool that there is."""
    told = GIVEN.get("toolCalls")
    if isinstance(told, list):
        return [(str(call["name"]), call["arguments"]) for call in cast("list[dict[str, dict[str, object]]]", told)]
    tools = [method for name, method in connector.methods.items() if name not in _EXTRAS]
    return [(tool.original, ARGUMENTS.get(tool.original) or sample(tool.parameters)) for tool in tools]


def sample(schema: dict[str, object]) -> dict[str, object]:
    """Something for each parameter that has to be there."""
    properties = cast("dict[str, dict[str, object]]", schema.get("properties") or {})
    required = cast("list[str]", schema.get("required") or [])
    return {name: SAMPLES.get(str(properties.get(name, {}).get("type"))) for name in required}


_EXTRAS = {"read_resource", "list_resources", "list_resource_templates", "get_prompt", "list_prompts"}


async def main(url: str) -> int:
    options = Options(legacy=LEGACY, sampling=model, roots=("file:///conformance",), start_s=20)
    connector = McpServer("suite", description(url), options=options)
    context: CallContext = replace(a_context(deadline_s=20), ask=answer)
    try:
        if not await connector.ready(25):
            sys.stderr.write(f"{connector.status().reason}\n")
            return 1
        by_original = {method.original: method for method in connector.methods.values()}
        for tool, arguments in calls(connector):
            if tool not in by_original:
                continue
            try:
                value = await connector.call(by_original[tool], arguments, context)
                sys.stderr.write(f"{tool}: {value!r}\n")
            except CallError as error:
                sys.stderr.write(f"{tool}: {error.kind}: {error.message}\n")
    finally:
        await connector.aclose()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
