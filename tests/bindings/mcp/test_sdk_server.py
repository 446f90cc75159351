"""A server of the SDK, over each transport and in both eras: all that a script can do with it."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

import pytest
from tests.bindings.mcp.bench import Bench, connected, python_server, sdk_server_over, until_says

from isolith_bindings.connector import Annotations, Answer, ArtifactRef
from isolith_bindings.mcp.options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.anyio

WAYS = [("stdio", False), ("stdio", True), ("http", False), ("http", True), ("sse", False)]


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "legacy"), WAYS)
async def test_a_server_of_the_sdk(transport: str, legacy: bool, tmp_path: Path) -> None:
    with sdk_server_over(transport) as server:
        async with connected(server, options=Options(legacy=legacy, identify=True)) as bench:
            assert bench.connector.status().era == ("legacy" if legacy else "modern")
            await values(bench)
            await artifacts(bench)
            await failures(bench)
            await beside_tools(bench)
            await live(bench, tmp_path / "note")
            await a_tool_that_comes_later(bench)


async def values(bench: Bench) -> None:
    assert await bench.call("add", a=2**80) == 2**80 + 1
    assert await bench.call("points", count=2) == [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    assert await bench.call("point") == {"x": 1, "y": 2}
    assert await bench.call("text", value="007") == "007"
    assert await bench.call("text", value='"quoted"') == '"quoted"'
    assert await bench.call("text", value='{"id": 9007199254740993}') == {"id": 2**53 + 1}
    assert await bench.call("large", size=900_000) == "x" * 900_000
    assert (await bench.raw("text", value="x"))["content"] == [{"type": "text", "text": "x"}]
    told = await bench.call("meta")
    assert isinstance(told, dict)
    assert told.keys() == {f"io.isolith/{name}" for name in ("principal", "session", "execution", "call")}


async def artifacts(bench: Bench) -> None:
    picture = await bench.call("picture")
    assert picture == {"text": "one pixel", "files": [ArtifactRef("art0", "image/png", 70)]}
    assert bench.artifacts.kept["art0"].startswith(b"\x89PNG")
    # What is beside structured content is kept as well, and an artifact can be passed on.
    assert await bench.call("chart") == {"points": 3}
    assert len(bench.artifacts.kept) == 2
    assert await bench.call("measure", data=ArtifactRef("art0", "image/png", 70)) == 70


async def failures(bench: Bench) -> None:
    failed = await bench.failure("fail", text="no\nway")
    assert (failed.kind, failed.message) == ("tool_error", "Error executing tool fail: no\nway")
    assert (await bench.failure("crash")).message == "Error executing tool crash"
    missing = await bench.failure("add")
    assert (missing.kind, missing.message) == ("invalid_arguments", "box.add: `a` is missing")
    assert "expected integer" in (await bench.failure("add", a="1")).message
    # None for what may be left out is the server's to judge; for what may not, it is wrong here.
    assert (await bench.failure("add", a=1, b=None)).kind == "tool_error"
    assert (await bench.failure("add", a=None)).kind == "invalid_arguments"
    unknown = await bench.failure("add", a=1, c=2)
    assert unknown.message == "box.add has no argument `c`. It takes: a, b"
    assert unknown.hint == "box.add(*, a: int, b: int = 1) -> int"
    undeclared = await bench.failure("summary")
    assert undeclared.kind == "tool_error"
    assert "sampling" in undeclared.message
    # Nor are there any folders, unless the host names some.
    assert "roots" in (await bench.failure("folders")).message


async def beside_tools(bench: Bench) -> None:
    assert await bench.call("read_resource", uri="note://hello") == "Hello!"
    pixel = await bench.call("read_resource", uri="note://pixel")
    assert isinstance(pixel, ArtifactRef)
    assert (await bench.failure("read_resource", uri="note://nope")).data is not None
    listed = await bench.call("list_resources")
    assert isinstance(listed, list)
    assert {entry["uri"] for entry in listed} == {"note://hello", "note://pixel"}
    page = await bench.call_in(bench.context(variant="pages"), "list_prompts")
    assert isinstance(page, dict)
    assert page["cursor"] is None
    assert page["items"][0]["name"] == "greet"
    prompt = await bench.connector.call(
        bench.connector.methods["get_prompt"], {"name": "greet", "arguments": {"name": "Al"}}, bench.context()
    )
    assert isinstance(prompt, dict)
    assert prompt["messages"] == [{"role": "user", "content": "Say hello to Al."}]


async def live(bench: Bench, note: Path) -> None:
    bench.progress.reports.clear()
    assert await bench.call("slow", steps=3, pause=0) == "done"
    assert (3.0, 3.0, "step 3") in bench.progress.reports
    bench.answer = Answer("accept", {"sure": True})
    assert await bench.call("delete") == "accept True"
    assert bench.questions[0].message == "Delete everything?"
    assert bench.questions[0].schema is not None
    bench.answer = Answer("decline")
    assert await bench.call("delete") == "decline"
    await cancel_waiting(bench, note)


async def cancel_waiting(bench: Bench, note: Path) -> None:
    """A call that is cancelled is cancelled in the server too."""
    waiting = asyncio.create_task(bench.call("wait", path=str(note)))
    await until_says(note, "waiting")
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    await until_says(note, "cancelled")


async def a_tool_that_comes_later(bench: Bench) -> None:
    assert "secret" not in bench.connector.methods
    await bench.call("unlock")
    await bench.until(lambda: "secret" in bench.connector.methods)
    assert await bench.call("secret") == "found"
    assert bench.changes[-1].added == {"secret"}


@pytest.mark.parametrize("legacy", [False, True])
async def test_a_model_and_roots_are_offered_where_the_host_gives_them(legacy: bool) -> None:
    asked: list[Mapping[str, object]] = []

    async def model(params: dict[str, object]) -> dict[str, object]:
        asked.append(params)
        return {"role": "assistant", "content": {"type": "text", "text": "In short."}, "model": "m"}

    options = Options(legacy=legacy, sampling=model, roots=("file:///data",))
    async with connected(python_server("sdk_server.py"), options=options) as bench:
        assert await bench.call("summary") == "In short."
        assert asked[0]["maxTokens"] == 10
        assert await bench.call("folders") == ["file:///data"]


async def test_what_a_server_says_of_its_tools_is_kept_and_not_believed() -> None:
    async with connected(python_server("sdk_server.py")) as bench:
        method = bench.connector.methods["add"]
        assert method.annotations == Annotations(read_only=True, idempotent=True, trusted=False)
        assert not method.idempotent
        assert method.signature.startswith("async def add(*, a: int, b: int = ")
        assert method.returns == {"type": "integer"}
        assert bench.connector.methods["points"].returns is not None
        assert bench.connector.description == "Numbers, pictures and failures."
    async with connected(python_server("sdk_server.py"), trusted=True) as bench:
        assert bench.connector.methods["add"].annotations.trusted
        assert bench.connector.methods["add"].idempotent
        assert not bench.connector.methods["count"].idempotent


async def test_the_bytes_of_arguments_are_those_of_the_script() -> None:
    async with connected(python_server("sdk_server.py")) as bench:
        data = bytes(range(256))
        assert await bench.call("measure", data=data) == 256
        assert await bench.call("text", value=base64.b64encode(data).decode()) == base64.b64encode(data).decode()
