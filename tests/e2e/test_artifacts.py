"""Artifacts as values: they cross both ways, are passed on, inspected and read; none of another execution is."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, cast

import pytest

from isolith import Budgets, CodeMode, connector, method
from isolith.durable.dry_replay import dry_replay
from isolith.journal.errors import UnknownEntry
from isolith.run import latest_artifacts
from isolith_bindings.connector import ArtifactRef, CallContext
from isolith_runtime.guest.artifact import Artifact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

PICTURE = b"\x89PNG" + bytes(range(256))


@connector("camera")
class Camera:
    """Takes pictures and looks at them."""

    async def take(self, context: CallContext) -> dict[str, ArtifactRef]:
        """A picture."""
        return {"picture": context.artifacts.keep(PICTURE, mime="image/png", name="p.png")}

    async def measure(self, pictures: list[ArtifactRef], context: CallContext) -> list[int]:
        """How large pictures are."""
        return [len(context.artifacts.read(picture)) for picture in pictures]


@pytest.fixture
async def camera() -> AsyncIterator[CodeMode]:
    async with CodeMode(connectors=[Camera]) as code_mode:
        yield code_mode


@pytest.mark.parametrize("style", ["", "await "])
async def test_a_connectors_artifact_is_inspected_read_and_passed_on(camera: CodeMode, style: str) -> None:
    outcome = await camera.execute(f"""
p = ({style}camera.take())["picture"]
size = {style}camera.measure(pictures=[p, p])
[p.mime, p.size, p.name, size, {style}p.read(), {style}p.read(1, 3), p]
""")
    assert outcome.error is None
    *parts, last = cast("list[object]", outcome.value)
    assert isinstance(last, Artifact)
    assert parts == ["image/png", 260, "p.png", [260, 260], PICTURE, b"PNG"]
    [record] = outcome.artifacts
    assert (last.handle, record.bytes) == (record.handle, 260)
    assert cast("list[object]", outcome.to_json()["value"])[-1] == {
        "handle": record.handle,
        "name": "p.png",
        "mime": "image/png",
        "bytes": 260,
    }


async def test_the_outcome_lists_them_in_the_order_of_the_calls() -> None:
    @connector("slow")
    class Slow:
        async def take(self, n: int, context: CallContext) -> ArtifactRef:
            await asyncio.sleep(0.05 * (3 - n))
            return context.artifacts.keep(b"x", mime="image/png", name=f"{n}.png")

    async with CodeMode(connectors=[Slow]) as code_mode:
        outcome = await code_mode.execute(
            "import asyncio\nlen(await asyncio.gather(*[slow.take(n=n) for n in (1, 2, 3)]))"
        )
    assert [record.name for record in outcome.artifacts] == ["1.png", "2.png", "3.png"]


async def test_a_handle_of_another_execution_is_refused(camera: CodeMode) -> None:
    handle = (await camera.execute("camera.take()['picture'].handle")).value
    script = f"""
p = camera.take()["picture"]
p.handle = {handle!r}
camera.measure(pictures=[p])
"""
    outcome = await camera.execute(script)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("invalid_arguments", 4)
    assert "there is no artifact" in outcome.error.message
    outcome = await camera.execute(script.replace("camera.measure(pictures=[p])", "p.read()"))
    assert outcome.error is not None
    assert outcome.error.kind == "invalid_arguments"


async def test_what_is_read_counts_against_the_scripts_memory(camera: CodeMode) -> None:
    script = "a = artifact(bytes(5_000_000))\nx = [a.read() for _ in range(20)]"
    outcome = await camera.execute(script, budgets=Budgets(memory_mb=64))
    assert outcome.error is not None
    assert outcome.error.kind == "memory_exceeded"


async def test_an_artifact_is_as_large_as_a_value_may_be(camera: CodeMode) -> None:
    assert (await camera.execute("artifact(bytes(12_000_000)).size")).value == 12_000_000
    outcome = await camera.execute("artifact(bytes(13_000_000)).size")
    assert outcome.error is not None
    assert outcome.error.message == "the arguments of artifact are larger than 16,777,216 bytes"


def test_a_handle_outside_reads_nothing() -> None:
    with pytest.raises(TypeError, match="kept by the host"):
        Artifact("h", "m", 1).read()
    assert ArtifactRef("h", "m", 1, "n").__artifact__() == ("h", "m", 1, "n")


async def test_a_result_that_became_an_artifact_is_told_with_its_line_and_what_stands_in_its_place() -> None:
    @connector("tracker")
    class Tracker:
        async def big(self, n: int) -> str:
            return "x" * n

        @method(policy="ask")
        async def close(self) -> None:
            """Waits for a person."""

    script = (
        "a = await tracker.big(n=10)\nx = await tracker.big(n=3000)\nawait tracker.close()\n[len(x), type(x).__name__]"
    )
    async with CodeMode(connectors=[Tracker]) as code_mode:
        paused = await code_mode.execute(script, budgets=Budgets(result_bytes=1000))
        woken = await code_mode.approve(paused.execution_id, paused.pending[0].call_id)
        runs = await code_mode.runs()
        replayed = await dry_replay(runs, paused.execution_id)
        loop = await code_mode.execute(
            "for n in range(3):\n    await tracker.big(n=3000)", budgets=Budgets(result_bytes=1000)
        )
    for outcome in (paused, woken, replayed):
        [warning] = outcome.warnings
        assert (warning.kind, warning.line, warning.tool) == ("invalid_result", 2, "tracker.big")
        assert warning.message == (
            "tracker.big answered 3,002 bytes, more than `result_bytes` (1,000): the script was given {artifact, truncated, preview} in "
            "place of it"
        )
    assert woken.value == [3, "dict"]
    assert [warning.line for warning in loop.warnings if warning.kind == "invalid_result"] == [2]


@pytest.mark.parametrize("kept", ["a journal", "this process"])
async def test_an_artifact_is_read_after_its_run_has_ended(tmp_path: Path, kept: str) -> None:
    async with CodeMode([Camera], journal=tmp_path / "j.db" if kept == "a journal" else None) as code_mode:
        outcome = await code_mode.execute("await camera.take()")
        [record] = outcome.artifacts
        assert await code_mode.artifact(outcome.execution_id, record.handle) == PICTURE
        cut = await code_mode.execute("list(range(5000))", budgets=Budgets(value_tokens=100))
        [value] = cut.artifacts
        assert json.loads(await code_mode.artifact(cut.execution_id, value.handle)) == [*range(5000)]
        for execution_id, handle in ((outcome.execution_id, value.handle), ("none", record.handle)):
            with pytest.raises(UnknownEntry, match="has no artifact"):
                await code_mode.artifact(execution_id, handle)


async def test_of_runs_without_a_journal_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latest_artifacts, "MAX_KEPT", 2 * len(PICTURE))
    async with CodeMode([Camera]) as code_mode:
        made = [await code_mode.execute("await camera.take()") for _ in range(3)]
        for outcome in made[1:]:
            assert await code_mode.artifact(outcome.execution_id, outcome.artifacts[0].handle) == PICTURE
        with pytest.raises(UnknownEntry):
            await code_mode.artifact(made[0].execution_id, made[0].artifacts[0].handle)
