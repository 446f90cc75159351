"""`OpenApi`: an OpenAPI document as a connector."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from isolith_bindings.beside import beside_where_much
from isolith_bindings.egress import Egress, Request, Retries
from isolith_bindings.errors import BindError, CallError
from isolith_bindings.names import connector_name
from isolith_bindings.openapi import answers, pagination, paging_body
from isolith_bindings.openapi.cache import Cache
from isolith_bindings.openapi.credentials import token_urls
from isolith_bindings.openapi.loaded import Loaded, no_bytes
from isolith_bindings.openapi.loading import Loader, name_of
from isolith_bindings.openapi.reach import Reach, reach_of, with_servers
from isolith_bindings.openapi.requirements import Wallet
from isolith_bindings.openapi.schemes import read_schemes
from isolith_bindings.openapi.servers import Whereabouts
from isolith_bindings.openapi.source import FilePlace, WebPlace
from isolith_bindings.openapi.status import DocumentStatus, Reread
from isolith_bindings.targets import unknown_method

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from isolith_bindings.connector import CallContext, Method
    from isolith_bindings.egress import Limits
    from isolith_bindings.openapi.credentials import Credential
    from isolith_bindings.openapi.model import Api
    from isolith_bindings.openapi.signatures import Signatures

_NO_ADDRESS = (
    "the document does not say on which host its API is: no call can be made before its section of an isolith.toml "
    'has the line `server = "https://..."`'
)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 5.0, 300.0
"""Until an address that gave no document is asked again: twice as long each time."""


class OpenApi:
    """An OpenAPI document as a connector: `OpenApi("github.json", auth=Secret.env("GITHUB_TOKEN"))`.

    `source`: a file, `https://...`, `package:NAME/PATH`, or the document itself as a mapping. `server` replaces every
    address in the document. `auth`: one credential, or one for each security scheme by name. `allow`: hosts beside
    those of the document; `private`: networks that are not public and open all the same. An address that is written
    here (`source`, `server`, `allow`) opens itself. `cache`: a private folder where what was read is kept.
    `strict_responses`: an answer that is not what the document promised is an error, in place of a warning.

    `start` reads the document; before it there are no methods. One that cannot be read makes a connector without any,
    which says why (`unavailable`, `status`), and no other connector is concerned. One event loop at a time.
    """

    def __init__(  # noqa: PLR0913 - all but the source are options
        self,
        source: str | Path | Mapping[str, object],
        *,
        name: str | None = None,
        server: str | None = None,
        server_variables: Mapping[str, str] | None = None,
        auth: Credential | Mapping[str, Credential] | None = None,
        allow: Iterable[str] = (),
        private: Iterable[str] = (),
        strict_responses: bool = False,
        cache: Path | None = None,
        limits: Limits | None = None,
        retries: Retries | None = None,
    ) -> None:
        self._loader = Loader.of(source, tuple(allow))
        self.server = None if server is None else server.rstrip("/")
        self._where = Whereabouts(replaced=server is not None, variables=dict(server_variables or {}))
        self.name = connector_name(name or name_of(self._loader.place, _title(source)))
        self._auth = auth
        self.strict = strict_responses
        self._cache = Cache(cache) if cache else None
        self._limits, self._retries = limits, retries
        self._reach = reach_of([*_written(self._loader, server), *token_urls(auth)], allow, private)
        self._reach.destinations()
        self._lock = asyncio.Lock()
        self._loaded: Loaded | None = None
        self._failure: str | None = None
        self._trying: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<connector {self.name} from {self._loader.name}>"

    @property
    def description(self) -> str:
        """The title of the document, and what it says of itself; empty before it is read."""
        api = self._loaded.api if self._loaded else None
        return "\n\n".join(part for part in (api.title, api.description) if part) if api else ""

    @property
    def methods(self) -> Mapping[str, Method]:
        """By name, dotted where the document divides its operations; empty before it is read."""
        return self._loaded.methods if self._loaded else {}

    @property
    def excluded(self) -> Mapping[str, str]:
        """The operations that cannot be called, and why: what is wrong, and where in the document."""
        return self._loaded.api.excluded if self._loaded else {}

    @property
    def notes(self) -> Mapping[str, str]:
        """Operations that are called otherwise than the document would have it, and why."""
        return self._loaded.api.notes if self._loaded else {}

    @property
    def unavailable(self) -> str | None:
        """Why nothing is known of what it offers, in a line, without the folders of this machine; None where it is."""
        if self._loaded is not None:
            return None
        place, told = self._loader.place, " ".join((self._failure or "it has not been started").split())
        return told.replace(f"{place.root}{os.sep}", "") if isinstance(place, FilePlace) else told

    async def start(self) -> None:
        """Read the document. Idempotent; never fails for one that cannot be read.

        An address that gave none is asked again in the background, less and less often.
        """
        async with self._lock:
            tried = self._loaded is not None or self._failure is not None
            if not tried and not await self._load() and isinstance(self._loader.place, WebPlace):
                self._trying = asyncio.create_task(self._keep_trying())

    async def ready(self, timeout_s: float = 30.0) -> bool:
        """Wait until the document was read; False where it cannot be, or takes longer."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.start()
        return self._loaded is not None

    async def _load(self) -> bool:
        """Read the document, in place of what was read before. Whether that went well: if not, nothing changes."""
        try:
            loaded = Loaded(self, *await self._read())
        except BindError as error:
            self._failure = str(error)
            return False
        before, self._loaded, self._failure = self._loaded, loaded, None
        if before is not None:
            await before.aclose()
        return True

    async def _keep_trying(self) -> None:
        wait_s = _FIRST_WAIT_S
        while self._loaded is None:
            await (self._retries or Retries()).pause(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            async with self._lock:
                if self._loaded is None:
                    await self._load()

    def status(self) -> DocumentStatus:
        """What was made of the document."""
        loaded = self._loaded
        nowhere = _NO_ADDRESS if loaded and loaded.nowhere else None
        shared = (loaded.shared,) if loaded and loaded.shared else ()
        unset = loaded.not_set if loaded else ()
        return DocumentStatus(
            connector=self.name,
            place=self._loader.name,
            state="no address" if nowhere else "ready" if loaded else "failed" if self._failure else "not started",
            reason=nowhere if loaded else self._failure,
            tools=len(self.methods),
            problems=(*unset, *shared, *(f"{name}: {why}" for name, why in self.notes.items())),
            excluded=tuple(f"{name}: {why}" for name, why in self.excluded.items()),
        )

    async def reconnect(self) -> Reread:
        """Read the document again. Where that fails nothing changes; calls under way end with the old connections."""
        async with self._lock:
            before = set(self.methods)
            if not await self._load():
                return Reread(ok=False, tools=len(before), reason=self._failure)
        added, removed = sorted(set(self.methods) - before), sorted(before - set(self.methods))
        version = f"version {self._ready().api.version or 'unknown'}"
        return Reread(
            ok=True, tools=len(self.methods), connection_id=version, added=tuple(added), removed=tuple(removed)
        )

    async def aclose(self) -> None:
        """Close the connections. Idempotent."""
        trying, self._trying = self._trying, None
        if trying is not None:
            trying.cancel()
            await asyncio.wait([trying])
        loaded, self._loaded, self._failure = self._loaded, None, None
        if loaded is not None:
            await loaded.aclose()

    async def call(self, method: Method, arguments: Mapping[str, object], context: CallContext) -> object:
        """Make one call. Raises CallError."""
        loaded = self._ready()
        operation = loaded.operation(method)
        pages = context.variant == "pages"
        by_body = paging_body.cursor_argument(operation, loaded.api.definitions) if pages else None
        if by_body:
            arguments = paging_body.turned(operation, by_body, arguments, context.cursor)
        given = arguments
        plan = await beside_where_much(given, lambda: loaded.plan(operation, given, context.artifacts.read))
        if pages and not by_body:
            plan = pagination.turned(plan, operation, context.cursor)
        response = await loaded.send(plan, context.deadline_s, context.progress)
        value = await answers.value_of(operation, response, context.artifacts, loaded.api.definitions)
        if self.strict or pages:
            value = answers.as_data(operation, response, value)
        if self.strict:
            await answers.check(operation, response, value, loaded.checker)
        elif context.doubt is not None and (why := await answers.doubt(operation, response, value, loaded.checker)):
            context.doubt(why)
        if context.variant == "raw":
            return {"status": response.status, "headers": dict(response.headers), "body": value}
        if pages:
            following = (
                paging_body.following(by_body, arguments, value)
                if by_body
                else pagination.following(plan, operation, response, value)
            )
            return {"items": pagination.items_of(value), "cursor": following}
        return value

    def check(self, method: Method, arguments: Mapping[str, object]) -> None:
        """Raises CallError where the call could not be made with these arguments; nothing is sent."""
        loaded = self._ready()
        loaded.require(loaded.plan(loaded.operation(method), arguments, no_bytes))

    def dry_run(self, method: Method | str, arguments: Mapping[str, object]) -> str:
        """The request that a call would send, each secret masked, as it stands in HTTP/1.1; nothing is sent or fetched.

        `method`: one of `methods`, or its name. Raises CallError where no request would be sent, and says why.
        """
        loaded = self._ready()
        if isinstance(method, str):
            if method not in loaded.methods:
                raise unknown_method(self, method)
            method = loaded.methods[method]
        return loaded.shown(loaded.operation(method), arguments)

    def _ready(self) -> Loaded:
        if self._loaded is None:
            raise CallError("tool_unavailable", f"{self.name} is not there: {self.unavailable}", retriable=True)
        return self._loaded

    async def _read(self) -> tuple[Api, Signatures]:
        if not isinstance(self._loader.place, WebPlace):
            return await self._loader.load(self._where, self._cache, None)
        egress = self.egress(self._reach)

        async def fetch(url: str) -> bytes:
            response = await egress.send(Request("GET", url, (("Accept", "application/json, */*;q=0.5"),)))
            if response.status != 200 or response.truncated:
                why = "it is too long" if response.truncated else f"status {response.status} was answered"
                raise CallError("tool_unavailable", why)
            return response.content

        try:
            return await self._loader.load(self._where, self._cache, fetch)
        finally:
            await egress.aclose()

    def egress(self, reach: Reach) -> Egress:
        """A client of its own that goes as far. Raises BindError."""
        try:
            return Egress(reach.allowed, private=reach.private, limits=self._limits, retries=self._retries)
        except ValueError as error:
            raise BindError(f"{self.name}: {error}") from None

    def reach(self, api: Api) -> Reach:
        """How far calls go: to the server that was given, or to those of the document."""
        return self._reach if self.server else with_servers(self._reach, api)

    def wallet(self, api: Api) -> Wallet:
        """The credentials, by what the document asks for. Raises BindError for a scheme that is not in it."""
        schemes = read_schemes(api.schemes)
        if not isinstance(self._auth, Mapping):
            return Wallet(schemes, default=self._auth, owner=self.name)
        given = self._auth
        unknown = [name for name in given if name not in schemes]
        if unknown:
            known = ", ".join(schemes) or "none"
            raise BindError(f"{self.name}: auth for `{unknown[0]}`: the security schemes of the document are: {known}")
        return Wallet(schemes, given, owner=self.name)

    def ask_for_server(self) -> str:
        """What to do where the document does not say where the API is: in a program, and where it is a file in a shell.

        Many frameworks write no address: FastAPI gives none.
        """
        place = self._loader.place
        written = place.path.name if isinstance(place, FilePlace) else place.name if place else f"{self.name}.json"
        lines = (f"[connectors.{self.name}]", f"openapi = {json.dumps(written)}", 'server = "https://..."')
        return (
            "give the connector its address: `server='https://...'` in a program; in an isolith.toml the line "
            f"`{lines[-1]}` of its section; where the document itself is connected, connect in its place an "
            f"isolith.toml beside it with: {', '.join(f'`{line}`' for line in lines)}"
        )


def _written(loader: Loader, server: str | None) -> list[str]:
    """The addresses that the connector's owner wrote."""
    place = loader.place
    found = [place.url] if isinstance(place, WebPlace) else []
    return [*found, *([server] if server else [])]


def _title(source: object) -> str:
    info = cast("Mapping[str, object]", source).get("info") if isinstance(source, Mapping) else None
    return str(cast("Mapping[str, object]", info).get("title") or "") if isinstance(info, Mapping) else ""
