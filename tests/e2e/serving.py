"""`isolith serve` over HTTP, as a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from tests.e2e.conftest import isolith_command

from isolith_runtime.image.builder import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from anyio.abc import Process


@dataclass(frozen=True)
class Served:
    """The process, where it is, and what it said at its begin."""

    process: Process
    url: str
    said: str


def with_images(folder: Path) -> Path:
    """The folder, with a home of Isolith in it that has the images that are there already."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    link_images(home)
    return folder


def link_images(home: Path) -> None:
    """Put the images that are there into a home, but not what another process may just be building."""
    ignored = shutil.ignore_patterns("work")
    shutil.copytree(open_store().folder.root, home / "images", copy_function=_linked, ignore=ignored)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """That of a command in such a folder."""
    return {**os.environ, "ISOLITH_HOME": str(folder / "home"), "COLUMNS": "300", **more}


@asynccontextmanager
async def served(folder: Path, *arguments: str, until: str = "/mcp\n", **more: str) -> AsyncGenerator[Served]:
    """A server at a free port, once it has said `until`. It ends well, by the signal of a test or by one from here."""
    command = [isolith_command(), "serve", "--http", "127.0.0.1:0", *arguments]
    process = await anyio.open_process(command, cwd=folder, env=environment(folder, **more))
    try:
        assert process.stderr is not None
        said = ""
        while until not in said:
            said += (await process.stderr.receive()).decode()
        found = re.search(r"serving (http://\S+)/mcp\n", said)
        assert found is not None
        yield Served(process, found[1], said)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()
        await process.aclose()
    assert process.returncode in {0, 143, -signal.SIGTERM}
