"""ty as a process that stays for the next script: it reads Python's own stubs once, and then a script in milliseconds.

It speaks the Language Server Protocol over its pipes. The script is text to it and never a file; the stubs of its tools
are files of a private folder. It runs nothing, ends with its pipes when this process does, and is killed where it takes
too long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, cast

from isolith.run.type_folder import TypeFolder
from isolith.run.type_remark import Remark, remark_of
from isolith.run.type_stubs import SCRIPT

if sys.platform == "linux":
    import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_BYTES = 1 << 30
"""Of data that ty may have; without a script it is a tenth of that, more for each of its threads."""
_MAX_THREADS = "2"
_MAX_ANSWER_BYTES = 16 << 20
_MAX_HEADER_BYTES = 1_000
_GREETING = 0
_END_S = 2.0
_CHANGES = {"created": 1, "changed": 2, "deleted": 3}
_Message = dict[str, object]
_CAPABILITIES: _Message = {"general": {"positionEncodings": ["utf-32"]}, "textDocument": {"diagnostic": {}}}
"""Columns are characters, and what it finds is asked for rather than sent."""


class NoAnswer(Exception):
    """The process did not say what it found. `final`: so will no other, for want of time or because of the script."""

    def __init__(self, *, final: bool) -> None:
        super().__init__("no answer")
        self.final = final


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a checker: nothing of ours that it has no use for."""
    return {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), "TY_MAX_PARALLELISM": _MAX_THREADS}


def bound(process: subprocess.Popen[bytes]) -> None:
    """Have no script make ty take more memory than `MAX_BYTES`, where the system has such a limit."""
    if sys.platform == "linux":
        with suppress(OSError):  # it has ended
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_BYTES, MAX_BYTES))


class TypeServer:
    """One process, and the folder that it reads; one thread at a time asks it. Raises OSError if it does not start."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.asked = 0
        """How many scripts it was given."""
        self._holder = TypeFolder()
        self.folder = self._holder.path
        self._requests = _GREETING
        self._greeted = self._opened = self._is_ty = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed command
                [command, "server"],
                cwd=self.folder,
                env=surroundings(self.folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except BaseException:
            self._holder.close()
            raise
        bound(self._process)

    def get_ready(self, script: str) -> None:
        """Have it read a script; nothing of that is waited for before the first that it is asked. Raises OSError."""
        self._greet()
        self._open(script, {})

    def ask(self, script: str, stubs: Mapping[str, str], timeout_s: float) -> list[Remark]:
        """What it says of a script, given the stubs by the names of their files. Raises NoAnswer; then it is gone."""
        self.asked += 1
        until = time.monotonic() + timeout_s
        late = threading.Timer(timeout_s, self._process.kill)
        late.daemon = True
        late.start()
        try:
            return self._ask(script, stubs)
        # It may be any program, at any moment of its life.
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.close()
            raise NoAnswer(final=self._is_ty or time.monotonic() >= until) from error
        except BaseException:
            self.close()
            raise
        finally:
            late.cancel()

    @property
    def pid(self) -> int:
        """Which process it is."""
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and remove its folder."""
        self._process.kill()
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with suppress(OSError):  # what was not written to it yet
                pipe.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        self._holder.close()

    def _ask(self, script: str, stubs: Mapping[str, str]) -> list[Remark]:
        if not self._greeted:
            self._greet()
        if self._opened:
            self._report()
        self._open(script, stubs)
        return [remark_of(told, "code") for told in cast("list[_Message]", self._report()["items"])]

    def _greet(self) -> None:
        """Begin with it; what it answers is read with the first report, for it takes one message after the other."""
        folder = {"uri": self.folder.as_uri(), "name": "script"}
        about = {"processId": os.getpid(), "capabilities": _CAPABILITIES, "workspaceFolders": [folder]}
        self._send({"id": _GREETING, "method": "initialize", "params": about})
        self._send({"method": "initialized", "params": {}})
        self._greeted = True

    def _open(self, script: str, stubs: Mapping[str, str]) -> None:
        changes = [
            {"uri": self._uri(name), "type": _CHANGES[change]} for name, change in self._holder.hold(stubs).items()
        ]
        if changes:
            self._send({"method": "workspace/didChangeWatchedFiles", "params": {"changes": changes}})
        document = {"uri": self._uri(SCRIPT), "languageId": "python", "version": self._requests, "text": script}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        self._requests += 1
        asked = {"textDocument": {"uri": self._uri(SCRIPT)}}
        self._send({"id": self._requests, "method": "textDocument/diagnostic", "params": asked})
        self._opened = True

    def _report(self) -> _Message:
        """What it found in the script that is open, which is closed then."""
        report = self._answer(self._requests)
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": self._uri(SCRIPT)}}})
        self._opened = False
        return report

    def _answer(self, request: int) -> _Message:
        while True:
            message = _read(cast("IO[bytes]", self._process.stdout))
            if "method" in message:
                if "id" in message:  # a question of its own, which it has no need to ask
                    self._send({"id": message["id"], "result": None})
            elif message.get("id") == _GREETING:
                self._meet(cast("_Message", message["result"]))
            elif message.get("id") == request:
                return cast("_Message", message["result"])

    def _meet(self, greeting: _Message) -> None:
        can = cast("_Message", greeting["capabilities"])
        if can.get("positionEncoding") != "utf-32" or "diagnosticProvider" not in can:
            raise ValueError("a server of another kind")
        self._is_ty = True

    def _uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def _send(self, message: _Message) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        pipe.flush()


def _read(pipe: IO[bytes]) -> _Message:
    """One message. Raises EOFError where there is none any more, and ValueError for what is no message."""
    length = 0
    while header := pipe.readline(_MAX_HEADER_BYTES).strip():
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not 0 < length <= _MAX_ANSWER_BYTES:
        raise EOFError
    return cast("_Message", json.loads(pipe.read(length)))
