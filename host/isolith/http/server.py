"""The web server itself: how long a request may take to begin, and how serving ends without losing a run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from types import FrameType

    from isolith.http.app import App

HEAD_S: Final = 30.0
"""Seconds in which a connection has to send the head of its first request. A later one has `_IDLE_S`, and as long."""
MAX_CONNECTIONS: Final = 4_000
"""Past it, 503 at once: each has memory of its own."""
_MAX_HEAD: Final = 32 * 1024
_IDLE_S: Final = 30
_ANSWER_S: Final = 5
"""Seconds that answers get to be sent when the runs have been let go."""


class Protocol(H11Protocol):
    """HTTP/1.1, for clients that send what they have to send."""

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as uvicorn has it
        """Begin the time of the first head."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_S, self._too_slow)

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that is there ends its time."""
        super().data_received(data)
        if self.cycle is not None:  # pyright: ignore[reportUnnecessaryComparison] - it is None before the first
            self._head_timer.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has gone."""
        self._head_timer.cancel()
        super().connection_lost(exc)

    def _too_slow(self) -> None:
        self.transport.close()


class WebServer(uvicorn.Server):
    """Serves one app until a signal comes; then what runs ends, or is let go, within the grace."""

    def __init__(self, app: App, grace_s: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Protocol,
                ws="none",
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who asks is known by the token, never by a header
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=_IDLE_S,
                timeout_graceful_shutdown=round(grace_s) + _ANSWER_S,
                h11_max_incomplete_event_size=_MAX_HEAD,
            )
        )
        self._house = app.house
        self._grace_s = grace_s
        self._loop = asyncio.get_running_loop()
        self._ending: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends it in good order; the next one at once."""
        super().handle_exit(sig, frame)
        self._loop.call_soon_threadsafe(self.stop)

    def stop(self) -> None:
        """End it in good order. Idempotent."""
        self.should_exit = True
        if self._ending is None:
            self._house.stopping.set()
            self._ending = asyncio.create_task(self._house.code_mode.leave(self._grace_s))

    async def run_on(self, listening: socket.socket) -> None:
        """Serve on a socket that listens. When this returns, what ran here has ended or is left to others."""
        await self.serve(sockets=[listening])
        if self._ending is not None:
            await self._ending
