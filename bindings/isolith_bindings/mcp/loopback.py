"""Where a browser comes back to after a person has signed in: one request, on this machine, and no more."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult

from isolith_bindings.mcp.failures import StartFailed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_LONGEST_LINE = 8 << 10
_PAGE = "<!doctype html><title>Isolith</title><p>{}. You may close this page.</p>"


@contextlib.asynccontextmanager
async def loopback(port: int, path: str) -> AsyncGenerator[asyncio.Future[AuthorizationCodeResult]]:
    """Listen; what comes back is given to the future. Raises StartFailed if something else listens there."""
    result: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.LimitOverrunError):
            line = (await asyncio.wait_for(reader.readline(), 5)).decode("latin-1")
            said = _take(line, path, result)
            body = _PAGE.format(said or "There is nothing here").encode()
            head = f"HTTP/1.1 {200 if said else 404} \r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
            await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, "127.0.0.1", port, limit=_LONGEST_LINE)
    except OSError as error:
        raise StartFailed(f"nobody can sign in: port {port} of this machine is taken", needs_auth=True) from error
    async with server:
        try:
            yield result
        finally:
            result.cancel()


def _take(line: str, path: str, result: asyncio.Future[AuthorizationCodeResult]) -> str | None:
    """Read one request; what the person is told, None for a request that is of something else."""
    parts = line.split(" ")
    try:
        target = urlsplit(parts[1] if len(parts) > 1 and parts[0] == "GET" else "")
        query = parse_qs(target.query)
    except ValueError:
        return None
    if target.path != path:
        return None
    first = {name: values[0] for name, values in query.items()}
    code, error = first.get("code"), first.get("error")
    if result.done():
        return "That has been done"
    if code is None:
        result.set_exception(StartFailed(f"nobody was signed in: {error or 'no code came back'}", needs_auth=True))
        return "Nobody was signed in"
    result.set_result(AuthorizationCodeResult(code=code, state=first.get("state"), iss=first.get("iss")))
    return "You are signed in"
