"""Runs scenarios in children that are forked, so that what they import is imported once.

    python -m tests.host.journal.forker MODULE

Each line of stdin is a JSON list of arguments for MODULE's `main`. Each line of stdout is a JSON list: the exit code of
the child, or minus the signal that ended it, and what it wrote to stderr.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]


class Forker:
    """The other side of it, in a test."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.host.journal.forker", module],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> tuple[int, str]:
        """How a child ended, and what it said on stderr."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(each) for each in arguments]) + "\n")
        self._process.stdin.flush()
        code, said = json.loads(self._process.stdout.readline())
        return cast("int", code), cast("str", said)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()


def serve(main: Callable[..., None]) -> None:
    """A child for each line."""
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                os.dup2(said.fileno(), 2)
                os._exit(_live(main, json.loads(line)))
            _, status = os.waitpid(child, 0)
            said.seek(0)
            told = [os.waitstatus_to_exitcode(status), said.read().decode(errors="replace")]
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def _live(main: Callable[..., None], arguments: list[str]) -> int:
    try:
        main(*arguments)
    except BaseException:  # noqa: BLE001 - nothing of the parent may go on in a child
        traceback.print_exc()
        sys.stderr.flush()
        return 1
    return 0


if __name__ == "__main__":
    serve(importlib.import_module(sys.argv[1]).main)
