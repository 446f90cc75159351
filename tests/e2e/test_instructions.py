"""What a model is told is true: every piece of code in it runs as it stands, whatever tools there are."""

from __future__ import annotations

import re

import pytest

from isolith import CodeMode, connector
from isolith.instructions import INSTRUCTIONS, execute_description
from isolith_bindings.listing import list_all
from isolith_bindings.testing import RecordingConnector
from isolith_bindings.tokens import count

pytestmark = pytest.mark.anyio

_CODE = re.compile(r"`([^`]+)`")
_CALL = re.compile(r"([A-Za-z_][\w.]*)\(")
_NAMES = {"CONNECTOR.METHOD": "shop0.do_0", "NAME=VALUE": "number=3"}
# Said of tools that are not called here, and of what a failed call raises.
_NO_CODE = {"ToolError", ".kind", ".data", "[asks a person]", "await", ">", "{artifact, truncated, preview}"}


@connector("shop0")
class Mondays:
    async def do_0(self) -> int:
        """Does it.

        Only on Mondays.
        """
        return 1


def connectors(number: int, methods: int) -> list[RecordingConnector]:
    answers = {f"do_{index}": "done" for index in range(methods)}
    return [RecordingConnector(f"shop{index}", answers) for index in range(number)]


def pieces() -> list[str]:
    found = _CODE.findall(INSTRUCTIONS)
    for name, real in _NAMES.items():
        found = [piece.replace(name, real) for piece in found]
    return list(dict.fromkeys(piece for piece in found if piece not in _NO_CODE))


def mentioned() -> set[str]:
    return {name for piece in pieces() for name in _CALL.findall(piece)}


def test_every_callable_is_within_a_piece_of_code() -> None:
    assert mentioned() == {
        "search",
        "describe",
        "shop0.do_0",
        "asyncio.gather",
        "print",
        "emit",
        "artifact",
    }
    outside = _CODE.sub("", INSTRUCTIONS)
    assert _CALL.findall(outside) == []


@pytest.mark.parametrize(("number", "methods"), [(0, 0), (1, 1), (5, 1000)])
async def test_every_piece_of_code_runs(number: int, methods: int) -> None:
    async with CodeMode(connectors(number, methods)) as code_mode:
        for piece in pieces():
            if number == 0 and "shop0" in piece:
                continue
            outcome = await code_mode.execute(piece, input={"a": 1})
            assert outcome.status == "completed", (piece, outcome.error)


async def test_what_is_kept_is_there_in_the_style_with_await_and_in_the_one_without() -> None:
    kept = [piece for piece in pieces() if "artifact(" in piece]
    assert ["await " in piece for piece in kept] == [False, True]
    async with CodeMode(connectors(1, 1)) as code_mode:
        for piece in kept:
            called = "await shop0.do_0()" if "await " in piece else "shop0.do_0()"
            outcome = await code_mode.execute(f"{called}\n{piece}\n1")
            assert (outcome.error, outcome.warnings, len(outcome.artifacts)) == (None, (), 1), piece


async def test_what_it_says_of_a_failed_call_is_so() -> None:
    async with CodeMode([RecordingConnector("shop0", {"do_0": ValueError("no")})]) as code_mode:
        outcome = await code_mode.execute(
            "try:\n    await shop0.do_0()\nexcept ToolError as error:\n    seen = [error.kind, error.data]\nseen"
        )
        assert outcome.status == "completed"
        failed = await code_mode.execute("x = 1\nawait shop0.do_0()")
        assert failed.error is not None
        assert failed.error.line == 2


async def test_paths_that_search_gives_carry_signatures() -> None:
    async with CodeMode(connectors(1, 1)) as code_mode:
        outcome = await code_mode.execute(
            "found = search('do')\n[(r['path'], r['signature']) for r in found['results']]"
        )
        assert outcome.value == [("shop0.do_0", "async def do_0(**others)")]


async def test_what_it_shows_of_describing_says_all_that_a_tool_says_of_itself() -> None:
    piece = next(piece for piece in pieces() if "describe(" in piece)
    async with CodeMode([Mondays]) as code_mode:
        outcome = await code_mode.execute(piece)
        assert isinstance(outcome.value, str)
        assert "Only on Mondays." in outcome.value


def test_it_is_short_and_begins_with_what_matters() -> None:
    assert len(INSTRUCTIONS) <= 2000
    beginning = INSTRUCTIONS[:500]
    assert all(
        word in beginning for word in ("search(", "describe(", "await CONNECTOR.METHOD(", "only inside a script")
    )


@pytest.mark.parametrize(("number", "methods"), [(0, 0), (1, 1), (300, 20)])
def test_it_is_of_constant_size_and_the_tools_behind_it_are_bounded(number: int, methods: int) -> None:
    listing = list_all(connectors(number, methods))
    text = execute_description(listing)
    assert text.startswith(INSTRUCTIONS)
    assert count(text.removeprefix(INSTRUCTIONS)) <= 2001
    assert all(f"shop{index}" in text for index in range(number))
