"""Other ways to use a method: `.raw(...)` as the other side answered, `.pages(...)` item by item over all pages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from isolith import CodeMode
from isolith_bindings.errors import CallError
from isolith_bindings.testing import RecordingConnector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from isolith_bindings.connector import CallContext, Method

pytestmark = pytest.mark.anyio


class Paged(RecordingConnector):
    """Twelve items over three pages; `plain` has no variants."""

    def __init__(self) -> None:
        super().__init__("github", {"issues.list": None, "plain": "plain"})
        [name] = [name for name in self.methods if name != "plain"]
        self.methods["issues.list"] = replace(
            self.methods.pop(name), name="issues.list", variants=frozenset({"raw", "pages"})
        )

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        if method.name == "plain":
            return "plain"
        if context.variant == "raw":
            return {"raw": dict(arguments)}
        if context.variant == "pages":
            start = cast("int", context.cursor or 0)
            if start not in {0, 5, 10}:
                raise CallError("invalid_arguments", "not a cursor of ours")
            size = cast("int", arguments.get("size", 5))
            return {"items": list(range(start, min(12, start + size))), "cursor": start + 5 if start < 10 else None}
        return [0, 1, 2, 3, 4]


@pytest.fixture
async def github() -> AsyncIterator[CodeMode]:
    async with CodeMode(connectors=[Paged()]) as code_mode:
        yield code_mode


async def test_items_of_all_pages(github: CodeMode) -> None:
    outcome = await github.execute("[i async for i in github.issues.list.pages(size=5)]")
    assert outcome.value == list(range(12))
    assert len(outcome.calls) == 3
    outcome = await github.execute("[i for i in github.issues.list.pages(size=5)]")
    assert outcome.value == list(range(12))


async def test_pages_stop_where_the_script_does(github: CodeMode) -> None:
    outcome = await github.execute("for i in github.issues.list.pages():\n    if i == 6: break\ni")
    assert (outcome.value, len(outcome.calls)) == (6, 2)


async def test_raw(github: CodeMode) -> None:
    assert (await github.execute("await github.issues.list.raw(a=1)")).value == {"raw": {"a": 1}}
    assert (await github.execute("await github.issues.list()")).value == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("variant", ["raw", "pages"])
async def test_a_method_without_that_variant_says_so(github: CodeMode, variant: str) -> None:
    outcome = await github.execute(f"list(github.plain.{variant}())")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.line) == ("unknown_tool", 1)
    assert f"plain.{variant}" in outcome.error.message


async def test_for_where_async_for_is_needed(github: CodeMode) -> None:
    outcome = await github.execute("await github.plain()\nfor i in github.issues.list.pages():\n    pass")
    assert outcome.error is not None
    assert "async for" in outcome.error.message
    assert outcome.error.line == 2


async def test_pages_are_no_value(github: CodeMode) -> None:
    outcome = await github.execute("await github.plain()\ngithub.issues.list.pages()")
    assert outcome.error is not None
    assert "async for" in outcome.error.message
