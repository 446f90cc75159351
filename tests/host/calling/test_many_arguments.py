"""What is many arguments is looked through beside the event loop, wherever a call comes by: a script gives millions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode
from isolith_bindings.errors import CallError
from isolith_bindings.openapi.connector import OpenApi
from isolith_bindings.openapi.loaded import Loaded

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
