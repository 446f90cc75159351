"""What `execute` says of the tools: bounded, fresh, and told anew to every client when it has changed."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import TextContent, ToolListChangedNotification

from isolith import CodeMode
from isolith.errors import UsageError
from isolith.instructions import DEFAULT_TOKENS, INSTRUCTIONS, Shown, described, least_tokens
from isolith.mcp.following import MAX_REMEMBERED, Following
from isolith.mcp.server import mcp_server
from isolith_bindings.listing import list_all
from isolith_bindings.testing import RecordingConnector, a_method
from isolith_bindings.tokens import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolResult

pytestmark = pytest.mark.anyio


class Moving(RecordingConnector):
    """A connector whose methods change."""

    def __init__(self, name: str, methods: int) -> None:
        super().__init__(name, {f"do_{number}": "done" for number in range(methods)})
        self.listeners: list[Callable[[object], None]] = []

    def on_change(self, listener: Callable[[object], None]) -> object:
        self.listeners.append(listener)
        return None

    def gain(self, name: str) -> None:
        self.methods = {**self.methods, name: a_method(name, description="What is new.")}
        for listener in self.listeners:
            listener(None)


async def said(client: Client) -> str:
    tools = (await client.list_tools(cache_mode="bypass")).tools
    [description] = [tool.description for tool in tools if tool.name == "execute"]
    return description or ""


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


@pytest.mark.parametrize("number", [0, 1, 10, 5_000])
@pytest.mark.parametrize("budget", [DEFAULT_TOKENS, 600, 0])
def test_the_whole_description_is_within_its_budget_whatever_there_is(number: int, budget: int) -> None:
    each = max(1, number // 10)
    connectors = [RecordingConnector(f"shop{n}", {f"do_{m}": 1 for m in range(each)}) for n in range(min(10, number))]
    asked = budget or least_tokens()
    found = described(partial(list_all, connectors), asked)
    assert count(found.text) <= asked
    assert found.text.startswith(INSTRUCTIONS)
    if budget == DEFAULT_TOKENS:
        assert all(f"\n{connector.name} (" in found.text for connector in connectors)
        assert number == 0 or "shop0.do_0(" in found.text


def test_fewer_tokens_than_the_instructions_take_are_refused_with_the_least() -> None:
    for tokens in (1, least_tokens() - 1, -1):
        with pytest.raises(UsageError, match=f"takes {least_tokens()}; 0 leaves the tools out"):
            Shown(tokens)
    assert Shown(least_tokens()).tokens == count(INSTRUCTIONS)


async def test_without_tokens_nothing_is_said_of_the_tools_and_no_change_is_promised() -> None:
    async with (
        CodeMode([Moving("shop", 3)]) as code_mode,
        Client(mcp_server(code_mode, shown=Shown(0)), mode="legacy") as client,
    ):
        assert await said(client) == INSTRUCTIONS
        assert not cast("SimpleNamespace", client.server_capabilities).tools.list_changed


async def test_what_is_pinned_is_shown_before_others() -> None:
    async with CodeMode([Moving("shop", 900)]) as code_mode:
        shown = Shown(least_tokens() + 60, ("shop.do_899",))
        async with Client(mcp_server(code_mode, shown=shown)) as client:
            assert "shop.do_899(" in await said(client)


async def test_who_listens_is_told_of_a_change_and_finds_it_in_the_list() -> None:
    shop = Moving("shop", 3)
    async with CodeMode([shop]) as code_mode, Client(mcp_server(code_mode)) as client:
        assert "shop.rent(" not in await said(client)
        async with client.listen(tools_list_changed=True) as listening:
            shop.gain("rent")
            with anyio.fail_after(240):
                async for event in listening:
                    assert isinstance(event, ToolsListChanged)
                    break
        assert "shop.rent(**others)  # > What is new.\n" in await said(client)


async def test_a_client_of_the_handshake_is_told_too() -> None:
    shop, told = Moving("shop", 3), anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async with (
        CodeMode([shop]) as code_mode,
        Client(mcp_server(code_mode), mode="legacy", message_handler=heard) as client,
    ):
        assert cast("SimpleNamespace", client.server_capabilities).tools.list_changed
        await said(client)
        shop.gain("rent")
        with anyio.fail_after(240):
            await told.wait()
        assert "shop.rent(" in await said(client)


async def test_what_has_changed_is_said_once_beside_the_next_answer_and_in_few_words() -> None:
    shop = Moving("shop", 3)
    async with CodeMode([shop]) as code_mode, Client(mcp_server(code_mode), mode="legacy") as client:
        whole = await said(client)
        assert len(texts(await client.call_tool("search", {"query": "do"}))) == 1
        shop.gain("rent")
        first = texts(await client.call_tool("search", {"query": "rent"}))
        assert first[1:] == [
            "The tools have changed:\nnow: shop (4 tools, ready): > the test double shop\n"
            "  new: shop.rent(**others)  # > What is new.\n"
        ]
        assert count(first[1]) < count(whole.removeprefix(INSTRUCTIONS))
        assert len(texts(await client.call_tool("search", {"query": "rent"}))) == 1
        shop.gain("lend")
        await said(client)
        assert len(texts(await client.call_tool("search", {"query": "lend"}))) == 1


async def test_of_connections_without_end_only_the_last_are_remembered() -> None:
    shop = Moving("shop", 3)
    async with CodeMode([shop]) as code_mode:
        following = Following(code_mode.catalog, Shown())
        contexts = [
            cast(
                "ServerRequestContext",
                SimpleNamespace(request=SimpleNamespace(headers={"mcp-session-id": str(number)}), session=None),
            )
            for number in range(MAX_REMEMBERED + 1)
        ]
        for context in contexts:
            await following.description(context)
        shop.methods = {**shop.methods, "rent": a_method("rent")}
        assert await following.news(contexts[0]) == ""
        assert "shop.rent" in await following.news(contexts[-1])
        nobody = cast("ServerRequestContext", SimpleNamespace(request=SimpleNamespace(headers={}), session=None))
        await following.description(nobody)
        assert await following.news(nobody) == ""
