"""The artifacts of a journal on the command line: found by what people call them, and written where they want them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from isolith.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from isolith.command_line.terminal import Terminal
    from isolith.journal.journal import Journal

_MOST_NAMED = 20


async def artifact_of(journal: Journal, execution_id: str, which: str) -> bytes:
    """The bytes under a handle, the beginning of one, or a name that only one has. Raises UsageError."""
    kept = await journal.artifacts.of(execution_id)
    found = [one for one in kept if one.handle == which] or [
        one for one in kept if one.handle.startswith(which) or one.name == which
    ]
    if len(found) != 1:
        what = f"{len(found)} artifacts of execution {execution_id} are" if found else "no artifact of it is"
        there = ", ".join(f"{one.handle} ({one.name or one.mime})" for one in (found or kept)[:_MOST_NAMED])
        raise UsageError(f"{what} called `{which}`: there {f'are {there}' if there else 'is none'}")
    return await journal.artifacts.read(execution_id, found[0].handle)


def write_bytes(content: bytes, output: Path | None, terminal: Terminal) -> None:
    """To a file, or to stdout; on a terminal text alone, with nothing that moves its cursor. Raises UsageError."""
    if output is not None:
        try:
            output.write_bytes(content)
        except OSError as error:
            raise UsageError(f"`{output}` cannot be written: {error.strerror}") from error
        terminal.say(f"{len(content):,} bytes written to {output}")
    elif terminal.out.is_terminal:
        try:
            terminal.write(content.decode())
        except UnicodeDecodeError as error:
            raise UsageError(
                "these bytes are no text: write them to a file with `--output FILE`, or pipe them"
            ) from error
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
