"""What a tool returns that declares nothing is learnt from its results, through real runs, and is marked as learnt."""

from __future__ import annotations

from typing import cast

import pytest

from isolith import CodeMode
from isolith_bindings.testing import RecordingConnector

pytestmark = pytest.mark.anyio

ROWS = [{"id": 1, "name": "Ada", "tags": ["x"]}, {"id": 2, "name": None, "tags": []}]


async def test_the_next_script_is_told_what_the_last_one_was_given() -> None:
    shop = RecordingConnector("shop", {"list": ROWS, "never": 1, "fail": ValueError("no")})
    async with CodeMode([shop]) as code_mode:
        before = await code_mode.execute("describe('shop.list')['text']")
        assert "-> Any" in str(before.value)
        assert "observed" not in str(before.value)
        ran = await code_mode.execute("rows = await shop.list()\nlen(rows)")
        assert ran.value == 2
        after = await code_mode.execute("found = describe('shop.list')\n[found['text'], found['observed']]")
        text, observed = cast("tuple[str, bool]", after.value)
        assert observed is True
        assert "# returns: observed" in text
        assert "-> list[" in text
        assert "id: int" in text
        assert "name: str | None" in text
        assert "tags: list[str]" in text


async def test_only_what_was_seen_is_learnt_and_no_value_of_it() -> None:
    shop = RecordingConnector("shop", {"list": [{"secret": "hunter2"}], "never": 1, "fail": ValueError("no")})
    async with CodeMode([shop]) as code_mode:
        await code_mode.execute("try:\n    await shop.fail()\nexcept ToolError:\n    pass\nawait shop.list()")
        described = code_mode.catalog.describe(["shop.list", "shop.never", "shop.fail"], "full")
        first, never, failed = described.members
        assert (first.observed, never.observed, failed.observed) == (True, False, False)
        assert "hunter2" not in f"{described}"
