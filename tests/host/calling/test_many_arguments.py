"""What is many arguments is looked through beside the event loop, wherever a call comes by: a script gives millions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode, connector, method
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.connector import OpenApi
from isolith_bindings.openapi.loaded import Loaded
from isolith_runtime.guest import codec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NUMBERS = {"type": "array", "items": {"type": "number"}}
_CONTENT = {"application/json": {"schema": {"type": "object", "properties": {"n": _NUMBERS}}}}
SHOP: dict[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://api.test"}],
    "paths": {"/sum": {"post": {"operationId": "sum", "requestBody": {"content": _CONTENT}, "responses": {}}}},
}


@pytest.mark.anyio
async def test_many_are_looked_through_on_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(name: str, real: Callable[..., object]) -> Callable[..., object]:
        def look(*arguments: object) -> object:
            seen.append(f"{name} {'on the loop' if threading.get_ident() == loop else 'on a thread'}")
            if name == "send":
                raise CallError("tool_unavailable", "nothing is sent here")
            return real(*arguments)

        return look

    loop = threading.get_ident()
    monkeypatch.setattr(OpenApi, "check", noted("check", OpenApi.check))
    for name in ("plan", "shown", "send"):
        monkeypatch.setattr(Loaded, name, noted(name, getattr(Loaded, name)))
    shop = OpenApi(SHOP, name="shop")
    async with CodeMode([shop], policy="careful", journal=tmp_path / "journal.db", tend=False) as code_mode:
        outcome = await code_mode.execute("await shop.sum(n=[1.5] * 6000)")
        [waiting] = outcome.pending
        await code_mode.approve(outcome.execution_id, waiting.call_id)
    assert seen.count("check on a thread") == 3  # before it is asked, before the yes counts, and before it is made
    assert [each for each in seen if each.endswith("on the loop")] == ["send on the loop"]


@connector("echo")
class Echo:
    async def say(self, value: object) -> object:
        """Say it again."""
        return value

    @method(policy="ask")
    async def ask(self, value: object) -> object:
        """After somebody has said yes."""
        return value


@pytest.mark.anyio
@pytest.mark.parametrize("script", ["await echo.say(value=MANY)\n1", "await echo.ask(value=MANY)\n1"])
async def test_many_are_written_on_threads(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written over and over, for their size, for the journal, as the answer: it took the loop a second for each call."""
    loop, written = threading.get_ident(), {"on the loop": 0, "on a thread": 0}
    real = codec.encode

    def encode(value: object, **limits: int) -> object:
        found = real(value, **limits)
        if len(str(found)) > 30_000:
            written["on the loop" if threading.get_ident() == loop else "on a thread"] += 1
        return found

    monkeypatch.setattr(codec, "encode", encode)
    async with CodeMode([Echo()], journal=tmp_path / "journal.db", tend=False, policy="trusted") as code_mode:
        outcome = await code_mode.execute(script.replace("MANY", "[[1]] * 10_000"))
        for waiting in outcome.pending:
            outcome = await code_mode.approve(outcome.execution_id, waiting.call_id)
    assert (outcome.value, outcome.error) == (1, None)
    assert written["on the loop"] == 0
    assert written["on a thread"] > 1
