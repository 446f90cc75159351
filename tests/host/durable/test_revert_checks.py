"""A configuration that undoes a method so that it cannot be undone is refused as soon as that is known."""

from __future__ import annotations

import logging
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from isolith import CodeMode, Revert, UsageError, connector
from isolith_bindings.mcp.connector import McpServer
from isolith_bindings.mcp.descriptions import StdioServer

SERVER = str(Path(__file__).parents[3] / "fixtures" / "mcp" / "changed_server.py")


@dataclass
class Book:
    """What is kept."""

    id: int
    title: str


@connector("files")
class Files:
    async def keep(self, title: str) -> Book:
        """Keep one."""
        return Book(1, title)

    async def keep_all(self, titles: list[str]) -> list[Book] | None:
        """Keep several."""
        return [Book(1, title) for title in titles]

    async def add(self, name: str, text: str = "") -> int:
        """Make one."""
        return len(name + text)

    async def remove(self, name: str) -> None:
        """Away with it."""

    async def close(self, ident: int, why: str = "") -> None:
        """Another."""


def by(method: str, **arguments: object) -> Revert:
    return Revert(method=method, arguments=arguments)


@pytest.mark.parametrize(
    "revert",
    ["files.remove", by("files.close", ident="$result", why="$$5"), by("files.remove", name="$arguments.name")],
)
def test_what_can_be_undone_so(revert: Revert | str) -> None:
    CodeMode([Files], reverts={"files.add": revert})


@pytest.mark.parametrize(
    ("name", "revert", "says"),
    [
        ("files.ad", "files.remove", 'reverts: "files.ad" is to be undone by "files.remove": '),
        ("files.add", "files.remov", 'reverts: "files.add" is to be undone by "files.remov": '),
        ("files.add", "files.remov", "did you mean `files.remove`"),
        ("files.add", "fils.remove", "there is no connector `fils`"),
        ("files", "files.remove", "`files` is no connector.method"),
        ("files.add", "remove", "`remove` is no connector.method"),
        ("files.Add", "files.remove", "`files.Add` is written `files.add`"),
        ("files.add", "files.close", "it needs `ident`, and is given the arguments of add that it takes, and `result`"),
        ("files.add", by("files.close", why="x"), "it needs `ident`: add that to its `arguments`"),
        ("files.add", by("files.remove", nam="$result"), "files.remove has no argument `nam`; did you mean `name`"),
        ("files.add", by("files.remove", name="$arguments.nme"), "`$arguments.nme`: add has no argument `nme`"),
        ("files.add", by("files.remove", name={"a": ["$reslt"]}), "`$reslt` is neither `$arguments...` nor"),
    ],
)
def test_what_cannot_be_undone_so_is_refused_with_the_mend(name: str, revert: Revert | str, says: str) -> None:
    """It used to be told when the rollback had begun."""
    with pytest.raises(UsageError, match=re.escape(says)):
        CodeMode([Files], reverts={name: revert})


@pytest.mark.anyio
@pytest.mark.slow
async def test_of_a_server_it_is_told_once_it_has_said_what_it_offers(caplog: pytest.LogCaptureFixture) -> None:
    server = McpServer("notes", StdioServer(sys.executable, (SERVER, "before")))
    with caplog.at_level(logging.WARNING, "isolith"):
        async with CodeMode([server], reverts={"notes.keep": "notes.drop"}) as code_mode:
            assert caplog.messages == []
            await code_mode.ready()
            for _ in range(2):
                assert (await code_mode.execute("await notes.keep(text='tea')")).value == "kept tea"
    [told] = caplog.messages
    assert told.startswith('reverts: "notes.keep" is to be undone by "notes.drop": ')


@pytest.mark.anyio
async def test_what_is_not_connected_any_more_is_told_and_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "isolith"):
        async with CodeMode([Files], reverts={"gone.add": "gone.remove"}):
            pass
    assert caplog.messages == [
        'reverts: "gone.add": no connector is called `gone`, and nothing that it did can be undone'
    ]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("undone", "path", "told"),
    [
        ("keep", "$result.idd", "what keep gives has no `idd`; did you mean `id`?"),
        ("keep_all", "$result.0.idd", "what keep_all gives has no `idd`; did you mean `id`?"),
        ("keep", "$result.id", None),
        ("keep_all", "$result.0.id", None),
        ("keep", "$result.shelf", None),  # it may be given, and is not like what is declared
        ("add", "$result.id", None),  # an integer: what it gives is not checked
    ],
)
async def test_a_path_into_a_result_that_leads_nowhere_is_told(
    caplog: pytest.LogCaptureFixture, undone: str, path: str, told: str | None
) -> None:
    """It used to be found by the rollback."""
    with caplog.at_level(logging.WARNING, "isolith"):
        async with CodeMode([Files], reverts={f"files.{undone}": by("files.close", ident=path)}):
            pass
    begin = f'reverts: "files.{undone}" is to be undone by "files.close": `{path}`: '
    assert caplog.messages == ([] if told is None else [begin + told])
