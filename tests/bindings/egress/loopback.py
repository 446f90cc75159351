"""A server on loopback that answers byte for byte what a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import inspect
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from isolith_bindings.egress import Egress, Limits, Resolver, Retries


@dataclass(frozen=True)
class Seen:
    """A request as it came off the wire."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    server_name: str | None = None

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


Handler = Callable[[Seen, asyncio.StreamWriter], Awaitable[bytes | None] | bytes | None]


def answer(status: int = 200, body: bytes = b"", *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def always(status: int = 200, body: bytes = b"", *headers: str) -> Handler:
    return lambda _seen, _writer: answer(status, body, *headers)


@dataclass
class Loopback:
    """`handler` answers with bytes, or writes them itself; where there are none, the connection ends.

    What has a path of its own is in `paths`.
    """

    handler: Handler = field(default_factory=lambda: always(200, b"ok"))
    paths: dict[str, Handler] = field(default_factory=dict[str, Handler])
    seen: list[Seen] = field(default_factory=list[Seen])
    port: int = 0
    scheme: str = "http"
    server_names: list[str | None] = field(default_factory=list[str | None])
    serving: set[asyncio.Task[object]] = field(default_factory=set[asyncio.Task[object]])

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def named(self, _connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        self.server_names.append(name)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            while (request := await _read(reader)) is not None:
                self.seen.append(request)
                told = self.paths.get(request.target.partition("?")[0], self.handler)(request, writer)
                given = await told if inspect.isawaitable(told) else told
                if not given or b"Connection: close" in given:
                    writer.write(given or b"")
                    break
                writer.write(given)
                await writer.drain()
            await writer.drain()
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            self.serving.discard(task)
            writer.close()


@asynccontextmanager
async def loopback(handler: Handler | None = None, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Loopback]:
    bench = Loopback() if handler is None else Loopback(handler)
    if tls is not None:
        bench.scheme = "https"
        tls.sni_callback = bench.named
    server = await asyncio.start_server(bench.serve, "127.0.0.1", 0, ssl=tls)
    bench.port = server.sockets[0].getsockname()[1]
    async with server:
        yield bench
        server.close()
        # Since Python 3.12 the end of a server waits for those that it serves, and some are never answered.
        left = list(bench.serving)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


@contextmanager
def nobody() -> Generator[int]:
    """A port at which nobody listens: it is bound, so that no other process is given it meanwhile."""
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    return Seen(method, target, headers, await reader.readexactly(length))


@dataclass
class Names:
    """A resolver: each name to the next of its answers, the last one for ever; all other names lead to loopback."""

    answers: dict[str, list[Sequence[str]]] = field(default_factory=dict[str, list[Sequence[str]]])
    asked: list[str] = field(default_factory=list[str])

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        listed = self.answers.get(host, [["127.0.0.1"]])
        return listed.pop(0) if len(listed) > 1 else listed[0]


@dataclass
class Pauses:
    """In place of sleeping: remembers for how long."""

    taken: list[float] = field(default_factory=list[float])

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@asynccontextmanager
async def client(
    *allowed: str,
    private: Sequence[str] = ("loopback",),
    limits: Limits | None = None,
    retries: Retries | None = None,
    names: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Egress]:
    once = retries or Retries(attempts=1)
    egress = Egress(allowed, private=private, limits=limits, retries=once, resolver=names or Names(), tls=tls)
    try:
        yield egress
    finally:
        await egress.aclose()
