"""A credential that is not there is told before a person is asked, and before a decision is spent on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from isolith import CodeMode
from isolith.errors import UsageError
from isolith_bindings.openapi.connector import OpenApi
from isolith_bindings.secrets import Secret

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

SHOP: dict[str, object] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "servers": [{"url": "https://api.test"}],
    "security": [{"admin": []}],
    "paths": {"/reset": {"post": {"operationId": "reset", "responses": {}}}},
    "components": {"securitySchemes": {"admin": {"type": "apiKey", "in": "header", "name": "X-Admin-Key"}}},
}
VARIABLE = "ISOLITH_TEST_ADMIN_KEY"


def shop(journal: Path) -> CodeMode:
    return CodeMode(
        [OpenApi(SHOP, name="shop", auth=Secret.env(VARIABLE))], policy="careful", journal=journal, tend=False
    )


async def test_nobody_is_asked_about_a_call_that_lacks_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    async with shop(tmp_path / "journal.db") as code_mode:
        outcome = await code_mode.execute("await shop.reset()")
    assert outcome.status == "failed"
    assert outcome.error is not None
    assert f"the environment variable {VARIABLE} is not set" in outcome.error.message


async def test_a_yes_is_not_spent_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "canary-8841-key")
    async with shop(tmp_path / "journal.db") as code_mode:
        outcome = await code_mode.execute("await shop.reset()")
        [waiting] = outcome.pending
        assert f"X-Admin-Key: [secret of env {VARIABLE}]" in waiting.reason
        monkeypatch.delenv(VARIABLE)
        with pytest.raises(UsageError, match=f"the environment variable {VARIABLE} is not set"):
            await code_mode.approve(outcome.execution_id, waiting.call_id)
        still = await (await code_mode.runs()).outcome(outcome.execution_id)
    assert still.status == "paused"
