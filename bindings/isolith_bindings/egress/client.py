"""`Egress`: the HTTP client of connectors. It follows, repeats and reads only as far as its rules and limits go."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import httpcore2

from isolith_bindings.egress.bodies import Body
from isolith_bindings.egress.decoding import ACCEPT_ENCODING
from isolith_bindings.egress.messages import Limits, Refused, Request, Response, Retries, check_fields
from isolith_bindings.egress.network import CheckedNetwork, Resolver, pool, shared_trust, system_resolver
from isolith_bindings.egress.redirects import onward
from isolith_bindings.egress.retrying import answered, back_off, may_repeat, pause_after
from isolith_bindings.egress.rules import Destinations, origin_of, split
from isolith_bindings.errors import CallError
from isolith_bindings.secrets import redact

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable

    from isolith_bindings.egress.messages import Pairs

    Tell = Callable[[str], None]

USER_AGENT = "isolith"
_READING_S = 1.0
"""Seconds before the end of its time in which an answer that has not ended is no longer read but handed over."""
# What happens before the first byte of a request leaves.
_UNSENT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)


def untold(_line: str) -> None:
    """Nobody follows what an exchange waits for."""


@dataclass(frozen=True)
class _Time:
    """What an exchange has: `whole` ends it; `margin_s` before, an answer that has not ended is handed over."""

    whole: asyncio.Timeout
    margin_s: float

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[None]:
        """Raises TimeoutError the margin before the end, which then is still to come.

        The whole does not count meanwhile: of two ends that a busy machine comes to at once, the outer one would win.
        """
        over, loop = self.whole.when() or 0.0, asyncio.get_running_loop()
        self.whole.reschedule(None)
        try:
            async with asyncio.timeout_at(over - self.margin_s):
                yield
        finally:
            self.whole.reschedule(max(over, loop.time() + self.margin_s))


class Egress:
    """One client per connector: its own allowed hosts, connections and limits. For one event loop.

    `allowed` and `private` are read by `Destinations.parse`, which raises ValueError. A request is never sent through a
    proxy of the environment: behind one, no address could be checked. `tls` replaces the system's trust.
    """

    def __init__(
        self,
        allowed: Iterable[str],
        *,
        private: Iterable[str] = (),
        limits: Limits | None = None,
        retries: Retries | None = None,
        resolver: Resolver = system_resolver,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.destinations = Destinations.parse(allowed, private)
        self.limits = limits or Limits()
        self._retries = retries or Retries()
        self._network = CheckedNetwork(self.destinations, resolver)
        self._tls = tls
        self._writing = asyncio.Semaphore(self.limits.files)
        self._pools: dict[ssl.SSLContext | None, httpcore2.AsyncConnectionPool] = {}

    async def send(self, request: Request, *, total_s: float | None = None, tell: Tell = untold) -> Response:
        """The final answer, of any status. Raises Refused and other CallErrors; cancellation passes through.

        `total_s` lowers the time that the exchange has, redirects and retries included. `tell` is given a line for
        people before each pause: what the server answered, what it says of its limits, how long is waited.
        """
        check_fields(request)
        if len(request.content) > self.limits.request_bytes:
            raise CallError(
                "invalid_arguments", f"the body of the request is longer than {self.limits.request_bytes} bytes"
            )
        allowed_s = min(self.limits.total_s, total_s or self.limits.total_s)
        try:
            async with asyncio.timeout(allowed_s) as whole:
                return await self._follow(request, tell, _Time(whole, min(_READING_S, allowed_s / 10)))
        except TimeoutError:
            raise _slow(request, f"within {allowed_s:g} s") from None

    async def aclose(self) -> None:
        """Close every connection. Idempotent."""
        pools, self._pools = list(self._pools.values()), {}
        for each in pools:
            await each.aclose()

    async def _follow(self, request: Request, tell: Tell, left: _Time) -> Response:
        """Each hop is checked anew: its origin here, its address where the socket is made."""
        for _ in range(self.limits.redirects + 1):
            self.destinations.check(origin_of(request.url))
            response = await self._persist(request, tell, left)
            following = onward(request, response)
            if following is None:
                return response
            request = following
        raise Refused(f"{origin_of(request.url)} redirected more than {self.limits.redirects} times")

    async def _persist(self, request: Request, tell: Tell, left: _Time) -> Response:
        """One hop with its retries."""
        attempt, waited = 1, 0.0
        while True:
            try:
                response = await self._exchange(request, left)
                pause = pause_after(request, response, attempt, self._retries, time.time())
                if pause is None:
                    return replace(response, attempts=attempt, waited_s=waited)
                why = answered(response, time.time())
            except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
                pause = back_off(attempt, self._retries)
                unsent = isinstance(error, _UNSENT)
                if attempt >= self._retries.attempts or not (unsent or may_repeat(request)):
                    raise _failed(request, error, sent=not unsent) from None
                why = "gave no answer"
            tell(f"{origin_of(request.url)} {why}: sent again in {pause:.3g} s")
            await self._retries.pause(pause)
            attempt, waited = attempt + 1, waited + pause

    async def _exchange(self, request: Request, left: _Time) -> Response:
        """One request, one answer, read as far as it may go. The rest is dropped with the connection."""
        outgoing = httpcore2.Request(
            request.method.encode("ascii"),
            _address(request),
            headers=_fields(request),
            content=request.content,
            extensions={"timeout": self._timeouts()},
        )
        answer = await (await self._pool(request)).handle_async_request(outgoing)
        try:
            headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers)
            body = await self._read(request, answer, headers, left)
        finally:
            await answer.aclose()
        return Response(answer.status, headers, body.content, body.truncated, request.url, file=body.file, cut=body.cut)

    async def _read(self, request: Request, answer: httpcore2.Response, headers: Pairs, left: _Time) -> Body:
        """The body; of a `partial` request what came of it while it is read, or for as long as something came."""
        encodings = ", ".join(value for name, value in headers if name.lower() == "content-encoding")
        cap = self.limits.body_bytes if request.body_bytes is None else request.body_bytes
        limit = self.limits.answer_bytes if request.keep and 200 <= answer.status < 300 else 0
        body = Body(cap, encodings, limit=limit, turn=self._writing)
        partial = request.partial and 200 <= answer.status < 300
        try:
            try:
                async with left.reading() if partial else nullcontext():
                    async for piece in cast("AsyncIterable[bytes]", answer.stream):
                        if not await body.add(piece):
                            break
            except (TimeoutError, httpcore2.ReadTimeout):
                if not partial:
                    raise
                body.cut = "late"
            except (httpcore2.NetworkError, httpcore2.ProtocolError):
                if not partial or not body.content:
                    raise
                body.cut = "broken"
            await body.finish()
        finally:
            body.let_go()
        return body

    async def _pool(self, request: Request) -> httpcore2.AsyncConnectionPool:
        """A client certificate has connections of its own: one without it must never use them."""
        tls = None
        if origin_of(request.url).scheme == "https":
            tls = request.attachment.tls or self._tls or await asyncio.to_thread(shared_trust)
        if tls not in self._pools:
            self._pools[tls] = pool(self._network, self.limits, tls)
        return self._pools[tls]

    def _timeouts(self) -> dict[str, float]:
        idle, connect = self.limits.idle_s, self.limits.connect_s
        return {"connect": connect, "read": idle, "write": idle, "pool": self.limits.total_s}


def _address(request: Request) -> httpcore2.URL:
    """The URL with the credentials that belong into its query."""
    parts, origin = split(request.url), origin_of(request.url)
    query = "&".join(
        [*([parts.query] if parts.query else []), *(f"{name}={value}" for name, value in request.attachment.query)]
    )
    target = (parts.path or "/") + (f"?{query}" if query else "")
    return httpcore2.URL(scheme=origin.scheme, host=origin.host, port=origin.port, target=target)


def _fields(request: Request) -> list[tuple[bytes, bytes]]:
    parts = split(request.url)
    fields = [
        ("Host", parts.netloc),
        *request.headers,
        *request.attachment.headers,
        ("Accept-Encoding", ACCEPT_ENCODING),
    ]
    cookies = "; ".join(f"{name}={value}" for name, value in (*request.cookies, *request.attachment.cookies))
    if cookies:
        fields.append(("Cookie", cookies))
    if request.header("user-agent") is None:
        fields.append(("User-Agent", USER_AGENT))
    if request.content or request.method in {"POST", "PUT", "PATCH"}:
        fields.append(("Content-Length", str(len(request.content))))
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in fields]


def _slow(request: Request, when: str) -> CallError:
    text = f"{request.method} {origin_of(request.url)} gave no complete answer {when}"
    return CallError("tool_timeout", text, exception="TimeoutError", retriable=may_repeat(request))


def _failed(request: Request, error: Exception, *, sent: bool) -> CallError:
    """What the library says, without its classes; `sent`: whether the server may have acted on the request."""
    where = f"{request.method} {origin_of(request.url)}"
    if isinstance(error, httpcore2.TimeoutException):
        return _slow(request, "in time")
    why = redact(str(error))[:300] or ("the connection broke" if sent else "no connection")
    if not sent:
        return CallError(
            "tool_unavailable", f"{where}: cannot connect: {why}", exception="ConnectionError", retriable=True
        )
    hint = None if may_repeat(request) else "the server may have acted on it: look before you repeat it"
    text = f"{where}: the connection failed: {why}"
    return CallError("tool_unavailable", text, exception="ConnectionError", retriable=may_repeat(request), hint=hint)
