"""Ends what this process started if it cannot do so itself, killed by SIGKILL or by a crash.

A program that speaks MCP ends when its input closes, and the kernel closes that; one that hangs does not, and neither
does what it has started. So a shell waits at the end of a pipe whose other end only this process has: it is told the
group of each program that begins, and of each that has been ended. When the pipe closes, the groups that are left get
SIGTERM, and SIGKILL a second later. One shell for a process, two milliseconds, on Linux, macOS and other systems of
POSIX. No program begins before it is watched: a shell in its place waits for a line, and becomes it. Not on Windows:
there a program has its closed input to tell it, and nothing else. (Linux's PR_SET_PDEATHSIG would reach the program
and nothing that it started, and needs code between fork and exec.)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

GO = b"\n"
"""What a held program waits for on its standard input. At the end of that input it never begins."""

_SCRIPT = """
trap '' HUP INT TERM
groups=
while read -r what group; do
    case $what in
        +) groups="$groups $group" ;;
        -) left=
           for each in $groups; do [ "$each" = "$group" ] || left="$left $each"; done
           groups=$left ;;
    esac
done
[ -n "$groups" ] || exit 0
for each in $groups; do kill -TERM -"$each" 2>/dev/null; done
sleep 1
for each in $groups; do kill -KILL -"$each" 2>/dev/null; done
"""

_lock = threading.Lock()
_groups: dict[int, int] = {}
"""The groups that are watched, each with the process of ours that started it: a fork of ours has no say over them."""
_pipe: tuple[int, int] | None = None
"""The end that is written to, and the process of ours that it belongs to."""


def held(names: Iterable[str]) -> tuple[str, ...]:
    """What to put before a command, so that it begins at `GO` and not before; nothing where it cannot be held.

    It cannot where there is no such shell, or where a variable of its environment has a name that a shell would drop:
    what it starts in the moment before it is watched is then not known.
    """
    if sys.platform == "win32" or not all(name.isascii() and name.isidentifier() for name in names):
        return ()
    # POSIX has `read` take no byte past the line, which the program is to read.
    return (shutil.which("sh") or "/bin/sh", "-c", 'read -r go && exec "$@"', "sh")


def watch(group: int) -> None:
    """End this group of processes when this process is gone. Never fails: it is for what should not happen."""
    with _lock:
        _groups[group] = os.getpid()
        _tell(f"+ {group}\n")


def forget(group: int) -> None:
    """It has been ended."""
    with _lock:
        if _groups.pop(group, None) is not None:
            _tell(f"- {group}\n")


def _tell(line: str) -> None:
    global _pipe  # noqa: PLW0603 - one for the process
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        if _pipe is not None and _pipe[1] == os.getpid():
            with contextlib.suppress(BrokenPipeError):
                os.write(_pipe[0], line.encode())
                return
            os.close(_pipe[0])  # somebody ended it: another one is told of all that there is
        _pipe = (_started(), os.getpid())
        mine = "".join(f"+ {group}\n" for group, parent in _groups.items() if parent == os.getpid())
        os.write(_pipe[0], mine.encode())


def _started() -> int:
    """A new guardian's pipe. It is no child that anybody waits for: it ends after this process."""
    reading, writing = os.pipe()
    nowhere = [(os.POSIX_SPAWN_OPEN, output, os.devnull, os.O_WRONLY, 0) for output in (1, 2)]
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *nowhere]
    try:
        shell = shutil.which("sh") or "/bin/sh"
        os.posix_spawn(
            shell,
            ["sh", "-c", _SCRIPT],
            {"PATH": os.environ.get("PATH", os.defpath)},
            file_actions=actions,
            setpgroup=0,
        )
    except OSError:
        os.close(writing)
        raise
    finally:
        os.close(reading)
    return writing
