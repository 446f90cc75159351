"""A model that calls a method as if it were a tool of its own is told the script that it meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp import Client
from mcp_types import TextContent

from isolith import CodeMode, connector, method
from isolith.mcp.server import mcp_server
from isolith.run.misdirected import misdirected
from isolith.run.supply import get_supply

if TYPE_CHECKING:
    from isolith.outcome import Diagnostic

pytestmark = pytest.mark.anyio


@connector("slack")
class Slack:
    async def post_message(self, text: str, loud: bool = False) -> str:
        """Post."""
        return text.upper() if loud else text

    @method(policy="deny")
    async def delete_all(self) -> None:
        """Nobody may."""


def told(name: str, **arguments: object) -> Diagnostic:
    return misdirected(CodeMode([Slack]).catalog, name, arguments)


@pytest.mark.parametrize(
    "name",
    [
        *("slack.post_message", "slack_post_message", "slack__post_message", "slack-post-message", "slackPostMessage"),
        *("mcp__slack__post_message", "tools.slack.post_message", "functions.slack_post_message", "Slack/postMessage"),
    ],
)
def test_every_way_to_name_a_method(name: str) -> None:
    found = told(name, text="it's", loud=True)
    if name == "slackPostMessage":  # nothing says where its connector ends
        assert found.tool is None
        return
    assert (found.kind, found.tool) == ("unknown_tool", "slack.post_message")
    assert found.hint == """call `execute` with the code: await slack.post_message(text="it's", loud=True)"""


@pytest.mark.parametrize("name", ["slack.delete_all", "slack.nothing", "rm -rf", "", "_" * 10_000, "a_" * 90])
def test_what_is_denied_or_unknown_is_nowhere(name: str) -> None:
    found = told(name)
    assert (found.kind, found.tool) == ("unknown_tool", None)
    assert len(found.message) < 100


def test_arguments_that_are_none_or_too_long_are_left_out() -> None:
    assert "(...)" in str(told("slack.post_message", text="x" * 5_000).hint)
    assert "import" not in str(told("slack.post_message", **{"text=__import__('os'), x": 1}).hint)


async def test_over_mcp_the_second_turn_works() -> None:
    get_supply()
    async with CodeMode([Slack]) as code_mode, Client(mcp_server(code_mode)) as client:
        wrong = await client.call_tool("slack.post_message", {"text": "hello", "loud": True})
        assert wrong.is_error
        (block,) = wrong.content
        assert isinstance(block, TextContent)
        right = await client.call_tool("execute", {"code": block.text.partition("the code: ")[2]})
        assert (right.structured_content or {})["value"] == "HELLO"
