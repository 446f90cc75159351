"""The processes of ty that wait for a next script: as many as were asked at once, none longer than a minute.

The first script of a process costs what one that is started for it alone would; those behind it a fifth of that.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from isolith.run.type_server import NoAnswer, TypeServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith.run.type_remark import Remark

IDLE_S = 60.0
"""Seconds that a process waits for the next script; it takes about 40 MB."""
MAX_SCRIPTS = 1_000
"""Scripts that one process is given: what it keeps of each is not ours to say."""
_ORDINARY = """\
import asyncio, json, re
from datetime import date, datetime, time, timedelta
from typing import Any, Literal, Never, NotRequired, TypedDict, Unpack
from uuid import UUID
async def ordinary(rows: list[dict[str, int]]) -> int:
    names = sorted(str(row).upper() for row in rows if sum(row.values()) > 1)
    print(f"{len(names)} {json.dumps(rows[-1:])}", {**rows[0]}.items(), ",".join(names))
    return (await asyncio.gather(ordinary(rows)))[0]
"""
"""What most scripts use of Python."""


class TypeServers:
    """The processes of this process; safe on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[TypeServer, threading.Timer] = {}
        self._others: dict[TypeServer, threading.Timer] = {}

    def ask(self, command: str, script: str, stubs: Mapping[str, str], timeout_s: float) -> list[Remark]:
        """What ty says of a script. Raises NoAnswer."""
        until = time.monotonic() + timeout_s
        server = self._taken(command)
        found = server.ask(script, stubs, until - time.monotonic())
        self._rest(server)
        return found

    def get_ready(self, command: str) -> None:
        """Have one that reads Python's own stubs meanwhile. Waits for nothing, and does not raise."""
        with self._lock, suppress(NoAnswer):
            if not self._idle:
                server = _started(command)
                try:
                    server.get_ready(_ORDINARY)
                except OSError:
                    server.close()
                else:
                    self._keep(server)

    @property
    def waiting(self) -> list[TypeServer]:
        """Those that wait for a next script."""
        return list(self._idle)

    def close(self) -> None:
        """End those that wait. The next script starts another."""
        with self._lock:
            while self._idle:
                server, ends = self._idle.popitem()
                ends.cancel()
                server.close()

    def forked(self) -> None:
        """This is a fork of the process that they belong to: they are held, and neither asked nor ended."""
        self._lock = threading.Lock()
        self._idle, self._others = {}, self._idle

    def _taken(self, command: str) -> TypeServer:
        with self._lock:
            for server, ends in reversed(self._idle.items()):
                if server.command == command:
                    ends.cancel()
                    del self._idle[server]
                    if server.lives:
                        return server
                    server.close()
                    break
        return _started(command)

    def _rest(self, server: TypeServer) -> None:
        if server.asked >= MAX_SCRIPTS:
            server.close()
            return
        with self._lock:
            self._keep(server)

    def _keep(self, server: TypeServer) -> None:
        ends = threading.Timer(IDLE_S, partial(self._end, server))
        ends.daemon = True
        ends.start()
        self._idle[server] = ends

    def _end(self, server: TypeServer) -> None:
        with self._lock:
            if self._idle.pop(server, None) is not None:
                server.close()


def _started(command: str) -> TypeServer:
    try:
        return TypeServer(command)
    except OSError as error:
        raise NoAnswer(final=False) from error


servers = TypeServers()
atexit.register(servers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=servers.forked)
